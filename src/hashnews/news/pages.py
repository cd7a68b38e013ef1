"""HTML pages: bytes into an article's title, text and time.

`read_page` runs in the worker: trafilatura extracts, and never downloads. The time of publication
is what the page declares about its own article; dates that merely stand on it or in its address
are not believed, because a date too early would let an article speak before it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

from hashnews.dates import read_date, settle
from hashnews.news.keys import canonical_url, site_of
from hashnews.records import Article, identify

LARGEST = 2 << 20
LONGEST_TITLE = 2_000  # characters
DECLARED = frozenset(
    "article:published_time og:published_time og:article:published_time datepublished pubdate "
    "publishdate publish_date publication_date date dc.date dc.date.issued dcterms.date "
    "dcterms.issued citation_publication_date parsely-pub-date sailthru.date "
    "rnews:datepublished cxenseparse:recs:publishtime".split()
)
ARTICLES = re.compile(r"(?:^|/)(?:\w*Article|BlogPosting|Report|LiveBlogPosting|WebPage)$")
IN_JSON = re.compile(r'"datePublished"\s*:\s*"([^"]{1,100})"')
BLOCKS = frozenset(
    "p div br li ul ol tr td th table h1 h2 h3 h4 h5 h6 blockquote section article figure".split()
)
TAG = re.compile(r"<[^<>]*>?")
REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]+)|([0-9]+))")
NO_CHARACTER = "&#65533"
UNSEEN = frozenset({"script", "style", "template", "head", "noscript"})
SURELY_A_TITLE = 15  # letters
LETTERS = re.compile(r"[\W_]+")


def read_page(body: bytes, url: str | None = None) -> dict[str, Any] | None:
    """`title, text, times, url` of the article on a page, what is unknown left out.

    None where there is no article. `times` are the dates it declares, as they are written.
    """
    from trafilatura import bare_extraction, load_html

    tree = load_html(body[:LARGEST])
    if tree is None:
        return None
    declared = Declared(tree)  # before the extraction, which takes the tree to pieces
    document = bare_extraction(
        tree, url=url, with_metadata=True, include_comments=False, include_tables=False,
        date_extraction_params={"original_date": True, "extensive_search": False},
    )  # fmt: skip
    if document is None or isinstance(document, dict) or not document.text:
        return None
    found = {
        "title": (document.title or "")[:LONGEST_TITLE],
        "text": document.text,
        "times": declared.times(url or document.url, document.title),
        "url": url or document.url,
    }
    return {name: value for name, value in found.items() if value}


def page_article(found: dict[str, Any], seen: datetime | None) -> Article:
    """What `read_page` found, as an article; `seen` is when the page was fetched, if it was."""
    url = found.get("url")
    return Article(
        id=identify(url) if url else "",
        title=found.get("title", ""),
        text=found["text"],
        published_at=settle(found.get("times", []), seen),
        url=url,
        source=site_of(url) if url else None,
    )


class Declared:
    """The dates of publication that a page declares: its own, and those of others on it."""

    def __init__(self, tree: Any):
        self._page = [
            str(meta.get("content", "")) for meta in tree.xpath("//meta") if _is_dated(meta)
        ]
        self._marked = [str(date) for date in tree.xpath(MARKED)]
        self._titles = {_letters(title.text_content()) for title in tree.xpath("//h1")}
        self._objects: list[dict[str, Any]] = []
        self._unread: list[str] = []
        for script in tree.xpath("//script[@type='application/ld+json']"):
            text = script.text_content()
            try:
                self._objects += _articles_in(json.loads(text, strict=False))
            except (ValueError, RecursionError):
                self._unread += IN_JSON.findall(text)

    def times(self, url: str | None, title: str | None) -> list[str]:
        """The dates of the article itself; where none is surely its own, the latest of all."""
        own = [date for date, is_own in self._of_objects(url, title) if is_own]
        if readable := [date for date in self._page + own if read_date(date)]:
            return readable
        others = [date for date, _ in self._of_objects(url, title)] + self._marked + self._unread
        spans = [(span.latest, date) for date in others if (span := read_date(date))]
        return [max(spans)[1]] if spans else []

    def _of_objects(self, url: str | None, title: str | None) -> Iterator[tuple[str, bool]]:
        """Of each article in JSON-LD its date, and whether it is the page's own."""
        titles = self._titles | {_letters(title or "")}
        for found in self._objects:
            headline = _letters(_text(found.get("headline")) or _text(found.get("name")))
            named = [_text(found.get(name)) for name in ("url", "@id", "mainEntityOfPage")]
            addresses = {canonical_url(name) for name in named} - {None}
            is_named = bool(headline or addresses)
            is_own = canonical_url(url or "") in addresses or any(
                _is_same(headline, title) for title in titles
            )
            yield _text(found.get("datePublished")), is_own or not is_named


MARKED = (
    "//*[@itemprop='datePublished']/@datetime | //*[@itemprop='datePublished']/@content"
    " | //time[@pubdate]/@datetime"
)


def _is_dated(meta: Any) -> bool:
    return any(meta.get(name, "").strip().lower() in DECLARED for name in ("property", "name"))


def _articles_in(read: Any) -> Iterator[dict[str, Any]]:
    """All articles of a piece of JSON-LD that have a date, wherever they stand."""
    left = [read]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            left += part.values()
            kinds = part.get("@type", "")
            kinds = kinds if isinstance(kinds, list) else [kinds]
            if "datePublished" in part and any(ARTICLES.search(str(kind)) for kind in kinds):
                yield part


def _text(value: Any) -> str:
    """A text of JSON-LD, also where it is the id of an object or the first of a list."""
    if isinstance(value, list) and value:
        value = value[0]
    return str(value.get("@id", "") if isinstance(value, dict) else value or "")


def _is_same(headline: str, title: str) -> bool:
    """Whether two titles are one, perhaps with the name of the site behind one of them."""
    short, long = sorted((headline, title), key=len)
    return short == long != "" or (len(short) >= SURELY_A_TITLE and short in long)


def _letters(text: str) -> str:
    return LETTERS.sub("", text.casefold())


def sound_references(text: str) -> str:
    """Text with references to characters that XML does not know made ones to U+FFFD."""
    return REFERENCE.sub(lambda found: found[0] if _is_sound(found) else NO_CHARACTER, text)


def _is_sound(reference: re.Match[str]) -> bool:
    digits, base = (reference[1], 16) if reference[1] else (reference[2], 10)
    if len(digits.lstrip("0")) > 7:
        return False
    number = int(digits, base)
    return (
        number in (9, 10, 13) or 0x20 <= number < 0xD800 or 0xE000 <= number < 0xFFFE
        or 0x10000 <= number < 0x110000
    )  # fmt: skip


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
    parser, html = _Text(), sound_references(html)
    try:
        parser.feed(html)
        parser.close()
    except AssertionError:  # HTMLParser's answer to `<![x[`
        parser.parts = TAG.split(html)
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(line for line in lines if line)
