"""Build what ships in src/hashnews/models from the measuring data, with one command.

    python tools/build_models.py DATA WORK

DATA is the folder of the measuring data, WORK a folder for stores, contexts and training states: a
step that is done there is not done again, so a run that was stopped resumes. It takes some hours on
two cores. The manifests of the models hold the commands, the version and the digests of the data.
The tagger is built from `ner/` the same way (`hashnews train tagger -c configs/tagger.toml`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "src" / "hashnews" / "models"
SETS = {"congress20": ("2020", "congress"), "blm20": ("2020", "blm"), "congress19": ("2019", None)}
SIZES = {  # of the generators: small enough to ship
    "variant": "hashnews-copy", "embedding": 200, "hidden": 256, "layers": 1, "dropout": 0.2,
    "beam": 10,
}  # fmt: skip


def main() -> None:
    """Run what has not been done yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=MODELS, help="where the models go")
    options = parser.parse_args()
    data, work = options.data.absolute(), options.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    for year in ("2020", "2019"):
        store = work / f"{year}.db"
        run(work / f"{year}.added", "news", "add", data / year / "news.jsonl.gz", "--news", store)
    for name, (year, collection) in SETS.items():
        posts, contexts = work / f"{name}.jsonl", work / f"{name}.contexts.jsonl"
        only = ("--collection", collection) if collection else ()
        raw = data / year / "posts.jsonl.gz"
        run(posts, "prepare", raw, *only, "--split", "chronological", "-o", posts)
        run(contexts, "retrieve", posts, "--news", work / f"{year}.db", "-o", contexts)
        half = cut(work, [name], f"{name}-half", share=0.5)
        train_generator(work / f"{name}-half", half)
    train_generator(options.out / "generator", cut(work, list(SETS), "all", share=0.95))
    run(None, "train", "best", "-c", settings(data, work, options.out), "-o", options.out / "best")


def run(done: Path | None, *arguments: object) -> None:
    """Run `hashnews` with some arguments, once."""
    if done is not None and done.exists():
        return
    print("hashnews", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "hashnews", *map(str, arguments)], check=True)
    if done is not None:
        done.touch()


def cut(work: Path, names: list[str], target: str, share: float) -> tuple[Path, Path]:
    """The oldest posts of sets with their contexts, the last tenth of them for validation."""
    posts, contexts = work / f"{target}.posts.jsonl", work / f"{target}.posts-contexts.jsonl"
    if not contexts.exists():
        with posts.open("w", encoding="utf-8") as one, contexts.open("w", encoding="utf-8") as two:
            for name in names:
                lines = (work / f"{name}.jsonl").read_text("utf-8").splitlines()
                beside = (work / f"{name}.contexts.jsonl").read_text("utf-8").splitlines()
                last = int(share * len(lines))
                for at in range(last):
                    part = "train" if at < 0.9 * last else "validation"
                    one.write(json.dumps({**json.loads(lines[at]), "split": part}) + "\n")
                    two.write(beside[at] + "\n")
    return posts, contexts


def train_generator(out: Path, read: tuple[Path, Path]) -> None:
    """Train one generator; a training that was stopped goes on by itself."""
    sizes = [f"model.{name}={value}" for name, value in SIZES.items()]
    changes = [f"posts={read[0]}", f"contexts={read[1]}", *sizes]
    named = [word for change in changes for word in ("--set", change)]
    config = ROOT / "configs" / "generator.toml"
    run(out / "manifest.json", "train", "generator", "-c", config, "-o", out, *named)


def settings(data: Path, work: Path, out: Path) -> Path:
    """The settings of the suggester: each set with the generator that read its first half."""
    lines = [f'generator = "{out / "generator"}"', "warm_up = 0.5"]
    for name, (year, collection) in SETS.items():
        older = [data / "history" / "posts.jsonl.gz"]
        older += [data / "2019" / "posts.jsonl.gz"] if year == "2020" else []
        lines += [
            "[[sets]]",
            f'posts = ["{data / year / "posts.jsonl.gz"}"]',
            f'news = "{work / f"{year}.db"}"',
            f"history = {json.dumps([str(path) for path in older])}",
            f'generator = "{work / f"{name}-half"}"',
            *([f'collection = "{collection}"'] if collection else []),
        ]
    path = work / "best.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


if __name__ == "__main__":
    main()
