"""An example of all three kinds of plug-ins: a finder, a source and an encoder."""

import os
import re
import zlib

import numpy as np

from hashnews.records import Entity, Reason
from hashnews.suggest.sources.base import Proposal, Source


class ShoutingFinder:
    """Words in capitals are names."""

    name = "shouting"

    def find(self, text):
        """The entities of one text."""
        found = re.finditer(r"\b[A-Z]{3,}\b", text)
        return [Entity(one[0], one.start(), one.end()) for one in found]

    def find_all(self, texts):
        """The entities of many texts."""
        return [self.find(text) for text in texts]


class HouseStyle(Source):
    """Hashtags that a house always thinks of; the judges say which of them fit."""

    label = "House style"
    columns = {}  # noqa: RUF012
    tags = (("gardening",), ("baking",), ("house", "of", "quux"))

    def propose(self, query):
        """All of them, whatever the post says."""
        if os.environ.get("HOUSE_FAILS"):
            raise RuntimeError("the house is on fire")
        return [Proposal(words) for words in self.tags]

    def reason(self, query, found, place):
        """That it is the style of the house."""
        if found.words[place] not in self.tags:
            return None
        return Reason(source="house", text="the style of the house")


class LettersEncoder:
    """Texts with the same triples of letters are alike: no meaning, but a space of vectors."""

    width = 64

    def of_posts(self, texts):
        """The vectors of whole posts."""
        return self.of_phrases([text.lower().split() for text in texts])

    def of_phrases(self, phrases):
        """The vectors of phrases."""
        table = np.zeros((len(phrases), self.width), np.float32)
        for row, words in enumerate(phrases):
            text = f"  {' '.join(words)}  "
            for at in range(len(text) - 2):
                table[row, zlib.crc32(text[at : at + 3].encode()) % self.width] += 1
        lengths = np.linalg.norm(table, axis=1, keepdims=True)
        return table / np.maximum(lengths, 1e-9)
