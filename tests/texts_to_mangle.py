"""Texts that fuzzers start from, and how they are damaged: by a chance that has a seed."""

from datetime import UTC, datetime

NOW = datetime(2020, 7, 1, tzinfo=UTC)
PIECES = [
    "<", ">", "&", "&#xD800;", "&#0;", "]]>", "<![CDATA[", "<!--", "<?", "\0", "\x1b]52;c;x\x07",
    "\u202e", "\ud800", "9" * 50, "-1", "1e999", "NaN", "null", "[" * 2000, '{"a":' * 500, '"',
    "\\", "\\ud800", "\n", "\r", "\t", "2020-06-01", "0001-01-01T00:00:00Z", "9999-12-31",
    "+99:99", "PM", "EST", "é", "日本", "https://e.org/", "http://[", "javascript:x", "%00",
    "../../x", "a" * 3000, "",
]  # fmt: skip
ROW = {
    "id": "1", "title": "Angela Merkel in Paris", "text": "About the visit.", "source": "e.org",
    "published_at": "2020-06-02T10:00:00Z", "created_at": "2020-06-02T10:00:00Z", "user": "u",
    "url": "https://e.org/1", "entities": ["Angela Merkel"], "hashtags": [], "body": "x",
}  # fmt: skip


def mangled(chance, text, pieces=PIECES, most=6):
    """Text with pieces put in, put in place of others, or cut out."""
    for _ in range(chance.randrange(1, most)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + chance.randrange(12))
        text = text[:at] + chance.choice([*pieces, text[at:end] * 2]) + text[end:]
    return text


def as_bytes(chance, text):
    encoding = chance.choice(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"])
    content = text.encode(encoding, "surrogatepass" if "utf" in encoding else "replace")
    if chance.random() < 0.2:
        at = chance.randrange(len(content) + 1)
        content = content[:at] + chance.randbytes(4) + content[at + chance.randrange(9) :]
    return content


def mangled_bytes(chance, content, most=6):
    """Bytes with bits turned, parts cut out, doubled, or put in."""
    changed = bytearray(content)
    for _ in range(chance.randrange(1, most)):
        at = chance.randrange(len(changed) + 1)
        end = min(len(changed), at + chance.choice([1, 1, 4, 64, 4096]))
        match chance.randrange(5):
            case 0 | 1 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                del changed[at:end]
            case 3:
                changed[at:at] = changed[at:end]
            case _:
                changed[at:end] = chance.choice(
                    [chance.randbytes(4), bytes(8), b"\xff" * 8, b"[" * 5000, b"\x81" * 200]
                )
    return bytes(changed)
