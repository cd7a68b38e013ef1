"""The queue of posts: bounded, emptied in micro-batches.

A batch is whatever waits when a process becomes free. So there is no artificial delay: a single
client gets batches of one, and under load batches grow by themselves.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Literal, NamedTuple

from hashnews.records import Post

Method = Literal["suggest", "retrieve"]


class Ask(NamedTuple):
    """A post, and how many suggestions of which score are wanted."""

    post: Post
    n: int = 5
    min_score: float = 0.0


class QueueFull(Exception):
    """So many wait already that more would only wait in vain."""


class Job(NamedTuple):
    """One post to be worked on; whoever asked awaits the future, or has gone and cancelled it."""

    method: Method
    ask: Ask
    answer: asyncio.Future[bytes]


class PostQueue:
    """First come, first served, in batches of one kind."""

    def __init__(self, limit: int, batch: int):
        self.limit = limit
        self._batch = batch
        self._jobs: deque[Job] = deque()
        self._arrived = asyncio.Condition()

    def __len__(self) -> int:
        return len(self._jobs)

    async def put(self, method: Method, asked: Sequence[Ask]) -> list[asyncio.Future[bytes]]:
        """Queue all or, where there is no room, none."""
        if len(self._jobs) + len(asked) > self.limit:
            self._forget_the_gone()
        if len(self._jobs) + len(asked) > self.limit:
            raise QueueFull
        loop = asyncio.get_running_loop()
        jobs = [Job(method, ask, loop.create_future()) for ask in asked]
        self._jobs.extend(jobs)
        async with self._arrived:
            self._arrived.notify(len(jobs))
        return [job.answer for job in jobs]

    async def take(self) -> list[Job]:
        """The next batch: at least one job, all of one method."""
        async with self._arrived:
            while True:
                self._forget_the_gone()
                if self._jobs:
                    break
                await self._arrived.wait()
            method = self._jobs[0].method
            taken: list[Job] = []
            while self._jobs and len(taken) < self._batch and self._jobs[0].method == method:
                taken.append(self._jobs.popleft())
            return taken

    def _forget_the_gone(self) -> None:
        if any(job.answer.done() for job in self._jobs):
            self._jobs = deque(job for job in self._jobs if not job.answer.done())
