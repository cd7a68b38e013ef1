"""What a reproduction at full size costs: an epoch of every generator on every set.

    python benchmarks/epochs.py WORK [SET ...] [--steps 6] [--epochs 12] [-o results/reproduce/cost]

WORK is a work folder of `hashnews reproduce` where posts are prepared and contexts retrieved; a SET
is a folder in it, such as 2020/blm-chronological. Time of the processor, one thread: a mean step
times the steps of an epoch, and the validation on some posts times all of them. How many epochs
early stopping takes is known only afterwards: the sums assume --epochs of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import torch

from hashnews.generate.batch import batches, make_batch
from hashnews.generate.config import TrainingConfig
from hashnews.generate.generator import generate
from hashnews.generate.model import GeneratorModel, TorchRuntime
from hashnews.generate.training import load_data
from hashnews.reproduce.config import TableModel

POSTS = 24  # of the validation
MODELS = ("seq2seq", "seq2seq-copy", "hashnews", "hashnews-copy", "hashnews@best",
          "hashnews-copy@best")  # fmt: skip
FOUR = ("2020-blm", "2020-congress", "2021", "2023")  # results
MEASURED = ("2020-blm", "2020/blm-chronological")  # results, and their folder of work
# What costs as much as another: the same network with other contexts or weights.
SAME = {"hashnews-norank": "hashnews", "hashnews-norank-nolocal": "hashnews"}


def only(folder: Path, name: str) -> Path:
    """The one folder of a step."""
    (found,) = folder.glob(f"{name}.*")
    return found


def epoch(folder: Path, name: str, steps: int) -> dict[str, float]:
    """Seconds of the processor for one epoch of a model, and what they are made of."""
    model = TableModel.parse(name)
    posts = only(folder, "prepare") / "posts.jsonl"
    contexts = model.ranking and only(folder, f"retrieve-{model.ranking}") / "contexts.jsonl"
    config = TrainingConfig.model_validate(
        {"posts": posts, "contexts": contexts, "model": {"variant": model.variant}}
    )
    data = load_data(config)
    numberer = data.numberer
    network = GeneratorModel(config.model, len(numberer.source), len(numberer.hashtag)).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=config.rate, fused=True)
    order = batches(data.train, config.batch, 0, 0)
    spent = []
    for places in order[:: max(1, len(order) // (steps + 1))][: steps + 1]:
        start = time.process_time()
        batch = make_batch([data.train[place] for place in places])
        optimiser.zero_grad()
        (network(batch).sum() / len(batch.post_R)).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)
        optimiser.step()
        spent.append(time.process_time() - start)
    network.eval()
    looked = min(config.validation_posts, len(data.validation))
    some = data.validation[:POSTS]
    start = time.process_time()
    generate(TorchRuntime(network), numberer, some, 5)
    validation = (time.process_time() - start) / len(some) * looked
    step = statistics.mean(spent[1:])  # lengths differ from batch to batch
    return {
        "steps": len(order), "step": step, "validation": validation,
        "epoch": step * len(order) + validation,
    }  # fmt: skip


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("-o", "--out", type=Path, default=Path("results/reproduce/cost"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    file = given.out / "cost.json"
    known = json.loads(file.read_text("utf-8")) if file.exists() else {"sets": {}}
    for name in given.sets:
        costs = known["sets"].setdefault(name, {})
        for model in given.models.split(","):
            if model not in costs:
                costs[model] = epoch(given.work / name, model, given.steps)
                costs[model]["load"] = os.getloadavg()[0]
                print(name, model, costs[model], flush=True)
                write(given.out, known, given.epochs)
    write(given.out, known, given.epochs)


def by_posts(runs: Path, totals: dict) -> dict:
    """Hours of two cores for each set, by its training posts, and for all of them."""
    if MEASURED[1] not in totals:
        return {}
    posts = {
        name: json.loads((runs / name / "results.json").read_text("utf-8"))["dataset"]["posts"]
        for name in FOUR
    }
    found = {
        name: {"posts": parts["train"]}
        | {
            seeds: hours / 2 * parts["train"] / posts[MEASURED[0]]["train"]
            for seeds, hours in totals[MEASURED[1]].items()
        }
        for name, parts in posts.items()
    }
    keys = ("posts", "one seed", "three")
    return found | {"all": {key: sum(one[key] for one in found.values()) for key in keys}}


def write(out: Path, known: dict, epochs: int) -> None:
    """cost.json and README.md."""
    six = ("seq2seq", "seq2seq-copy", "hashnews", *SAME)
    totals = {}
    for name, costs in known["sets"].items():
        if set(MODELS) <= set(costs):
            paper = sum(costs[SAME.get(model, model)]["epoch"] for model in six)
            mends = costs["hashnews@best"]["epoch"] + costs["hashnews-copy@best"]["epoch"]
            hours = epochs / 3600
            totals[name] = {
                "one seed": (paper + mends) * hours,
                "three": 3 * (paper + mends) * hours,
            }
    known |= {"epochs": epochs, "hours": totals}
    known["by posts"] = by_posts(out.parent, totals)
    out.mkdir(parents=True, exist_ok=True)
    (out / "cost.json").write_text(json.dumps(known, indent=2) + "\n", "utf-8")
    lines = [
        "# What full size costs\n",
        "```sh\npython benchmarks/epochs.py WORK SET ...\n```\n",
        "Seconds of the processor for an epoch, one thread; load is that of the machine then.\n",
        "| set | model | steps | a step | validation | an epoch | load |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {model} | {c['steps']} | {c['step']:.2f} | {c['validation']:.0f} "
        f"| {c['epoch']:.0f} | {c['load']:.0f} |"
        for name, costs in known["sets"].items()
        for model, c in costs.items()
    ]
    lines += [
        f"\nHours of one core for the five generators of the paper and the two with the better"
        f" retriever's\ncontexts, {epochs} epochs each (LSTM-TOP is not in it):\n",
        "| set | one seed | three seeds |",
        "|---|--:|--:|",
    ]
    lines += [f"| {n} | {t['one seed']:.1f} | {t['three']:.1f} |" for n, t in totals.items()]
    lines += [
        "\nThe four sets, those that were not measured in proportion to their training posts; hours"
        " of two cores:\n",
        "| set | training posts | one seed | three seeds |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {n} | {t['posts']:,} | {t['one seed']:.0f} | {t['three']:.0f} |"
        for n, t in known["by posts"].items()
    ]
    (out / "README.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
