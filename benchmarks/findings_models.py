"""Findings about models and indexes that somebody changed, each as one question."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from findings_parts import Ended, added, run, run_apart, trending

import hashnews as package

PACKAGE = Path(str(package.__file__)).parent


def asked(folder: Path, seconds: float = 120) -> Ended:
    """A suggestion by the model of a folder, from the news of the sample."""
    if not (folder / "s.db").exists():
        run("news", "add", PACKAGE / "sample/news.jsonl", "--news", folder / "s.db")
    words = ("suggest", "Marching for George Floyd", "--at", "2020-06-01T20:00:00Z",
             "--news", folder / "s.db", "--model", folder / "models/best")  # fmt: skip
    return run_apart(*words, seconds=seconds)


def sealed_again(folder: Path) -> None:
    """Write the sums of all files of a model as they are now."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        manifest["files"][name] = {"bytes": len(content), "sha256": digest}
    manifest.pop("sum", None)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def changed(folder: Path, name: str, change: Callable[[Path], None]) -> None:
    """The shipped models, one of them changed and sealed again."""
    shutil.rmtree(folder / "models", ignore_errors=True)
    shutil.copytree(PACKAGE / "models", folder / "models")
    change(folder / "models" / name)
    sealed_again(folder / "models" / name)


def m13(folder: Path) -> bool:
    """A file that the seal does not cover is not read."""
    shutil.copytree(PACKAGE / "models", folder / "models")
    (folder / "models/best/blocked.txt").write_text("georgefloyd\n")
    return asked(folder).refused


def low_ranker(folder: Path) -> bool:
    """A ranker whose numbers lead astray is refused."""

    def arrays(**changes: Callable[[Any], Any]) -> Callable[[Path], None]:
        def change(place: Path) -> None:
            with np.load(place / "ranker.npz") as read:
                kept = dict(read)
            kept |= {name: new(kept[name]) for name, new in changes.items()}
            np.savez(place / "ranker.npz", **kept)

        return change

    for change in (
        arrays(steps=lambda old: old * 0 + (1 << 30)),
        arrays(threshold=lambda old: old * np.float32(np.nan)),
        arrays(probabilities=lambda old: old * 0 + 1.5),
        arrays(scores=lambda old: old[:0], probabilities=lambda old: old[:0]),
    ):
        changed(folder, "best", change)
        if not asked(folder).refused:
            return False
    return True


def low_bomb(folder: Path) -> bool:
    """A ranker of 3 GB is refused before it is unpacked."""

    def bomb(place: Path) -> None:
        with (
            zipfile.ZipFile(place / "ranker.npz", "w", zipfile.ZIP_DEFLATED) as packed,
            packed.open("roots.npy", "w", force_zip64=True) as stream,
        ):
            head = {"descr": "<i4", "fortran_order": False, "shape": (3 << 28,)}
            np.lib.format.write_array_header_1_0(stream, head)
            for _ in range(3 << 10):
                stream.write(bytes(1 << 20))

    changed(folder, "best", bomb)
    ended = asked(folder)
    return ended.refused and ended.megabytes < 1000


def low_settings(folder: Path) -> bool:
    """Settings out of range are refused."""

    def settings(**values: object) -> Callable[[Path], None]:
        def change(place: Path) -> None:
            config = json.loads((place / "config.json").read_text()) | values
            (place / "config.json").write_text(json.dumps(config))

        return change

    for values in ({"days": float("nan")}, {"days": 0}, {"days": -5}, {"beams": 10**9}):
        changed(folder, "best", settings(**values))
        if not asked(folder, seconds=60).refused:
            return False
    return True


def low_tagger(folder: Path) -> bool:
    """A damaged tagger, sealed again, is one line."""
    copy = folder / "hashnews"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("config.json", "tokenizer.json", "model.onnx"):
        shutil.rmtree(copy / "models/tagger")
        shutil.copytree(PACKAGE / "models/tagger", copy / "models/tagger")
        (copy / "models/tagger" / name).write_text("{}")
        sealed_again(copy / "models/tagger")
        words = ("entities", "Anna Ferrow in Paris", "--finder", "tagger")
        if not run_apart(*words, PYTHONPATH=str(folder)).refused:
            return False
    return True


def low_swapped(folder: Path) -> bool:
    """A generator with encoder and step swapped is refused."""

    def swap(place: Path) -> None:
        (place / "encoder.onnx").rename(place / "x")
        (place / "step.onnx").rename(place / "encoder.onnx")
        (place / "x").rename(place / "step.onnx")

    changed(folder, "generator", swap)
    return asked(folder).refused


def low_manifest(folder: Path) -> bool:
    """An index whose manifest has odd names, or lacks a part, ends nothing."""
    store = added(folder, count=12)
    whole = trending(store)
    place = folder / "news.db.index/manifest.json"
    kept = place.read_text()
    for part in (*json.loads(kept)["about"], "an odd name"):
        manifest = json.loads(kept)
        manifest.pop("sum", None)
        manifest["files"]["odd name"] = next(iter(manifest["files"].values()))
        if part in manifest["about"]:
            del manifest["files"]["odd name"], manifest["about"][part]
        place.write_text(json.dumps(manifest))
        if trending(store) != whole:
            return False
    return True


QUESTIONS = (
    m13, low_ranker, low_bomb, low_settings, low_tagger, low_swapped, low_manifest,
)  # fmt: skip
