"""Build what ships in src/hashnews/models from the measuring data, with one command.

    python tools/build_models.py DATA WORK --encoder DIR
    python tools/build_models.py DATA WORK --only generator
    python tools/build_models.py DATA WORK --measure results/sense/left-out.json

DATA is the folder of the measuring data, WORK a folder for stores, posts and examples: a step that
is done there is not done again, so a run that was stopped resumes. DIR holds all-MiniLM-L6-v2:
config.json, model.safetensors and tokenizer.json. It takes some hours on two cores.

    encoder ──▶ meaning ──▶ lexicon, and one without each set ──▶ examples ──▶ relevance, ranker
    posts, news ──▶ contexts ──▶ generator          ner/, news by spaCy, encoder ──▶ tagger

`--measure` leaves out one set after the other and writes what the judges find in it. The known
hashtags, the calendar, the settings and the card of `best` stay as they are there, and so do the
cards of the others. The manifests hold the command, the version and the digests of the data.
The tagger also reads news labelled by spaCy (benchmarks/silver.py), which needs packages of its
own: name a Python that has them with --spacy. Without them, or without --encoder, it stays.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from sense.collections import SETS, file_of
from sense.judges import shipped
from sense.lexicons import lexicon
from sense.measure import measure
from sense.stories import story
from sense.tuning import meaning, topics
from sense.work import MODELS, ROOT, Work, run
from sense.writers import BROAD, DATED, generator

from hashnews import __version__
from hashnews.learn.train import digests
from hashnews.saved import MANIFEST, kind_of, new_directory
from hashnews.suggest.calendar import Calendar
from hashnews.suggest.model import ModelConfig, SuggesterFiles, save_model, shipped_model
from hashnews.suggest.prior import Prior
from hashnews.text.hashtags import key_of

PARTS = ("generator", "sense", "tagger")
CARD, WEIGHTS = "README.md", "model.safetensors"  # what is trained on does not ship
SILVER, SILVER_NEWS = 20_000, ("2019/news.jsonl.gz", "2020/reference.jsonl.gz")
# The first run of the tagger, other than configs/tagger.toml; the second one is blended with it.
FIRST_RUN = {"renamed": 0, "hidden": 0, "silver_weight": 0.5, "encoder_rate": 1e-4}


def main() -> None:
    """Run what has not been done yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("-o", "--out", type=Path, default=MODELS, help="where the models go")
    parser.add_argument("--only", choices=PARTS, help="build only these models")
    parser.add_argument(
        "--spacy", default=sys.executable, help="a Python with spaCy, for the tagger"
    )
    parser.add_argument("--measure", type=Path, help="write the figures to this file instead")
    parser.add_argument("--posts", type=int, help="read so many posts of each set, for a trial")
    options = parser.parse_args()
    work = Work(options.data.absolute(), options.work.absolute(), options.encoder, options.posts)
    if options.measure:
        table = json.dumps(measure(work), indent=2) + "\n"
        options.measure.parent.mkdir(parents=True, exist_ok=True)
        options.measure.write_text(table, "utf-8")
        return
    builders = {
        "generator": build_generator,
        "sense": build_sense,
        "tagger": partial(build_tagger, spacy=options.spacy),
    }
    for part in PARTS if options.only is None else [options.only]:
        builders[part](work, options.out)


def build_generator(work: Work, out: Path) -> None:
    """The generator: trained in WORK, then put in its place with its card."""
    made = work.folder / "generator"
    generator(work, made)
    years = {year for year, _ in DATED.values()}
    read = [work.data / year / f"{what}.jsonl.gz" for year in years for what in ("posts", "news")]
    broad = [file_of(work, name) for name in BROAD]
    _copy(made, out / "generator", _about([*sorted(read), *broad]))


def build_sense(work: Work, out: Path) -> None:
    """Meaning, lexicon, topics and judges: made in WORK, then put in their places."""
    made = (meaning(work), lexicon(work, None), topics(work), story(work))
    judges = shipped(work)
    about = _about(file_of(work, name) for name in SETS)
    for directory in made:
        _copy(directory, out / directory.name, about)
    best = out / "best"
    old = SuggesterFiles(best if best.exists() else shipped_model())
    known = {key_of(form): form for form in old.known.read_text("utf-8").split()}
    calendar = Calendar.read(old.calendar.read_text("utf-8").splitlines())
    config = ModelConfig.model_validate_json(old.config.read_bytes())
    card = old.card.read_text("utf-8")
    save_model(best, judges, config, Prior(known, calendar), card, about)


def build_tagger(work: Work, out: Path, spacy: str) -> None:
    """The tagger, where the encoder and news labelled by spaCy are at hand: two runs, blended."""
    if work.encoder is None:
        print("tagger: stays as it is: it needs --encoder", flush=True)
        return
    news = [work.data / name for name in SILVER_NEWS]
    silver = work.folder / "silver"
    if not silver.exists() and not _labelled(spacy, news, silver):
        print("tagger: stays as it is: spaCy labelled no news", flush=True)
        return
    places = {
        "data/all-MiniLM-L6-v2": work.encoder.absolute(),
        "data/silver": silver,
        "data/": f"{work.data}/",
    }
    template = (ROOT / "configs" / "tagger.toml").read_text("utf-8")
    for name, place in places.items():
        template = template.replace(f'"{name}', f'"{place}')
    first, made, settings = (work.folder / name for name in ("tagger-1", "tagger", "tagger.toml"))
    settings.write_text(template, "utf-8")
    train = ("train", "tagger", "-c", settings)
    run(first / MANIFEST, *train, *_set(FIRST_RUN), "-o", first)
    best = work.folder / "tagger-1.training" / "best.safetensors"
    run(made / MANIFEST, *train, "--set", f'blend=["{best}"]', "-o", made)
    labelled = sorted((work.data / "ner").glob("*.conll.gz"))
    _copy(made, out / "tagger", _about([*labelled, *news]))


def _labelled(spacy: str, news: Iterable[Path], target: Path) -> bool:
    """Let spaCy label news, whole or not at all."""
    scratch = target.with_suffix(".tmp")
    files = [part for path in news for part in ("--news", str(path))]
    command = [spacy, str(ROOT / "benchmarks" / "silver.py"), *files, "--out", str(scratch)]
    if subprocess.run([*command, "--sentences", str(SILVER)], check=False).returncode:
        return False
    scratch.rename(target)
    return True


def _set(settings: dict[str, float]) -> list[str]:
    return [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]


def _about(read: Iterable[Path]) -> dict[str, Any]:
    """What the manifest of a model says of its making."""
    command = "python tools/build_models.py DATA WORK --encoder DIR"
    return {"version": __version__, "command": command, "data": digests(read)}


def _copy(source: Path, target: Path, about: dict[str, Any]) -> None:
    """Put a directory in its place, sealed anew; its card stays where it has none of its own."""
    files = [path for path in source.iterdir() if path.name not in (MANIFEST, WEIGHTS)]
    card = target / CARD
    if card.exists() and not (source / CARD).exists():
        files.append(card)
    about = json.loads((source / MANIFEST).read_bytes())["about"] | about
    with new_directory(target, kind_of(source) or "", about) as scratch:
        for path in files:
            shutil.copyfile(path, scratch / path.name)


if __name__ == "__main__":
    main()
