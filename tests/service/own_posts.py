"""Somebody's own posts as Mastodon hands them out."""

import json
from datetime import UTC, datetime, timedelta

ANN = "https://example.social/users/ann"
LOAVES = [
    "Out of the oven: rye with caraway #sourdough",
    "My starter doubled overnight #sourdough",
    "A loaf for the neighbours #sourdough",
    "Crumb shot of the weekend bread #sourdough",
]


def outbox(*texts, days_ago=3):
    """An outbox.json; one post a day, the last one so many days ago."""
    items = []
    for number, text in enumerate(texts):
        at = datetime.now(UTC) - timedelta(days=days_ago + len(texts) - number)
        url = f"{ANN}/statuses/{number + 1}"
        items.append(
            {
                "id": f"{url}/activity",
                "type": "Create",
                "actor": ANN,
                "published": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "to": ["https://www.w3.org/ns/activitystreams#Public"],
                "object": {
                    "id": url,
                    "type": "Note",
                    "attributedTo": ANN,
                    "published": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "content": f"<p>{text}</p>",
                    "inReplyTo": None,
                    "to": ["https://www.w3.org/ns/activitystreams#Public"],
                    "tag": [],
                },
            }
        )
    return json.dumps({"id": "outbox.json", "type": "OrderedCollection", "orderedItems": items})
