"""Build the models of meaning, the lexicon and the judges that ship, with one command.

    python tools/build_sense.py DATA WORK --encoder DIR
    python tools/build_sense.py DATA WORK --measure results/sense.json

DATA is the folder of the measuring data, WORK a folder for stores, posts and examples: a step that
is done there is not done again, so a run that was stopped resumes. DIR holds all-MiniLM-L6-v2:
config.json, model.safetensors and tokenizer.json. It takes some hours on two cores.

    encoder ──▶ meaning ──▶ lexicon, and one without each set ──▶ examples ──▶ relevance, ranker

`--measure` leaves out one set after the other and writes what the judges find in it. The known
hashtags, the calendar, the settings and the card of `best` stay as they are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from build_models import MODELS
from sense.collections import SETS, file_of
from sense.encoder import meaning
from sense.judges import shipped
from sense.lexicons import lexicon
from sense.measure import measure
from sense.work import Work

from hashnews import __version__
from hashnews.learn.train import digests
from hashnews.saved import MANIFEST, kind_of, new_directory
from hashnews.suggest.calendar import Calendar
from hashnews.suggest.model import ModelConfig, SuggesterFiles, save_model, shipped_model
from hashnews.suggest.prior import Prior
from hashnews.text.hashtags import key_of


def main() -> None:
    """Run what has not been done yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("-o", "--out", type=Path, default=MODELS, help="where the models go")
    parser.add_argument("--measure", type=Path, help="write the figures to this file instead")
    parser.add_argument("--posts", type=int, help="read so many posts of each set, for a trial")
    options = parser.parse_args()
    work = Work(options.data.absolute(), options.work.absolute(), options.encoder, options.posts)
    if options.measure:
        table = json.dumps(measure(work), indent=2) + "\n"
        options.measure.parent.mkdir(parents=True, exist_ok=True)
        options.measure.write_text(table, "utf-8")
    else:
        build(work, options.out)


def build(work: Work, out: Path) -> None:
    """Make all models in WORK, then put them in their places."""
    made, judges = (meaning(work), lexicon(work, None)), shipped(work)
    about = {
        "version": __version__,
        "command": "python tools/build_sense.py",
        "data": digests(file_of(work, name) for name in SETS),
    }
    for directory in made:
        _copy(directory, out / directory.name, about)
    best = out / "best"
    old = SuggesterFiles(best if best.exists() else shipped_model())
    known = {key_of(form): form for form in old.known.read_text("utf-8").split()}
    calendar = Calendar.read(old.calendar.read_text("utf-8").splitlines())
    config = ModelConfig.model_validate_json(old.config.read_bytes())
    card = old.card.read_text("utf-8")
    save_model(best, judges, config, Prior(known, calendar), card, about)


def _copy(source: Path, target: Path, about: dict[str, Any]) -> None:
    """Put a directory in its place, sealed anew."""
    with new_directory(target, kind_of(source) or "", about) as scratch:
        for path in source.iterdir():
            if path.name != MANIFEST:
                shutil.copyfile(path, scratch / path.name)


if __name__ == "__main__":
    main()
