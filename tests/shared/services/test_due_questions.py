"""Many watches over half a day: a fifth of the calls, the same answers, and no one is forgotten."""

from typing import Any

import anyio
import pytest

from tests.bench.watch_world import EVERY, START, World, count_apart, count_looks, draw_watches, list_gaps, standing_in
from tests.support.fake_seats import live  # noqa: F401 - a fixture used here too
from tests.support.paging_source import PagingSource

WATCHES = 220
pytestmark = [pytest.mark.usefixtures("live"), pytest.mark.slow]  # 440 checks, each as in service


def run_half_a_day(**more: Any) -> World:
    """The first six hours bring watches together; what they ask in the next six is counted."""
    world = World(draw_watches(WATCHES, airports=5), **more)

    async def go() -> None:
        await world.run_until(START + EVERY)
        world.source.searches.clear()
        await world.run_until(START + 2 * EVERY)

    with standing_in(world):
        anyio.run(go)
    return world


def test_watches_are_looked_at_as_often_by_a_fifth_of_the_calls_and_see_the_same() -> None:
    world = run_half_a_day()
    apart = count_apart(world, START).calls / 4
    assert world.source.calls <= apart / 5
    assert min(count_looks(world, START + EVERY)) >= 1
    assert max(list_gaps(world, START)) <= EVERY
    assert world.put_off == 0

    async def ask_alone(id: int) -> Any:
        async with PagingSource().card.build("key") as client:
            return await client.award_seats(world.question(world.watches[id]))

    async def compare() -> None:
        for id in range(0, WATCHES, 3):
            assert world.seen[id] == await ask_alone(id)

    with standing_in(world):
        anyio.run(compare)


def test_while_calls_are_short_nobody_waits_more_than_the_calls_explain() -> None:
    """Of 135 calls for checks half fall into half a day, and of these half into its second quarter."""
    world = run_half_a_day(calls_a_day=150)
    assert world.put_off > 0
    assert world.source.calls <= 135 / 4 + 1
    assert min(count_looks(world, START)) >= 1
