"""Results wait for whoever fetches them, and not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from toolwise_engine.errors import EngineError
from toolwise_engine.futures import GRACE_SECONDS, UNFETCHED_SECONDS, Futures


def in_loop(test: Callable[[Futures], Awaitable[None]], memory_limit: int = 1000) -> None:
    async def run() -> None:
        await test(Futures(asyncio.get_running_loop(), memory_limit))

    asyncio.run(run())


def status_of(futures: Futures, id: str) -> int:
    with pytest.raises(EngineError) as caught:
        futures.find(id)
    return caught.value.status


def test_a_poll_ends_when_the_result_comes_and_fetching_twice_gives_the_same() -> None:
    async def test(futures: Futures) -> None:
        future = futures.create()
        poll = asyncio.create_task(futures.wait(future, 30))
        await asyncio.sleep(0)
        futures.settle([(future, b"1")])
        assert await poll == b"1"
        assert await futures.wait(futures.find(future.id), 30) == b"1"
        assert future.waiters == []

    in_loop(test)


def test_a_poll_without_a_result_ends_empty_and_leaves_no_waiter() -> None:
    async def test(futures: Futures) -> None:
        future = futures.create()
        assert await futures.wait(future, 0.01) is None
        assert future.waiters == []

    in_loop(test)


def test_the_worker_settles_from_its_own_thread() -> None:
    async def test(futures: Futures) -> None:
        future = futures.create()
        await asyncio.to_thread(futures.settle_from_worker, [(future, b"2")])
        assert await futures.wait(future, 30) == b"2"

    in_loop(test)


def test_the_first_result_stays() -> None:
    async def test(futures: Futures) -> None:
        future = futures.create()
        futures.settle([(future, b"1"), (future, b"2")])
        assert await futures.wait(future, 0) == b"1"
        assert futures.memory == 1

    in_loop(test)


def test_a_fetched_result_is_kept_for_a_while_and_then_gone() -> None:
    async def test(futures: Futures) -> None:
        future = futures.create_settled({})
        await futures.wait(future, 0)
        futures.sweep(future.fetched_at + GRACE_SECONDS - 1)
        assert futures.find(future.id) is future
        futures.sweep(future.fetched_at + GRACE_SECONDS + 1)
        assert status_of(futures, future.id) == 410
        assert futures.memory == 0

    in_loop(test)


def test_a_result_that_nobody_fetches_is_kept_for_longer() -> None:
    async def test(futures: Futures) -> None:
        future, open_one = futures.create_settled({}), futures.create()
        futures.sweep(future.settled_at + UNFETCHED_SECONDS - 1)
        assert futures.find(future.id) is future
        futures.sweep(future.settled_at + UNFETCHED_SECONDS + 1)
        assert status_of(futures, future.id) == 410
        assert futures.find(open_one.id) is open_one

    in_loop(test)


def test_over_the_memory_limit_fetched_results_go_first() -> None:
    async def test(futures: Futures) -> None:
        first, second, third = (futures.create() for _ in range(3))
        futures.settle([(future, b"x" * 400) for future in (first, second, third)])
        await futures.wait(second, 0)
        futures.sweep()
        assert status_of(futures, second.id) == 410
        assert futures.find(first.id) is first and futures.find(third.id) is third

    in_loop(test)


@pytest.mark.parametrize("id", ["1", "abc-1", "abc-x", "-", "../x"])
def test_an_id_never_given_out_is_unknown(id: str) -> None:
    async def test(futures: Futures) -> None:
        assert status_of(futures, id) == 404

    in_loop(test)


def test_an_id_of_the_future_is_unknown() -> None:
    async def test(futures: Futures) -> None:
        prefix = futures.create().id.split("-")[0]
        assert status_of(futures, f"{prefix}-2") == 404

    in_loop(test)
