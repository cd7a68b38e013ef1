"""`hashnews reproduce`: the paper's table on a dataset."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from hashnews.cli.console import say
from hashnews.cli.options import json_option


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
              help="Folder of the results: tables and figures.")  # fmt: skip
@click.option("--work", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder of models and other files between.  [default: OUT/work]")  # fmt: skip
@click.option("-c", "--config", "path", type=click.Path(path_type=Path),
              help="Settings, as in configs/reproduce.toml.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE",
              help="Instead of the file's, such as training.epochs=3.")  # fmt: skip
@click.option("--models", help="Rows of the table, such as seq2seq,hashnews,author.")
@click.option("--seeds", type=click.IntRange(1), help="How often each model is trained.")
@click.option("--split", type=click.Choice(["chronological", "random"]), default="chronological",
              show_default=True, help="The paper's is random, which leaks.")  # fmt: skip
@click.option("--collection", help="Only posts of this collection.")
@click.option("--never", multiple=True, metavar="TAG", help="A hashtag that is never a target.")
@click.option(
    "--small",
    is_flag=True,
    help="Tests the machinery, judges nothing: tiny models; without DATASET the sample.",
)
@click.option(
    "--together",
    is_flag=True,
    help="DATASET is a folder of such results: all claims on one page, corrected.",
)
@click.option("--jobs", type=click.IntRange(0), default=1, show_default=True,
              help="Processes at a time, each with one thread; 0: judge what is done.")  # fmt: skip
@json_option
def reproduce(
    dataset: Path | None,
    out: Path,
    work: Path | None,
    path: Path | None,
    changes: tuple[str, ...],
    models: str | None,
    seeds: int | None,
    split: str,
    collection: str | None,
    never: tuple[str, ...],
    small: bool,
    together: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Make the paper's table on DATASET, a folder with posts, news and reference (.jsonl.gz).

    Prepares the posts, adds the news, retrieves with each ranking, trains each model with each
    seed, suggests, evaluates. Interrupted, the same command resumes; finished steps are kept.
    """
    from hashnews.reproduce.config import SMALL, ReproduceConfig
    from hashnews.reproduce.plan import Dataset
    from hashnews.reproduce.results import reproduce as run
    from hashnews.reproduce.tables import score_cells, text
    from hashnews.reproduce.write import SMALL_RUN, write_results
    from hashnews.sample import sample_file

    if dataset is None and (together or not small):
        raise click.UsageError("name the folder of the dataset, or --small for the sample")
    if together and dataset:
        from hashnews.reproduce.together import write_together

        say(write_together(dataset, out, _command()))
        return
    given = [*(SMALL if small else ()), *changes]
    given += [f"models={json.dumps(models.split(','))}"] if models else []
    given += [f"seeds={seeds}"] if seeds else []
    config = ReproduceConfig.load(path, given)
    began = time.monotonic()

    def tell(line: str) -> None:
        say(f"{time.monotonic() - began:7.0f} s  {line}", err=True)

    with sample_file("posts.jsonl") as sample:
        source = Dataset(dataset or sample.parent, split, collection, never)  # type: ignore[arg-type]
        results = run(source, config, work or out / "work", jobs, tell)
        summary = write_results(results, out, _command())
    say(json.dumps(summary) if as_json else text(score_cells(summary)))
    say(f"see {out}", err=True)
    if small:
        say(SMALL_RUN.replace("**", ""), err=True)
    results.check()


def _command() -> str:
    """What was typed, with the names of folders alone: where they lay is nobody's business."""
    words = (Path(word).name if word.startswith(("/", "..")) else word for word in sys.argv[1:])
    return "hashnews " + " ".join(words)
