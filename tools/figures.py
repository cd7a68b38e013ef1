"""Figures in README and docs, compared with the files they come from.

    python tools/figures.py            what is wrong, one line each; exits with 1 if anything is
    python tools/figures.py --write    put the figures of the files into the pages

docs/figures.toml lists, page by page, the sentences and table rows that report a measurement, with
a slot for every figure: `{best > sets > congress20 > posts | ,.0f}`. `best` is an alias of a file.
In JSON the steps are keys, positions, or `name=value` for an item of a list. In text each step
finds the next line that holds it, and a last whole number says which number behind it (0 is the
first). `lines` counts lines. `a ÷ b` and `a - b` combine two of them. A format that begins with
`100` shows a share in percent.

A figure that no sentence of the list covers is an error, too, unless the list names it as a
setting: a limit, a default or a size that somebody chose and nobody measured.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LIST = ROOT / "docs" / "figures.toml"
GENERATED = {"docs/cli.md"}

SLOT = re.compile(r"\{([^{}]+)\}")
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|[-+−]?\.\d+")
CODE = re.compile(r"```.*?```|`[^`\n]+`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
UNIT = (
    r"(?:%|ms|µs|s|seconds?|minutes?|hours?|kB|MB|GB|TB|bytes|times|posts|articles|hashtags|tags"
    r"|points|requests|cores|processes|nodes|lines|characters|KiB|MiB|Gbit/s)"
)
FIGURE = re.compile(
    rf"(?<![\w.])(?:[-+−]?\d[\d,]*\.\d+\b(?!\.\d)|[-+−]?\.\d+\b|\d{{1,3}}(?:,\d{{3}})+\b|\d+\s?{UNIT}\b"
    r"|\d+\s?%)"
)


class Sentence(NamedTuple):
    """A text of a page with a slot for every figure."""

    page: str
    template: str

    def pattern(self) -> re.Pattern[str]:
        """Finds the text in its page, whatever its figures are and however it is wrapped."""
        parts = SLOT.split(self.template)
        for n, part in enumerate(parts):
            if n % 2:
                parts[n] = "([a-z ]+)" if part.endswith("| s") else f"({NUMBER.pattern})"
            else:
                parts[n] = r"\s+".join(map(re.escape, re.split(r"\s+", part)))
        return re.compile("".join(parts))

    def figures(self, files: dict[str, str]) -> list[str]:
        """The figures that the files say."""
        return [_figure(slot, files) for slot in SLOT.findall(self.template)]

    def sources(self, files: dict[str, str]) -> set[str]:
        """Where the figures come from."""
        places = [slot.rpartition("|")[0] for slot in SLOT.findall(self.template)]
        alone = (one.strip() for place in places for one in re.split(r" [÷-] ", place))
        return {" > ".join([files.get(one.split(" > ")[0], ""), *one.split(" > ")[1:]])
                for one in alone}  # fmt: skip


def _figure(slot: str, files: dict[str, str]) -> str:
    place, _, spec = slot.rpartition("|")
    value = _value(place, files)
    spec = spec.strip()
    if isinstance(value, str):
        return value
    if spec.startswith("100"):
        spec, value = spec[3:].strip(), 100 * value
    shown = format(value, spec)
    if not float(shown.replace(",", "").replace("e", "E")):
        shown = shown.lstrip("+-")
    return shown.replace("-", "−") if "e" not in shown else shown


def _value(place: str, files: dict[str, str]) -> Any:
    for sign, combine in (("÷", lambda a, b: a / b), ("-", lambda a, b: a - b)):
        first, found, second = place.partition(f" {sign} ")
        if found:
            return combine(_value(first, files), _value(second, files))
    alias, *steps = (step.strip() for step in place.split(" > "))
    return _lookup(files[alias], tuple(steps))


@cache
def _lookup(file: str, steps: tuple[str, ...]) -> Any:
    text = (ROOT / file).read_text("utf-8")
    if steps == ("lines",):
        return len(text.splitlines())
    return _in_json(json.loads(text), steps) if file.endswith(".json") else _in_text(text, steps)


def _in_json(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        if isinstance(value, list) and "=" in step:
            name, _, wanted = step.partition("=")
            value = next(item for item in value if str(item[name]) == wanted)
        else:
            value = value[int(step) if isinstance(value, list) else step]
    if isinstance(value, list):  # of several seeds: their mean
        return sum(value) / len(value)
    return value if isinstance(value, str) else float(value)


def _in_text(text: str, steps: tuple[str, ...]) -> float:
    *keys, nth = steps if steps[-1].isdigit() else (*steps, "0")
    rest = ""
    lines = iter(text.splitlines())
    for key in keys:
        rest = next(line.partition(key)[2] for line in lines if key in line)
    numbers = NUMBER.findall(rest)
    return float(numbers[int(nth)].replace(",", "").replace("−", "-"))


class List(NamedTuple):
    """What docs/figures.toml says."""

    files: dict[str, str]
    sentences: list[Sentence]
    settings: dict[str, list[str]]


def read_list() -> List:
    """Read docs/figures.toml."""
    table = tomllib.loads(LIST.read_text("utf-8"))
    pages = table["pages"]
    sentences = [
        Sentence(page, " ".join(line.split()))
        for page, about in pages.items()
        for line in about.get("figures", "").strip().split("\n")
        if line.strip()
    ]
    settings = {page: about.get("settings", []) for page, about in pages.items()}
    return List(table["files"], sentences, settings)


def pages() -> list[str]:
    """README and the pages of docs, but for those that are generated."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [str(path.relative_to(ROOT)) for path in found]
    return [name for name in names if name not in GENERATED]


def without_code(text: str) -> str:
    """The text with code, comments and link targets blanked out, of the same length."""
    return CODE.sub(lambda found: re.sub(r"\S", " ", found[0]), text)


def problems(about: List) -> Iterator[str]:
    """Everything that is wrong, one line each."""
    for name in about.settings:
        if name not in pages():
            yield f"{name}: in docs/figures.toml, but there is no such page"
    for name in pages():
        yield from _problems_of(name, (ROOT / name).read_text("utf-8"), about)
    yield from _told_twice(about)


def _problems_of(name: str, text: str, about: List) -> Iterator[str]:
    rest = without_code(text)
    for sentence in (one for one in about.sentences if one.page == name):
        found = sentence.pattern().search(text)
        if not found:
            yield f"{name}: nowhere: {sentence.template}"
            continue
        said, true = list(found.groups()), sentence.figures(about.files)
        if said != true:
            yield f"{name}: says {said}, the files say {true}: {found[0]}"
        start, end = found.span()
        rest = rest[:start] + re.sub(r"\S", " ", rest[start:end]) + rest[end:]
    for setting in about.settings.get(name, []):
        pattern = r"\s+".join(map(re.escape, setting.split()))
        rest, count = re.subn(pattern, lambda m: re.sub(r"\S", " ", m[0]), rest)
        if not count:
            yield f"{name}: a setting that is not there: {setting}"
    for found in FIGURE.finditer(rest):
        number = text.count("\n", 0, found.start())
        line = text.splitlines()[number].strip()
        yield f"{name}:{number + 1}: no source for {found[0]!r} in: {line[:90]}"


def _told_twice(about: List) -> Iterator[str]:
    """A figure stands on one page of docs; README may quote it again."""
    told: dict[str, str] = {}
    for sentence in about.sentences:
        if sentence.page == "README.md":
            continue
        for source in sentence.sources(about.files):
            if told.setdefault(source, sentence.page) != sentence.page:
                yield f"{sentence.page}: {source} is also on {told[source]}"


def write(about: List) -> None:
    """Put the figures of the files into the pages."""
    for sentence in about.sentences:
        path = ROOT / sentence.page
        text = path.read_text("utf-8")
        if found := sentence.pattern().search(text):
            new = found[0]
            spans = [found.span(n + 1) for n in range(len(found.groups()))]
            true_spans = list(zip(spans, sentence.figures(about.files), strict=True))
            for (start, end), true in reversed(true_spans):
                new = new[: start - found.start()] + true + new[end - found.start() :]
            path.write_text(text[: found.start()] + new + text[found.end() :], "utf-8")


def main() -> int:
    """Check, or write."""
    about = read_list()
    if "--write" in sys.argv[1:]:
        write(about)
    wrong = list(problems(about))
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
