"""The queue of posts: bounded, emptied in micro-batches.

A batch is whatever waits when a process becomes free. So there is no artificial delay: a single
client gets batches of one, and under load batches grow by themselves. Who asks for many posts at
once, or for long ones, does not hold up the others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Literal, NamedTuple

from hashnews.records import Post

BATCH_CHARACTERS = 4_000  # of posts that are answered together, unless one alone has more
Method = Literal["suggest", "retrieve", "headlines"]


class Ask(NamedTuple):
    """A post, and how many suggestions of which score are wanted."""

    post: Post
    n: int = 5
    min_score: float = 0.0
    proposed: tuple[str, ...] = ()  # hashtags that a language model thought of


class QueueFull(Exception):
    """So many wait already that more would only wait in vain."""


class Job(NamedTuple):
    """One post to be worked on; whoever asked awaits the future, or has gone and cancelled it."""

    method: Method
    ask: Ask
    answer: asyncio.Future[bytes]
    is_second: bool = False  # the process that had it first died


class PostQueue:
    """Requests take turns, a post each; a batch is of one kind, and smaller if posts are long."""

    def __init__(self, limit: int, batch: int):
        self.limit = limit
        self._batch = batch
        self._requests: deque[deque[Job]] = deque()
        self._arrived = asyncio.Condition()

    def __len__(self) -> int:
        return sum(map(len, self._requests))

    async def put(self, method: Method, asked: Sequence[Ask]) -> list[asyncio.Future[bytes]]:
        """Queue all or, where there is no room, none."""
        if len(self) + len(asked) > self.limit:
            self._forget_the_gone()
        if len(self) + len(asked) > self.limit:
            raise QueueFull
        loop = asyncio.get_running_loop()
        jobs = deque(Job(method, ask, loop.create_future()) for ask in asked)
        answers = [job.answer for job in jobs]
        self._requests.append(jobs)
        async with self._arrived:
            self._arrived.notify(len(answers))
        return answers

    async def put_back(self, jobs: Sequence[Job]) -> None:
        """Put jobs first that somebody took and could not do."""
        self._requests.extendleft(deque([job]) for job in reversed(jobs))
        async with self._arrived:
            self._arrived.notify(len(jobs))

    async def take(self) -> list[Job]:
        """The next batch: at least one job, all of one method."""
        async with self._arrived:
            while True:
                self._forget_the_gone()
                if self._requests:
                    break
                await self._arrived.wait()
            method = self._requests[0][0].method
            taken: list[Job] = []
            characters = 0
            while self._requests and len(taken) < self._batch:
                job = self._requests[0][0]
                characters += len(job.ask.post.text)
                if job.method != method or (taken and characters > BATCH_CHARACTERS):
                    break
                taken.append(self._requests[0].popleft())
                if self._requests[0]:
                    self._requests.rotate(-1)  # its next post after everybody else's
                else:
                    self._requests.popleft()
            return taken

    def _forget_the_gone(self) -> None:
        if any(job.answer.done() for jobs in self._requests for job in jobs):
            left = (deque(job for job in jobs if not job.answer.done()) for jobs in self._requests)
            self._requests = deque(jobs for jobs in left if jobs)
