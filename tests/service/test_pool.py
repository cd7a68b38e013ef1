"""The queue and the processes behind it, under load, death and change."""

import asyncio
import errno
import json
import os
import time
from contextlib import asynccontextmanager
from multiprocessing.context import ForkServerProcess

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import EmptyNewsProcess, SlowSuggestProcess

from hashnews.errors import HashNewsError
from hashnews.records import Post
from hashnews.service import pool as pool_module
from hashnews.service.app import create_app
from hashnews.service.metrics import Metrics
from hashnews.service.pool import Pool
from hashnews.service.queue import Ask, PostQueue, QueueFull
from hashnews.service.settings import ServiceSettings


def ask(text):
    return Ask(Post(id=text, text=text))


# ----- the queue -----


@given(st.lists(st.sampled_from(["suggest", "retrieve"]), max_size=30), st.integers(1, 8))
def test_batches_keep_the_order_and_the_kind(methods, most):
    async def work():
        queue = PostQueue(64, most)
        for number, method in enumerate(methods):
            await queue.put(method, [ask(str(number))])
        taken = []
        while len(queue):
            batch = await queue.take()
            assert len({job.method for job in batch}) == 1
            assert 1 <= len(batch) <= most
            taken += batch
        assert [(job.ask.post.id, job.method) for job in taken] == [
            (str(number), method) for number, method in enumerate(methods)
        ]

    asyncio.run(work())


def test_the_queue_is_bounded_and_takes_all_or_none():
    async def work():
        queue = PostQueue(10, 4)
        first = await queue.put("suggest", [ask(str(n)) for n in range(8)])
        with pytest.raises(QueueFull):
            await queue.put("suggest", [ask("a"), ask("b"), ask("c")])
        assert len(queue) == 8
        await queue.put("suggest", [ask("a"), ask("b")])
        for future in first:
            future.cancel()  # whoever asked has gone: there is room again
        await queue.put("suggest", [ask("c")])
        assert [job.ask.post.id for job in await queue.take()] == ["a", "c", "b"]  # in turn

    asyncio.run(work())


def test_whoever_waits_for_work_gets_it():
    async def work():
        queue = PostQueue(10, 4)
        takers = [asyncio.create_task(queue.take()) for _ in range(2)]
        await asyncio.sleep(0)
        await queue.put("suggest", [ask("a")])
        await asyncio.sleep(0.01)
        await queue.put("suggest", [ask("b")])
        batches = await asyncio.wait_for(asyncio.gather(*takers), 60)
        assert sorted(job.ask.post.id for (job,) in batches) == ["a", "b"]

    asyncio.run(work())


# ----- the pool -----


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch):
    monkeypatch.setattr(pool_module, "make_suggest_process", SlowSuggestProcess)
    monkeypatch.setattr(pool_module, "make_news_process", EmptyNewsProcess)
    monkeypatch.setattr(pool_module, "LOOKING_FOR_MODELS", 0.05)
    monkeypatch.setattr(pool_module, "AFTER_REFUSAL", 0.2)


@asynccontextmanager
async def running(**settings):
    pool = Pool(ServiceSettings(**settings), Metrics())
    transport = httpx.ASGITransport(create_app(pool))
    try:
        await pool.start()
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield pool, client
    finally:
        await pool.stop()


async def post(client, text="x"):
    began = time.monotonic()
    response = await client.post("/suggest", json={"text": text})
    return response, time.monotonic() - began


def test_load_makes_batches_and_overload_is_refused_at_once():
    async def work():
        async with running(queue=32, batch=8) as (_, client):
            alone, _ = await post(client)
            assert alone.json()["together"] == 1
            answers = await asyncio.gather(*(post(client, str(n)) for n in range(320)))
            done = [r for r, _ in answers if r.status_code == 200]
            refused = [r for r, _ in answers if r.status_code == 503]
            assert len(done) + len(refused) == 320
            assert 32 <= len(done) < 200
            assert max(r.json()["together"] for r in done) == 8
            for response in refused:
                assert response.headers["retry-after"] == "1"
                assert response.json()["error"]["code"] == "busy"
            after, _ = await post(client)
            assert after.status_code == 200

    asyncio.run(work())


def test_each_gets_its_own_answer():
    async def work():
        async with running(workers=2) as (_, client):
            answers = await asyncio.gather(*(post(client, str(n)) for n in range(60)))
            assert [r.json()["text"] for r, _ in answers] == [str(n) for n in range(60)]
            assert len({r.json()["pid"] for r, _ in answers}) == 2

    asyncio.run(work())


def test_a_process_that_dies_is_replaced():
    async def work():
        async with running() as (pool, client):
            response, _ = await post(client, "die")
            assert response.status_code == 503
            assert response.headers["retry-after"] == "1"
            for _ in range(200):
                response, _ = await post(client)
                if response.status_code == 200:
                    break
                await asyncio.sleep(0.05)
            assert response.json()["text"] == "x"
            assert b'restarts_total{process="suggest-1"} 1.0' in pool.metrics.text()

    asyncio.run(work())


def test_a_process_is_replaced_though_none_can_be_started_for_a_while(monkeypatch):
    """Where the system had no more files just then, its place stayed empty for good."""
    start, failed = ForkServerProcess.start, []

    def refused(self):
        if len(failed) < 2:
            failed.append(self)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        start(self)

    async def work():
        async with running() as (_, client):
            monkeypatch.setattr(pool_module, "PAUSES", (0.01,))
            monkeypatch.setattr(ForkServerProcess, "start", refused)
            response, _ = await post(client, "die")
            end = time.monotonic() + 60
            while response.status_code != 200 and time.monotonic() < end:
                await asyncio.sleep(0.05)
                response, _ = await post(client)
            assert (response.status_code, len(failed)) == (200, 2)

    asyncio.run(work())


def test_a_process_that_hangs_is_replaced_and_the_client_told_in_time():
    async def work():
        async with running(seconds=0.3) as (_, client):
            response, seconds = await post(client, "hang")
            assert response.status_code == 504
            assert response.json()["error"]["code"] == "too_slow"
            assert 0.3 <= seconds < 30  # it hangs for 60
            for _ in range(200):
                response, _ = await post(client)
                if response.status_code == 200:
                    return
                await asyncio.sleep(0.05)
            raise AssertionError(response.text)

    asyncio.run(work())


def write_model(directory, name):
    """As a model is saved: the manifest last, then one rename; a link shows which is current."""
    made = directory / f"model-{name}"
    made.mkdir()
    (made / "name").write_text(name)
    (made / "manifest.json").write_text(json.dumps({"name": name}))
    link = directory / f"next-{name}"
    link.symlink_to(made)
    os.replace(link, directory / "current")


def test_a_new_model_is_taken_over_without_a_dropped_request(tmp_path):
    async def work():
        write_model(tmp_path, "first")
        async with running(model=tmp_path / "current", workers=2) as (pool, client):
            answers, stop = [], False

            async def keep_asking():
                while not stop:
                    answers.append((await post(client))[0])

            asking = [asyncio.create_task(keep_asking()) for _ in range(8)]
            await asyncio.sleep(0.3)
            write_model(tmp_path, "second")
            until = time.monotonic() + 120
            while pool.model_sum != pool_module.model_sum(tmp_path / "current"):
                assert time.monotonic() < until
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)
            stop = True
            await asyncio.gather(*asking)
            assert {r.status_code for r in answers} == {200}
            models = [r.json()["model"] for r in answers]
            assert (models[0], models[-1]) == ("first", "second")
            assert set(models) == {"first", "second"}

            write_model(tmp_path, "broken")
            while b'models_total{outcome="refused"}' not in pool.metrics.text():
                assert time.monotonic() < until
                await asyncio.sleep(0.05)
            assert (await post(client))[0].json()["model"] == "second"
            write_model(tmp_path, "third")
            while (await post(client))[0].json()["model"] != "third":
                assert time.monotonic() < until
                await asyncio.sleep(0.05)

    asyncio.run(work())


def test_what_keeps_the_crew_from_starting_is_told(tmp_path):
    async def work():
        write_model(tmp_path, "broken")
        with pytest.raises(HashNewsError, match="this model is broken"):
            async with running(model=tmp_path / "current"):
                pass

    asyncio.run(work())


def test_a_client_that_sends_slowly_is_not_waited_for():
    async def slowly():
        yield b'{"text": '
        await asyncio.sleep(5)
        yield b'"x"}'

    async def work():
        async with running(seconds=0.3) as (_, client):
            kind = {"Content-Type": "application/json"}
            response = await client.post("/suggest", content=slowly(), headers=kind)
            assert response.status_code == 408
            assert response.json()["error"]["code"] == "too_slow"

    asyncio.run(work())


def test_a_batch_of_many_or_long_posts_does_not_hold_up_the_others():
    """32 dear posts of one client kept another waiting for more than ten seconds."""

    async def work():
        queue = PostQueue(64, 8)
        dear = [Ask(Post(id=f"dear{n}", text="x" * 10_000)) for n in range(32)]
        await queue.put("suggest", dear)
        await queue.put("suggest", [ask("cheap")])
        first, second = await queue.take(), await queue.take()
        assert [job.ask.post.id for job in first] == ["dear0"]
        assert [job.ask.post.id for job in second] == ["cheap"]
        assert sum([len(await queue.take()) for _ in range(31)]) == 31
        assert len(queue) == 0

    asyncio.run(work())


def test_a_dead_process_takes_no_work_and_what_it_had_goes_to_a_living_one(monkeypatch):
    """After a suggester's death its seat took a batch and held it until the restart."""
    monkeypatch.setattr(pool_module, "PAUSES", (30.0,))  # the restart takes its time

    async def work():
        async with running(workers=2) as (pool, client):
            dead = pool.slots[0].process
            os.kill(dead.pid, 9)
            began = time.monotonic()
            answers = await asyncio.gather(*(post(client, str(n)) for n in range(30)))
            assert {response.status_code for response, _ in answers} == {200}
            for _ in range(20):
                response, _ = await post(client)
                assert response.status_code == 200
            assert not pool.slots[0].alive.is_set()
            assert time.monotonic() - began < 25

    asyncio.run(work())


def test_a_post_that_kills_its_process_is_given_to_one_other_and_no_more():
    async def work():
        async with running(workers=3) as (pool, client):
            before = {slot.process.pid for slot in pool.slots}
            response, _ = await post(client, "die")
            assert response.status_code == 503
            assert sum(slot.process is not None and slot.process.pid in before
                       for slot in pool.slots) >= 1  # fmt: skip

    asyncio.run(work())
