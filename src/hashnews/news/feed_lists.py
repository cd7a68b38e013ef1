"""Lists of feeds: one address per line, or OPML, read and written.

A list comes from elsewhere: what is in it is checked here, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree  # writes only; defusedxml reads

from hashnews.errors import DataError
from hashnews.news.feeds import LARGEST, is_web
from hashnews.news.pages import plain_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST_TITLE, LONGEST_URL = 200, 2000  # characters
# Control characters, what turns the direction of writing, and what XML cannot hold.
UNWRITABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    r"\ud800-\udfff\ufffe\uffff]"
)
MARKS = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # before the first sign of a file, UTF-16 among them
BLANK = re.compile(r"\s")


class ListedFeed(NamedTuple):
    """A feed of a list: its address and, where known, what it is called and where it stands."""

    url: str
    title: str = ""
    topic: str = ""
    labels: tuple[str, ...] = ()  # OPML's categories


def is_feed_url(url: str) -> bool:
    """Whether an address can be that of a feed."""
    whole = not (UNWRITABLE.search(url) or BLANK.search(url)) and len(url) <= LONGEST_URL
    return whole and is_web(url)


def as_title(written: str) -> str:
    """A name on one line, without markup and without end."""
    line = " ".join(UNWRITABLE.sub(" ", plain_text(written[:LONGEST_URL])).split())
    return line[:LONGEST_TITLE].strip()


def feeds_in(source: str) -> list[str]:
    """The addresses that an argument stands for: itself, the lines of a list, or an OPML file."""
    if is_web(source):
        return [source]
    found = read_list(source)
    for url in (feed.url for feed in found):
        if not is_feed_url(url):
            raise DataError(f"{url[:80]!r} is not the URL of a feed", source)
    return [feed.url for feed in found]


def read_list(path: str) -> list[ListedFeed]:
    """The feeds that a file lists, each once, unchecked: some may be no web addresses."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"is neither a URL nor a readable file: {error.strerror}", path) from None
    if len(content) > LARGEST:
        raise DataError(f"is larger than {LARGEST >> 20} MiB: no list of feeds is", path)
    if content.lstrip(MARKS).startswith(b"<"):
        found = read_opml(content, path)
    else:
        lines = content.decode("utf-8-sig", "replace").splitlines()
        found = [ListedFeed(line.strip()) for line in lines if line.strip() and line[0] != "#"]
    if not found:
        raise DataError("it lists no feed", path)
    return list({feed.url: feed for feed in reversed(found)}.values())[::-1]


def read_opml(content: bytes, source: str) -> list[ListedFeed]:
    """The feeds of an OPML file; the folder a feed stands in is its topic."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise DataError(f"cannot be read as OPML: {error}", source) from None
    return list(_outlines(root))


def _outlines(root: Element) -> Iterator[ListedFeed]:
    """The feeds in their order; folders may be nested as deep as somebody likes."""
    waiting = [(root, "")]
    while waiting:
        element, topic = waiting.pop()
        if element.tag == "outline":
            title = as_title(element.get("title") or element.get("text") or "")
            if url := (element.get("xmlUrl") or element.get("xmlurl") or "").strip():
                known = title if title != as_title(url) else ""
                labels = (element.get("category") or "").split(",")
                yield ListedFeed(url, known, topic, tuple(filter(None, map(str.strip, labels))))
            else:
                topic = title or topic
        waiting += [(child, topic) for child in reversed(element)]


def write_opml(feeds: Iterable[ListedFeed]) -> str:
    """An OPML 2.0 file that any reader of feeds can import."""
    opml = ElementTree.Element("opml", version="2.0")
    head = ElementTree.SubElement(opml, "head")
    ElementTree.SubElement(head, "title").text = "Feeds of HashNews"
    body = ElementTree.SubElement(opml, "body")
    folders = {"": body}
    for feed in feeds:
        if feed.topic not in folders:
            folders[feed.topic] = ElementTree.SubElement(body, "outline", text=feed.topic)
        named = {"type": "rss", "text": feed.title or feed.url, "xmlUrl": feed.url}
        ElementTree.SubElement(folders[feed.topic], "outline", named)
    ElementTree.indent(opml)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(opml, "unicode") + "\n"
