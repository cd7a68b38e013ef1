"""Several sources followed at once: a thread reads each of them, one thread writes.

What a source brings and its cursor are stored in one transaction, so a follower may be killed at
any moment: the next one resumes where this one was, and nothing is missing or doubled.
"""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from hashnews.errors import BlockedAddress, FetchError, HashNewsError, MissingExtra, StoreError
from hashnews.news.store import NewsStore
from hashnews.posts.networks.address import SourceAddress, parse_source
from hashnews.posts.networks.events import Arrival, FollowSettings, Places, Wrote
from hashnews.posts.networks.follows import Follows, Told, places_between
from hashnews.posts.networks.mastodon import MastodonSource
from hashnews.posts.networks.repository import AuthorSource, TagSource
from hashnews.posts.networks.rest import Stopped, seconds_until
from hashnews.posts.networks.sources import (
    FollowedSource,
    SourceState,
    add_source,
    begin_source,
    own_accounts,
    source_states,
)
from hashnews.posts.networks.streams import StreamSource
from hashnews.prepare.preparer import Preparer
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

QUEUED = 16  # arrivals that wait to be written
GATHER = 0.2  # seconds of arrivals in one transaction
AT_ONCE = 5000  # events, about, in one transaction
ALIVE = 10.0  # seconds between two signs of life
TIDY = 60.0  # seconds between two looks for what is too old
STEADY = 60.0  # seconds after which a connection counts as a good one
TRIES = 3  # to write, while another program holds the store
REFUSALS = (401, 403, 404, 410, 422)  # what waiting does not change
ENDING = 10.0  # seconds for threads to end


class Followed(Protocol):
    """What brings arrivals."""

    def arrivals(self, cursor: str | None) -> Iterator[Arrival]:
        """What happens from the cursor on; without end."""

    def interrupt(self) -> None:
        """End what is under way, from another thread."""

    def close(self) -> None:
        """Close all connections."""


class Follower:
    """Follows sources until it is stopped: by these settings, or each as the store keeps it."""

    def __init__(
        self,
        store: str | Path,
        sources: Sequence[str],
        settings: FollowSettings,
        as_kept: bool = False,
    ):
        self.path = Path(store)
        self._as_kept = as_kept
        self.problem: HashNewsError | None = None  # why it ended by itself
        self._settings = settings
        self._addresses = [
            parse_source(text, settings.allow_private) for text in dict.fromkeys(sources)
        ]
        self._queue: queue.Queue[Told] = queue.Queue(QUEUED)
        self._threads: list[threading.Thread] = []
        self._open: dict[int, Followed] = {}
        self._stops: dict[int, threading.Event] = {}
        self._states: dict[int, str] = {}
        self._ended = threading.Event()
        self._latest = math.inf  # by time.monotonic(): when all must be over

    def start(self) -> None:
        """Begin; returns at once."""
        store = NewsStore(self.path, "write")
        try:
            for address in () if self._as_kept else self._addresses:
                add_source(store, address.text, self._settings)
            settings = replace(self._settings, accounts=own_accounts(store))
            begun = [
                (address, begin_source(store, address.text, settings))
                for address in self._addresses
            ]
            preparer = Preparer(shipped_segmenter(), load_finder("fast"))
            sources = [source for _, source in begun]
            follows = Follows(store, preparer, sources, settings.accounts)
        except BaseException:
            store.close()
            raise
        for address, source in begun:
            self._stops[source.number] = threading.Event()
            self._states[source.number] = "connecting"
            thread = threading.Thread(target=self._follow, args=(address, source), daemon=True)
            self._threads.append(thread)
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._write, args=(store, follows), daemon=True).start()

    def stop(self) -> None:
        """End; what was brought so far is stored."""
        for number in self._stops:
            self._end(number)
        self._latest = time.monotonic() + ENDING
        self._ended.wait()

    def _end(self, number: int) -> None:
        """Follow one source no more."""
        self._stops[number].set()
        if number in self._open:
            self._open[number].interrupt()

    def wait(self, seconds: float) -> bool:
        """Wait; returns whether it has ended by itself: `problem` says why."""
        return self._ended.wait(seconds)  # not `join`: Ctrl-C would break it in Python 3.11

    def state(self) -> list[SourceState]:
        """How the sources fare that this one follows."""
        ours = {address.text for address in self._addresses}
        with NewsStore(self.path) as store:
            return [state for state in source_states(store) if state.address in ours]

    # ----- reading: a thread per source -----

    def _follow(self, address: SourceAddress, followed: FollowedSource) -> None:
        """Follow one source, again and again where it breaks off."""
        number, cursor, stop = (
            followed.number,
            followed.cursor or None,
            self._stops[followed.number],
        )
        source = self._open[number] = self._source(address, followed, stop)
        failures, worked = 0, cursor is not None
        state, note = "stopped", ""
        while not stop.is_set() and state != "failed":
            began = time.monotonic()
            try:
                for arrival in source.arrivals(cursor):
                    worked = True
                    if arrival.events or time.monotonic() - began > STEADY:
                        failures = 0
                    self._tell(number, arrival, "following")
                    if arrival.cursor is not None:
                        cursor = arrival.cursor or None
                    if stop.is_set():
                        break
            except Stopped:
                break
            except FetchError as error:
                failures += 1
                refused = isinstance(error, BlockedAddress) or error.status in REFUSALS
                if refused and not worked:
                    state, note = "failed", str(error)
                else:
                    self._pause(number, failures, str(error), error.retry_after)
            except MissingExtra as error:
                state, note = "failed", str(error)
            except Exception as error:  # whatever a server does to a reader, it is told
                failures += 1
                self._pause(number, failures, f"could not be read ({type(error).__name__})", None)
        source.close()
        self._tell(number, Arrival(note=note), state)

    def _source(
        self, address: SourceAddress, followed: FollowedSource, stop: threading.Event
    ) -> Followed:
        stored: Places = partial(self._stored, followed.number)
        if address.kind in ("jetstream", "firehose"):
            return StreamSource(address, followed.settings, stop)
        if address.network == "mastodon":
            return MastodonSource(address, followed.settings, stop, stored)
        kind = AuthorSource if address.kind == "account" else TagSource
        return kind(address, followed.settings, stop, stored)

    def _stored(self, number: int, first: str, last: str) -> list[str]:
        with NewsStore(self.path) as store:
            return places_between(store, number, first, last)

    def _pause(self, number: int, failures: int, note: str, asked: str | None) -> None:
        """Wait twice as long with each failure in a row, or as long as the server asks for."""
        self._tell(number, Arrival(note=note), "waiting")
        longest = self._settings.longest_wait
        wait = min(longest, self._settings.first_wait * 2 ** min(failures - 1, 20))
        wait *= random.uniform(0.5, 1.0)  # so that not all come back at once
        self._stops[number].wait(max(wait, seconds_until(asked or "") or 0.0))

    def _tell(self, number: int, arrival: Arrival, state: str) -> None:
        changed = self._states.get(number) != state
        self._states[number] = state
        quiet = not (arrival.events or arrival.note or arrival.refused)
        if quiet and arrival.cursor is None and not changed:
            return None
        while not self._ended.is_set():
            try:
                return self._queue.put(Told(number, arrival, state), timeout=0.5)
            except queue.Full:
                continue
        return None

    # ----- writing: one thread -----

    def _write(self, store: NewsStore, follows: Follows) -> None:
        rates = {number: _Rate() for number in self._states}
        alive = tidy = 0.0
        try:
            while True:
                told = self._take()
                now = time.monotonic()
                if now - alive > ALIVE:
                    alive = now
                    told += [Told(n, Arrival(), state) for n, state in self._states.items()]
                told = [one._replace(rate=_rate(rates, one, now)) for one in told]
                if told:
                    _try_to(partial(follows.settle, told))
                    for number in follows.ended:
                        self._end(number)
                if now - tidy > TIDY:
                    tidy = now
                    _try_to(follows.forget_old)
                if self._is_over() and self._queue.empty():
                    return
        except HashNewsError as error:
            self.problem = error
        except Exception as error:
            self.problem = HashNewsError(f"following broke off: {type(error).__name__}: {error}")
        finally:
            for stop in self._stops.values():
                stop.set()
            store.close()
            self._ended.set()

    def _is_over(self) -> bool:
        """Whether no source goes on: they were stopped, or all have failed."""
        alive = any(thread.is_alive() for thread in self._threads)
        return (bool(self._threads) and not alive) or time.monotonic() > self._latest

    def _take(self) -> list[Told]:
        """What sources told within a moment."""
        taken: list[Told] = []
        end, size = time.monotonic() + GATHER, 0
        try:
            taken.append(self._queue.get(timeout=GATHER))
            while size < AT_ONCE and (left := end - time.monotonic()) > 0:
                size += len(taken[-1].arrival.events)
                taken.append(self._queue.get(timeout=left))
        except queue.Empty:
            pass
        return taken


class _Rate:
    """Posts per second in the last minute."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()
        self._began = time.monotonic()

    def add(self, now: float, count: int) -> float:
        self._counts.append((now, count))
        while self._counts[0][0] < now - 60:
            self._counts.popleft()
        return sum(count for _, count in self._counts) / min(60.0, max(now - self._began, 1.0))


def _rate(rates: dict[int, _Rate], one: Told, now: float) -> float:
    posts = sum(isinstance(event, Wrote) for event in one.arrival.events)
    return rates.setdefault(one.source, _Rate()).add(now, posts)


def _try_to(write: Callable[[], int]) -> None:
    """Write; where another program holds the store for long, try again."""
    for attempt in range(TRIES):
        try:
            write()
        except StoreError:
            if attempt == TRIES - 1:
                raise
        else:
            return
