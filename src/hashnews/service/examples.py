"""What a post, an article and an answer may look like: the examples of the OpenAPI."""

from __future__ import annotations

from pydantic import ConfigDict
from pydantic.config import JsonDict

POST: JsonDict = {
    "text": "Marching tonight in Minneapolis. Say his name: George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
    "user": "reader01",
}
ARTICLE: JsonDict = {
    "id": "s127",
    "title": "Derek Chauvin arrested and charged with murder of George Floyd",
    "text": "The former police officer was taken into custody on Friday.",
    "published_at": "2020-05-29T18:05:00Z",
    "url": "https://news.example/s127",
    "source": "The Example",
    "entities": ["Derek Chauvin", "George Floyd"],
}
REASON: JsonDict = {
    "source": "news",
    "label": "In the news",
    "text": "in 1 article",
    "weight": 1.0,
    "articles": ["s127"],
    "entity": "George Floyd",
    "rise": 3.2,
}
ANSWER: JsonDict = {
    "post_id": "1d2f8a6c2f0b4d11",
    "post": {"id": "1d2f8a6c2f0b4d11", **POST},
    "suggestions": [
        {
            "hashtag": "#GeorgeFloyd",
            "words": ["george", "floyd"],
            "score": 0.41,
            "because": [REASON],
            "on_topic": 0.98,
            "variants": ["#JusticeForGeorgeFloyd"],
        }
    ],
    "articles": [
        {
            "id": "s127",
            "title": "Derek Chauvin arrested and charged with murder of George Floyd",
            "published_at": "2020-05-29T18:05:00Z",
            "score": 12.4,
            "window": 5,
            "entities": ["Derek Chauvin", "George Floyd"],
            "url": "https://news.example/s127",
            "source": "The Example",
        }
    ],
    "context": [["floyd", 4.1], ["minneapolis", 3.3]],
    "timings_ms": {"total": 31.0, "read": 1.0, "retrieve": 4.0, "suggest": 26.0},
}


def shown(example: JsonDict) -> ConfigDict:
    """Settings of what is described field by field, and whole by an example."""
    return ConfigDict(use_attribute_docstrings=True, json_schema_extra={"examples": [example]})
