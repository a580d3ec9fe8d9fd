"""Pieces of many callers: worked on together, answered each, and none lost when another leaves."""

import asyncio
import threading
from collections.abc import Sequence

import anyio
import pytest

from shared.limits.concurrency import Batcher

pytestmark = pytest.mark.anyio


class Work:
    """Doubles numbers in batches it remembers; waits while its door is shut; chokes on a batch with zero in it."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.door = threading.Event()
        self.door.set()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        assert self.door.wait(10)
        if 0 in numbers:
            raise ZeroDivisionError
        return [2 * number for number in numbers]


@pytest.fixture
def work() -> Work:
    return Work()


async def until_it_works(work: Work, batches: int = 1) -> None:
    while len(work.batches) < batches:
        await anyio.sleep(0.001)


async def test_who_comes_alone_is_served_alone_and_at_once(work: Work) -> None:
    doubled = Batcher(work)
    assert [await doubled(1), await doubled(2)] == [2, 4]
    assert work.batches == [[1], [2]]


async def test_who_comes_while_others_are_served_makes_the_next_batch(work: Work) -> None:
    work.door.clear()
    doubled = Batcher(work)
    first = asyncio.create_task(doubled(1))
    await until_it_works(work)
    others = [asyncio.create_task(doubled(n)) for n in (2, 3, 4)]
    await anyio.sleep(0)
    work.door.set()
    assert [await first, *[await other for other in others]] == [2, 4, 6, 8]
    assert work.batches == [[1], [2, 3, 4]]


async def test_a_batch_that_fails_tells_all_of_it_and_nobody_else(work: Work) -> None:
    work.door.clear()
    doubled = Batcher(work)
    first = asyncio.create_task(doubled(1))
    await until_it_works(work)
    others = [asyncio.create_task(doubled(n)) for n in (5, 0)]
    await anyio.sleep(0)
    work.door.set()
    results = await asyncio.gather(first, *others, return_exceptions=True)
    assert [type(result) for result in results] == [int, ZeroDivisionError, ZeroDivisionError]
    assert await doubled(7) == 14


async def test_who_is_cancelled_leaves_and_the_others_are_served(work: Work) -> None:
    work.door.clear()
    doubled = Batcher(work)
    with anyio.move_on_after(0.01) as gone:
        await doubled(1)
    assert gone.cancelled_caught
    other = asyncio.create_task(doubled(2))
    await anyio.sleep(0)
    work.door.set()
    assert await other == 4
    assert work.batches == [[1], [2]]


def test_each_event_loop_has_its_own_callers(work: Work) -> None:
    doubled = Batcher(work)
    assert [anyio.run(doubled, 1), anyio.run(doubled, 2)] == [2, 4]
