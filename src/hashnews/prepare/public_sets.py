"""Public hashtag datasets in the files their authors give out, as prepared posts.

    howyoutag   train.csv, valid.csv, test.csv              text TAB user TAB tag TAB tag ...
    cmkp        train_src.txt, valid_src.txt, test_src.txt  text<sep>a tag;another<sep>picture
    thg, whg    NAME.train.src and NAME.train.dst, ...      a text a line; a tag [SEP] another

They are #HowYouTagTweets (EMNLP 2021), CMKP (EMNLP 2020) and the two sets of SEGTRM (2022) that
RIGHT (ECIR 2024) uses too. Their hashtags are split off already, and each has its own split, which
is kept. None has times, so none can be read beside news: they serve the models that read the post
alone. How their posts were cleaned is their authors' doing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, get_args

from hashnews.errors import DataError
from hashnews.prepare.splits import Part
from hashnews.records import Hashtag, PreparedPost
from hashnews.text.segment import Segmenter

SPELT = {"valid": "validation", "val": "validation", "dev": "validation"}
NAMED_PART = re.compile(r"(?<![a-z])(train|valid|val|dev|test)(?![a-z])")
STAND_IN = re.compile(r"<\w+>")  # of CMKP: <user>, <number>, <url>
BETWEEN = "[SEP]"  # of two hashtags in a .dst


class PublicPost(NamedTuple):
    """One post as such a file has it."""

    text: str
    hashtags: Sequence[str]
    user: str | None = None


class PublicSet:
    """How one of the datasets is written."""

    name: str
    spaced: bool  # hashtags come as words

    def files(self, folder: Path) -> dict[Part, Path]:
        """The file of each part, as far as they are there."""
        raise NotImplementedError

    def posts(self, path: Path) -> Iterator[PublicPost]:
        """The posts of one file."""
        raise NotImplementedError

    def inputs(self, folder: Path) -> list[Path]:
        """Every file that is read."""
        return list(self.files(folder).values())


class HowYouTag(PublicSet):
    """#HowYouTagTweets: polyusmart/Personalized-Hashtag-Preferences, `Data/`."""

    name = "howyoutag"
    spaced = False

    def files(self, folder: Path) -> dict[Part, Path]:
        """train.csv and so on, which are not CSV."""
        return _there(folder, "{}.csv")

    def posts(self, path: Path) -> Iterator[PublicPost]:
        """Text, user and hashtags between tabs."""
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            text, *rest = line.split("\t")
            if len(rest) < 2:
                raise DataError("is not text TAB user TAB hashtag", path, number)
            yield PublicPost(text, rest[1:], rest[0])


class Cmkp(PublicSet):
    """Cross-media keyphrases: yuewang-cuhk/CMKP, `data/tw_mm_s1`; the pictures are left out."""

    name = "cmkp"
    spaced = True

    def files(self, folder: Path) -> dict[Part, Path]:
        """train_src.txt and so on."""
        return _there(folder, "{}_src.txt")

    def posts(self, path: Path) -> Iterator[PublicPost]:
        """Text, hashtags and picture between `<sep>`; stand-ins such as `<url>` are not said."""
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            fields = line.split("<sep>")
            if len(fields) < 2:
                raise DataError("is not text<sep>hashtag;hashtag<sep>picture", path, number)
            yield PublicPost(" ".join(STAND_IN.sub(" ", fields[0]).split()), fields[1].split(";"))


class Thg(PublicSet):
    """THG and WHG: OpenSUM/HashtagGen, and as ict-bigdatalab/RIGHT cleans them."""

    name = "thg"
    spaced = True

    def files(self, folder: Path) -> dict[Part, Path]:
        """Every `.src` with a part in its name and a `.dst` beside it."""
        found: dict[Part, Path] = {}
        for path in sorted(folder.glob("*.src*")):
            named = NAMED_PART.search(path.name.lower())
            if not named or path.suffix == ".json" or not self.beside(path).is_file():
                continue
            part = _part(named[1])
            if part in found:
                both = f"{found[part].name} and {path.name}"
                raise DataError(f"has two files of {part} posts, {both}: leave one", folder)
            found[part] = path
        return {part: found[part] for part in get_args(Part) if part in found}

    def posts(self, path: Path) -> Iterator[PublicPost]:
        """Line by line beside the `.dst`."""
        other = self.beside(path)
        texts, tags = list(_lines(path)), list(_lines(other))
        if len(texts) != len(tags):
            raise DataError(f"has {len(texts)} lines, {other.name} has {len(tags)}", path)
        for text, line in zip(texts, tags, strict=True):
            yield PublicPost(text, line.split(BETWEEN))

    def inputs(self, folder: Path) -> list[Path]:
        """Both files of each part."""
        return [one for path in super().inputs(folder) for one in (path, self.beside(path))]

    def beside(self, path: Path) -> Path:
        """The file of the hashtags."""
        return path.with_name(path.name.replace(".src", ".dst", 1))


SETS: tuple[PublicSet, ...] = (HowYouTag(), Cmkp(), Thg())


def public_set(folder: Path) -> PublicSet | None:
    """Which of the datasets a folder holds, by its files: all three parts must be there."""
    return next((one for one in SETS if len(one.files(folder)) == len(get_args(Part))), None)


def read_public(
    folder: Path, segmenter: Segmenter, most: int | None = None
) -> Iterator[PreparedPost]:
    """Its posts, `most` of each part, without entities; what has no text or hashtag is left out."""
    found = public_set(folder)
    if found is None:
        raise DataError(
            "is no dataset that can be read as a folder: see docs/reproduce.md for those that can",
            folder,
        )
    for part, path in found.files(folder).items():
        for number, row in enumerate(islice(found.posts(path), most), 1):
            hashtags = _hashtags(row.hashtags, None if found.spaced else segmenter)
            if row.text.strip() and hashtags:
                yield PreparedPost(
                    id=f"{part}-{number}", user=row.user or None, collection=found.name,
                    split=part, body=row.text.strip(), entities=(), hashtags=hashtags,
                )  # fmt: skip


def _hashtags(found: Sequence[str], segmenter: Segmenter | None) -> tuple[Hashtag, ...]:
    """Each once, as words: those it has, or those the segmenter finds."""
    unique: dict[str, Hashtag] = {}
    for tag in found:
        words = tuple(tag.lower().split())
        written = f"#{''.join(tag.split())}"
        if words:
            hashtag = Hashtag(segmenter.segment(written) if segmenter else words, written)
            unique.setdefault(hashtag.key, hashtag)
    return tuple(unique.values())


def _part(named: str) -> Part:
    return SPELT.get(named, named)  # type: ignore[return-value]


def _there(folder: Path, pattern: str) -> dict[Part, Path]:
    paths = {_part(name): folder / pattern.format(name) for name in ("train", "valid", "test")}
    return {part: path for part, path in paths.items() if path.is_file()}


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; only a line feed ends one."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        try:
            for line in stream:
                yield line.rstrip("\r\n")
        except UnicodeDecodeError:
            raise DataError("is not UTF-8", path) from None
