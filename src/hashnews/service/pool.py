"""The pool of processes behind the service: started, given work, refreshed, replaced.

Each suggest process has a slot. A slot takes a micro-batch from the queue, gives it to its process
and returns the answers. Other uses of the process (a refresh, a replacement with a new model) wait
for the slot's lock, so no request is ever interrupted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hashnews.errors import HashNewsError
from hashnews.records import Post
from hashnews.saved import MANIFEST
from hashnews.service.logs import log, start_logging
from hashnews.service.metrics import Metrics
from hashnews.service.process import CallFailed, Process, ProcessDied
from hashnews.service.queue import Ask, Job, Method, PostQueue, QueueFull
from hashnews.service.schemas import Holdings
from hashnews.service.settings import ServiceSettings
from hashnews.suggest.language_model import LanguageModel

STARTING = 600.0  # seconds a process may take to begin: the first index of a large store
LOOKING = 0.2  # seconds between two looks for new articles
LOOKING_FOR_MODELS = 1.0
AFTER_REFUSAL = 10.0  # seconds until a model is tried again: it may still be on its way
PAUSES = (0.1, 1.0, 5.0, 30.0)  # seconds before a process that will not start is tried again
MOST_NEWS_CALLS = 32  # requests that may wait for the news process
WRITES = {"add", "add_posts", "delete_post"}  # calls of the news process that change the store
LOOKING_FOR_DUE = 2.0  # seconds between two looks for what is to be fetched
VISITING = 300.0  # seconds that one visit may take


def make_suggest_process(news: Path | None, model: Path | None) -> Any:
    """Made in the new process: the service itself never imports what is heavy."""
    from hashnews.service.suggest_process import SuggestProcess

    start_logging()
    return SuggestProcess(news, model)


def make_news_process(news: Path | None, writes: bool) -> Any:
    """Made in the new process, too."""
    from hashnews.service.news_process import NewsProcess

    start_logging()
    return NewsProcess(news, writes)


def make_feed_process(settings: ServiceSettings) -> Any:
    """Made in the new process, too."""
    from hashnews.service.feed_process import FeedProcess

    start_logging()
    return FeedProcess(settings)


def make_network_process(settings: ServiceSettings) -> Any:
    """Made in the new process, too."""
    from hashnews.service.network_process import NetworkProcess

    start_logging()
    return NetworkProcess(settings)


# What keeps the store growing under `serve --fetch`, each in a process of its own that answers
# `due()`, the names of what is to be visited now, and `visit(name)`, how that went.
FETCHERS: dict[str, Callable[[ServiceSettings], Any]] = {
    "feeds": make_feed_process,
    "networks": make_network_process,
}


class Slot:
    """A place for a process; the lock is held by whoever is talking to it."""

    def __init__(self, name: str):
        self.name = name
        self.lock = asyncio.Lock()
        self.process: Process | None = None
        self.alive = asyncio.Event()  # work is taken for it


class Pool:
    """All processes of a service."""

    def __init__(self, settings: ServiceSettings, metrics: Metrics):
        self.settings = settings
        self.metrics = metrics
        self.llm = language_model(settings)
        self.queue = PostQueue(settings.queue, settings.batch)
        self.slots = [Slot(f"suggest-{n}") for n in range(1, settings.workers + 1)]
        self.news_slot = Slot("news")
        self.fetch_slots = [Slot(name) for name in FETCHERS] if settings.fetch else []
        self.model_sum: str | None = None
        self.ready = False
        self.news = Holdings(0, None, None)
        self._news_calls = 0
        self._added = asyncio.Event()
        self._behind: list[Slot] = []  # those without the newest articles
        self._tasks: set[asyncio.Task[None]] = set()
        metrics.queued.set_function(lambda: len(self.queue))
        metrics.ready.set_function(lambda: sum(slot.process is not None for slot in self.slots))
        metrics.watch_memory(self._processes)

    # ----- asking -----

    async def ask(self, method: Method, asked: list[Ask]) -> list[bytes]:
        """The answers to posts, in order; raises `QueueFull` at once where too many wait."""
        futures = await self.queue.put(method, asked)
        try:
            return await asyncio.gather(*futures)
        finally:
            for future in futures:  # where one failed, or the client waits no longer
                future.cancel()

    async def proposed(self, posts: Sequence[Post]) -> list[tuple[str, ...]]:
        """What the language model proposes for posts; nothing where it does not answer in time."""
        if self.llm is None or self.llm.is_resting:
            return [() for _ in posts]
        told = await self.ask("headlines", [Ask(post) for post in posts])
        asked = [
            asyncio.wrap_future(self.llm.propose(post.text, json.loads(titles)))
            for post, titles in zip(posts, told, strict=True)
        ]
        await asyncio.wait(asked, timeout=self.llm.seconds)
        return [tuple(one.result()) if one.done() else () for one in asked]

    async def ask_news(self, method: str, *arguments: Any) -> Any:
        """The answer of the news process."""
        if self._news_calls >= MOST_NEWS_CALLS:
            raise QueueFull
        # The call goes on though the client may not wait for it.
        answer = await asyncio.shield(self._call_news(method, *arguments))
        if method in WRITES:
            self._added.set()
        return answer

    async def _call_news(self, method: str, *arguments: Any) -> Any:
        self._news_calls += 1
        try:
            return await self._call(self.news_slot, method, *arguments)
        finally:
            self._news_calls -= 1

    # ----- beginning and ending -----

    async def start(self) -> None:
        """Start all processes; raises what keeps them from starting."""
        self.model_sum = model_sum(self.settings.model)
        try:
            async with asyncio.TaskGroup() as group:
                for slot in self._all_slots():
                    group.create_task(self._occupy(slot))
            await self._look_for_news()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None  # the first; it ended the others
        self.ready = True
        self._begin(self._keep_looking())
        self._begin(self._keep_model())
        for slot in self.slots:
            self._begin(self._work(slot))
        for slot in self.fetch_slots:
            self._begin(self._keep_fetching(slot))

    def _all_slots(self) -> list[Slot]:
        return [self.news_slot, *self.slots, *self.fetch_slots]

    async def _occupy(self, slot: Slot) -> None:
        slot.process = await self._start(slot)
        slot.alive.set()

    async def stop(self) -> None:
        """End all processes, each after what it is doing."""
        self.ready = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.llm is not None:
            self.llm.close()
        held = [slot.process for slot in self._all_slots() if slot.process]
        await asyncio.gather(*(process.close() for process in held))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self, slot: Slot) -> Process:
        settings = self.settings
        if slot is self.news_slot:
            process = Process(make_news_process, settings.news, settings.writes)
        elif slot in self.fetch_slots:
            process = Process(FETCHERS[slot.name], settings)
        else:
            process = Process(make_suggest_process, settings.news, settings.model)
        try:
            await process.ready(STARTING)
        except BaseException:
            await process.kill()
            raise
        log("started", process=slot.name, pid=process.pid)
        return process

    async def _replace(self, slot: Slot, gone: Process, why: str) -> None:
        """Put a new process where one ended."""
        async with slot.lock:
            if slot.process is not gone:
                return  # somebody noticed before us
            log("replacing", level="error", process=slot.name, why=why)
            self.metrics.restarts.labels(slot.name).inc()
            slot.process = None
            await gone.kill()
            attempt = 0
            while slot.process is None:
                await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
                attempt += 1
                try:
                    slot.process = await self._start(slot)
                    slot.alive.set()
                except (HashNewsError, ProcessDied, CallFailed) as error:
                    log("cannot start", level="error", process=slot.name, why=str(error))

    # ----- at work -----

    async def _work(self, slot: Slot) -> None:
        while True:
            await slot.alive.wait()  # else it would hold back what others can do
            jobs = await self.queue.take()
            try:
                await self._do(slot, jobs)
            except asyncio.CancelledError:
                _fail(jobs, ProcessDied("the service stops"))
                raise

    async def _do(self, slot: Slot, jobs: list[Job]) -> None:
        self.metrics.batch.observe(len(jobs))
        try:
            results = await self._call(slot, jobs[0].method, [job.ask for job in jobs])
        except ProcessDied as error:
            others = any(other.alive.is_set() for other in self.slots if other is not slot)
            again = [job for job in jobs if others and not job.is_second]
            _fail([job for job in jobs if job not in again], error)
            await self.queue.put_back([job._replace(is_second=True) for job in again])
            return
        except (HashNewsError, CallFailed) as error:
            _fail(jobs, error)
            return
        for job, result in zip(jobs, results, strict=True):
            if not job.answer.done():
                if isinstance(result, bytes):
                    job.answer.set_result(result)
                else:
                    job.answer.set_exception(result)

    async def _call(
        self, slot: Slot, method: str, *arguments: Any, seconds: float | None = None
    ) -> Any:
        """Call the process of a slot; one that ended or hangs is replaced."""
        async with slot.lock:
            process = slot.process
            if process is None:
                raise ProcessDied(f"{slot.name} has not started")
            try:
                limit = seconds or 3 * self.settings.seconds
                return await process.call(method, *arguments, seconds=limit)
            except ProcessDied as error:
                slot.alive.clear()
                self._begin(self._replace(slot, process, str(error)))
                raise

    # ----- new articles -----

    async def _keep_looking(self) -> None:
        while True:
            with suppress(TimeoutError):  # other programs may add to the store, too
                await asyncio.wait_for(self._added.wait(), LOOKING)
            self._added.clear()
            try:
                await self._look_for_news()
            except (HashNewsError, ProcessDied, CallFailed) as error:
                log("cannot look for news", level="error", why=str(error))
                await asyncio.sleep(LOOKING_FOR_MODELS)

    async def _look_for_news(self) -> None:
        """Have what was added indexed, then refresh every suggest process."""
        # All days may have to be built again, after a `news reindex` by another program.
        found = await self._call(self.news_slot, "refresh", seconds=STARTING)
        if found is not None:
            self.news = found
            self.metrics.articles.set(found.articles)
            if found.newest is not None:
                self.metrics.newest.set(found.newest.timestamp())
            self._behind = list(self.slots) if self.ready else []
            log("took in news", articles=found.articles)
        while self._behind:  # one after the other: the others go on meanwhile
            await self._call(self._behind[0], "refresh")
            del self._behind[0]

    # ----- fetching -----

    async def _keep_fetching(self, slot: Slot) -> None:
        """Visit whatever is due, one after the other, for as long as the service runs."""
        while True:
            try:
                for name in await self._call(slot, "due"):
                    told = await self._call(slot, "visit", name, seconds=VISITING)
                    log("visited", process=slot.name, **told)
            except (HashNewsError, ProcessDied, CallFailed) as error:
                log("cannot fetch", level="error", process=slot.name, why=str(error))
            await asyncio.sleep(LOOKING_FOR_DUE)

    # ----- a new model -----

    async def _keep_model(self) -> None:
        while self.settings.model is not None:
            await asyncio.sleep(LOOKING_FOR_MODELS)
            found = await asyncio.to_thread(model_sum, self.settings.model)
            if found in (None, self.model_sum):
                continue
            try:
                await self._take_over(found)
            except (HashNewsError, ProcessDied, CallFailed) as error:
                self.metrics.models.labels("refused").inc()
                log("model refused", level="error", model=str(self.settings.model), why=str(error))
                await asyncio.sleep(AFTER_REFUSAL)

    async def _take_over(self, found: str | None) -> None:
        """One slot at a time: start a process with the new model, then swap it in."""
        for slot in self.slots:
            process = await self._start(slot)
            async with slot.lock:
                old, slot.process = slot.process, process
                slot.alive.set()
            self._behind.append(slot)  # articles may have come in while it started
            if old is not None:
                await old.close()
        self.model_sum = found
        self.metrics.models.labels("taken over").inc()
        log("model taken over", model=str(self.settings.model))

    def _processes(self) -> Iterator[tuple[str, int]]:
        for slot in self._all_slots():
            if slot.process is not None and slot.process.pid is not None:
                yield slot.name, slot.process.pid


def language_model(settings: ServiceSettings) -> LanguageModel | None:
    """The one that was set, if one was."""
    if settings.llm is None:
        return None
    seconds = min(settings.llm_seconds, settings.seconds / 2)
    return LanguageModel(settings.llm, settings.llm_model, settings.llm_key, seconds)


def _fail(jobs: list[Job], error: Exception) -> None:
    for job in jobs:
        if not job.answer.done():
            job.answer.set_exception(error)


def model_sum(directory: Path | None) -> str | None:
    """The checksum of a model's manifest, to see when the model changes; None without one."""
    if directory is None:
        return None
    try:
        return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None
