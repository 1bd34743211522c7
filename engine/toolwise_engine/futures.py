"""Promises of results: made when a request is taken, settled by the worker, fetched by long polls.

A result is kept until it was fetched and a grace period has passed, so that a lost answer can be fetched again; what nobody fetches, and
what exceeds the memory limit, goes oldest first. All methods run in the HTTP thread, except `Futures.settle_from_worker`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolwise_engine.errors import user_error
from toolwise_engine.wire import encode

if TYPE_CHECKING:
    from toolwise_engine.worker import Sampling

GRACE_SECONDS = 60.0
UNFETCHED_SECONDS = 3600.0
MEMORY_LIMIT = 512 * 2**20


class Future:
    """One promise. `result` is the JSON that retrieve_future answers, once settled. `sampling`: what may be watched while it is made."""

    __slots__ = ("fetched_at", "id", "result", "sampling", "settled_at", "waiters")

    def __init__(self, id: str) -> None:
        self.id = id
        self.result: bytes | None = None
        self.sampling: Sampling | None = None
        self.waiters: list[asyncio.Future] = []
        self.settled_at = 0.0
        self.fetched_at = 0.0


class Futures:
    """All promises of this process, by id."""

    def __init__(self, loop: asyncio.AbstractEventLoop, memory_limit: int = MEMORY_LIMIT) -> None:
        self.loop = loop
        self.memory_limit = memory_limit
        self.memory = 0
        self._by_id: dict[str, Future] = {}
        self._settled: dict[str, Future] = {}
        self._prefix = secrets.token_hex(4)
        self._count = 0

    def create(self) -> Future:
        self._count += 1
        future = Future(f"{self._prefix}-{self._count}")
        self._by_id[future.id] = future
        return future

    def create_settled(self, value: object) -> Future:
        """A promise that is kept already."""
        future = self.create()
        self.settle([(future, encode(value))])
        return future

    def settle_from_worker(self, results: Iterable[tuple[Future, bytes]]) -> None:
        """Settle from another thread; nothing happens once the HTTP loop is gone."""
        try:
            self.loop.call_soon_threadsafe(self.settle, results)
        except RuntimeError:
            return

    def settle(self, results: Iterable[tuple[Future, bytes]]) -> None:
        now = time.monotonic()
        for future, result in results:
            if future.result is not None:
                continue
            future.result = result
            future.settled_at = now
            self._settled[future.id] = future
            self.memory += len(result)
            for waiter in future.waiters:
                if not waiter.done():
                    waiter.set_result(None)
            future.waiters.clear()

    def find(self, id: str) -> Future:
        """The promise of an id. 404 for an id never given out, 410 for a result that is no longer kept."""
        future = self._by_id.get(id)
        if future is not None:
            return future
        prefix, _, number = id.partition("-")
        if prefix == self._prefix and number.isdigit() and int(number) <= self._count:
            raise user_error(f"The result of request {id} is no longer kept.", 410)
        raise user_error(f"Request {id} is not known: this engine gave out no such id.", 404)

    async def wait(self, future: Future, seconds: float) -> bytes | None:
        """The result, or None when it is not there after `seconds`."""
        if future.result is None and seconds > 0:
            waiter = self.loop.create_future()
            future.waiters.append(waiter)
            timer = self.loop.call_later(seconds, _wake, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
                if future.result is None and waiter in future.waiters:
                    future.waiters.remove(waiter)
        if future.result is not None and not future.fetched_at:
            future.fetched_at = time.monotonic()
        return future.result

    def release_waiters(self) -> None:
        """Answer every open long poll now (the engine stops)."""
        for future in self._by_id.values():
            for waiter in future.waiters:
                _wake(waiter)

    def sweep(self, now: float | None = None) -> None:
        """Forget results that were fetched long enough ago, or that nobody came for, and the oldest ones over the memory limit."""
        now = time.monotonic() if now is None else now
        for future in list(self._settled.values()):
            if (future.fetched_at and now - future.fetched_at > GRACE_SECONDS) or now - future.settled_at > UNFETCHED_SECONDS:
                self._forget(future)
        if self.memory > self.memory_limit:
            for future in sorted(self._settled.values(), key=lambda f: (not f.fetched_at, f.fetched_at or f.settled_at)):
                if self.memory <= self.memory_limit:
                    break
                self._forget(future)

    def _forget(self, future: Future) -> None:
        self.memory -= len(future.result or b"")
        future.result = None  # Others may hold the promise itself, to recognise a repeated request.
        del self._settled[future.id]
        del self._by_id[future.id]


def _wake(waiter: asyncio.Future) -> None:
    if not waiter.done():
        waiter.set_result(None)
