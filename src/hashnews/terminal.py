r"""The one door for text on its way to a terminal or a log for people.

News, posts and file names come from outside. A terminal obeys what stands in them: escape
sequences write the clipboard, control characters forge lines, overrides of direction show a text
as another one. Here they become what they are called in JSON and Python, `\u001b`: harmless, seen,
and within JSON still the same text.
"""

from __future__ import annotations

import logging
import re

# C0 without tab and line break, DEL and C1; what turns the direction of writing; the line and
# paragraph separators; what marks annotations; half surrogate pairs, which cannot be printed.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    "\ud800-\udfff]"
)


def safe(text: str) -> str:
    """Text that does nothing to a terminal but to stand there, in the lines it has."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: object, longest: int = 2000) -> str:
    """Anything as one line of safe text, cut off where it is very long."""
    line = safe(str(text)).replace("\n", "\\n").replace("\t", " ")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class OneLine(logging.Formatter):
    """Warnings of the library for people: through the same door."""

    def format(self, record: logging.LogRecord) -> str:
        """The message as one line of safe text."""
        return one_line(super().format(record), 500)
