"""A real model takes over from another while posts are being answered."""

import os
import shutil
import threading

import httpx
from servers import Server

from hashnews.suggest.model import Model, save_model, shipped_model

POST = {"text": "Marching in Minneapolis.", "created_at": "2020-05-29T20:00:00Z"}


def point(link, directory):
    """Show which model is current: one rename, as a careful operator would."""
    new = link.with_name("new")
    new.symlink_to(directory)
    os.replace(new, link)


def sources(answer):
    reasons = [reason for suggestion in answer["suggestions"] for reason in suggestion["because"]]
    return {reason["source"] for reason in reasons}


def test_a_model_without_a_generator_takes_over_from_one_with(sample_news, tmp_path):
    shipped = Model.load(shipped_model())
    shutil.copytree(shipped.directory, tmp_path / "first")
    shutil.copytree(shipped.generator, tmp_path / shipped.generator.name)
    alone = shipped.config.model_copy(update={"generator": None})
    save_model(tmp_path / "second", shipped.judges, alone, shipped.prior, "", {})
    point(tmp_path / "current", tmp_path / "first")
    answers = []
    with Server("--news", sample_news, "--model", tmp_path / "current", "--workers", 2) as server:

        def keep_asking():
            with httpx.Client(base_url=server.url, timeout=60) as client:
                while not done.is_set():
                    answers.append(client.post("/suggest", json=POST))

        done = threading.Event()
        asking = [threading.Thread(target=keep_asking) for _ in range(3)]
        for thread in asking:
            thread.start()
        try:
            point(tmp_path / "current", tmp_path / "second")
            server.event("model taken over")
        finally:
            done.set()
            for thread in asking:
                thread.join(60)
        last = server.client.post("/suggest", json=POST)
    assert {answer.status_code for answer in (*answers, last)} == {200}
    assert "generator" not in sources(last.json())
