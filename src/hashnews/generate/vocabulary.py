"""Words and their numbers: one vocabulary for what is read, one for what is written.

What is read (post and context) has a number for padding, for unknown words and for "nothing",
the one word of an empty text. What is written (hashtags) has the end of a hashtag and words, and
nothing else: an unknown word cannot be written because it has no number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from hashnews.errors import ModelError
from hashnews.files import new_file

PADDING, UNKNOWN, NOTHING = 0, 1, 2
SOURCE_SIGNS = ("<padding>", "<unknown>", "<nothing>")
START = -1  # stands before the first word of a hashtag; it is never written, so it is no word
END = 0
HASHTAG_SIGNS = ("<end>",)


class Vocabulary:
    """Words numbered from the most frequent on, after the signs that are no words."""

    def __init__(self, signs: Sequence[str], words: Sequence[str], counts: Sequence[int]):
        self.signs = tuple(signs)
        self.words = tuple(words)
        self.counts = tuple(counts)
        self._numbers = {word: number for number, word in enumerate(words, len(signs))}

    def __len__(self) -> int:
        return len(self.signs) + len(self.words)

    def number(self, word: str) -> int | None:
        """The number of a word, if it has one."""
        return self._numbers.get(word)

    def numbers(self, words: Iterable[str], unknown: int = UNKNOWN) -> list[int]:
        """The numbers of words, `unknown` for those that have none."""
        return [self._numbers.get(word, unknown) for word in words]

    def word(self, number: int) -> str:
        """The word (or sign) of a number."""
        signs = len(self.signs)
        return self.signs[number] if number < signs else self.words[number - signs]

    @classmethod
    def count(
        cls, signs: Sequence[str], counts: Counter[str], least: int = 1, most: int | None = None
    ) -> Vocabulary:
        """The words seen `least` times or more; of equals the first in the alphabet."""
        seen = [(word, count) for word, count in counts.items() if count >= least and word]
        seen.sort(key=lambda item: (-item[1], item[0]))
        kept = seen[:most]
        return cls(signs, [word for word, _ in kept], [count for _, count in kept])

    def save(self, path: Path) -> None:
        """Write one line a word: the word, a tab, its count."""
        with new_file(path) as stream:
            for word, count in zip(self.words, self.counts, strict=True):
                stream.write(f"{word}\t{count}\n")

    @classmethod
    def load(cls, path: Path, signs: Sequence[str]) -> Vocabulary:
        """Read what `save` wrote."""
        words, counts = [], []
        try:
            for line in path.read_text("utf-8").split("\n")[:-1]:
                word, count = line.split("\t")
                words.append(word)
                counts.append(int(count))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} is not a vocabulary: {error}") from None
        return cls(signs, words, counts)
