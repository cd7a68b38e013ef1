"""Build what ships in src/hashnews/models from the measuring data, with one command.

    python tools/build_models.py DATA WORK --encoder DIR
    python tools/build_models.py DATA WORK --only generator
    python tools/build_models.py DATA WORK --measure results/sense/left-out.json

DATA is the folder of the measuring data, WORK a folder for stores, posts and examples: a step that
is done there is not done again, so a run that was stopped resumes. DIR holds all-MiniLM-L6-v2:
config.json, model.safetensors and tokenizer.json. It takes some hours on two cores.

    encoder ──▶ meaning ──▶ lexicon, and one without each set ──▶ examples ──▶ relevance, ranker
    posts, news ──▶ contexts ──▶ generator                ner/, silver/, encoder ──▶ tagger

`--measure` leaves out one set after the other and writes what the judges find in it. The known
hashtags, the calendar, the settings and the card of `best` stay as they are there, and so do the
cards of the others. The manifests hold the command, the version and the digests of the data.
The tagger also reads news labelled by spaCy (benchmarks/silver.py): without DATA/silver it stays.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sense.collections import SETS, file_of
from sense.encoder import meaning
from sense.judges import shipped
from sense.lexicons import lexicon
from sense.measure import measure
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


def main() -> None:
    """Run what has not been done yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("-o", "--out", type=Path, default=MODELS, help="where the models go")
    parser.add_argument("--only", choices=PARTS, help="build only these models")
    parser.add_argument("--measure", type=Path, help="write the figures to this file instead")
    parser.add_argument("--posts", type=int, help="read so many posts of each set, for a trial")
    options = parser.parse_args()
    work = Work(options.data.absolute(), options.work.absolute(), options.encoder, options.posts)
    if options.measure:
        table = json.dumps(measure(work), indent=2) + "\n"
        options.measure.parent.mkdir(parents=True, exist_ok=True)
        options.measure.write_text(table, "utf-8")
        return
    builders = {"generator": build_generator, "sense": build_sense, "tagger": build_tagger}
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
    """Meaning, lexicon and judges: made in WORK, then put in their places."""
    made, judges = (meaning(work), lexicon(work, None)), shipped(work)
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


def build_tagger(work: Work, out: Path) -> None:
    """The tagger, where news labelled by spaCy and the encoder are at hand."""
    silver = sorted((work.data / "silver").glob("*.conll"))
    if not silver or work.encoder is None:
        print("tagger: stays as it is: it needs DATA/silver and --encoder", flush=True)
        return
    made, settings = work.folder / "tagger", work.folder / "tagger.toml"
    template = (ROOT / "configs" / "tagger.toml").read_text("utf-8")
    template = template.replace('"data/all-MiniLM-L6-v2"', json.dumps(str(work.encoder.absolute())))
    settings.write_text(template.replace('"data/', f'"{work.data}/'), "utf-8")
    run(made / MANIFEST, "train", "tagger", "-c", settings, "-o", made)
    labelled = sorted((work.data / "ner").glob("*.conll.gz"))
    _copy(made, out / "tagger", _about([*labelled, *silver]))


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
