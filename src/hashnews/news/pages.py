"""HTML pages: bytes into an article's title, text and time.

`read_page` runs in the worker: trafilatura extracts, and never downloads. The time of publication
is taken from what the page declares about itself; dates that merely stand on it are not believed,
because a date too early would let an article speak before it was written.
"""

from __future__ import annotations

import re
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

from hashnews.records import Article, identify, write_time
from hashnews.times import settle

LARGEST = 2 << 20
DECLARED = r"""(?:article:published_time|datePublished|parsely-pub-date|sailthru\.date)["']"""
MOMENT = r"""["'](\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6}\d*)?)?(?:Z|[+-]\d\d:?\d\d))["']"""
PUBLISHED = [
    re.compile(DECLARED + r"[^<>{}]{0,120}?" + MOMENT, re.IGNORECASE),
    re.compile(r"<meta\s[^<>]{0,120}?" + MOMENT + r"[^<>]{0,120}?" + DECLARED, re.IGNORECASE),
]
BLOCKS = frozenset(
    "p div br li ul ol tr td th table h1 h2 h3 h4 h5 h6 blockquote section article figure".split()
)
TAG = re.compile(r"<[^<>]*>?")
UNSEEN = frozenset({"script", "style", "template", "head", "noscript"})


def read_page(body: bytes, url: str | None = None) -> dict[str, Any] | None:
    """`title, text, time, url, site` of the article on a page, what is unknown left out.

    None where there is no article.
    """
    from trafilatura import bare_extraction

    document = bare_extraction(
        body[:LARGEST],
        url=url,
        with_metadata=True,
        include_comments=False,
        include_tables=False,
        date_extraction_params={"original_date": True, "extensive_search": False},
    )
    if document is None or isinstance(document, dict) or not document.text:
        return None
    found = {
        "title": document.title,
        "text": document.text,
        "time": declared_time(body[:LARGEST].decode("utf-8", "replace")) or document.date,
        "url": url or document.url,
        "site": document.hostname,
    }
    return {name: value for name, value in found.items() if value}


def page_article(found: dict[str, Any], seen: datetime | None) -> Article:
    """What `read_page` found, as an article; `seen` is when the page was fetched, if it was."""
    url = found.get("url")
    return Article(
        id=identify(url) if url else "",
        title=found.get("title", ""),
        text=found["text"],
        published_at=settle(found.get("time"), seen),
        url=url,
        source=found.get("site"),
    )


def declared_time(html: str) -> str | None:
    """The time of publication that a page declares, to the minute or better."""
    for pattern in PUBLISHED:
        for found in pattern.finditer(html):
            try:
                moment = datetime.fromisoformat(found[1].upper())
            except ValueError:
                continue
            return write_time(moment)
    return None


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in UNSEEN:
            self.hidden += 1
        elif tag in BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self.hidden = max(0, self.hidden - 1)
        elif tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def plain_text(html: str) -> str:
    """What a reader sees of a piece of HTML, a line per block; plain text stays as it is."""
    if "<" not in html and "&" not in html:
        return html.strip()
    parser = _Text()
    try:
        parser.feed(html)
        parser.close()
    except AssertionError:  # HTMLParser's answer to `<![x[`
        parser.parts = TAG.split(html)
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(line for line in lines if line)
