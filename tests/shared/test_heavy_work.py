"""Work that takes the processor: a few at once, one of an account, and no one waits long for a place."""

import threading
from collections import Counter

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import Busy
from shared.limits import heavy_work
from shared.limits.heavy_work import AT_ONCE, run_heavy, take_place
from shared.telemetry.call_context import label_work


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_work, "WAIT_SECONDS", 0.05)


async def work_of(account: str, running: Counter[str], most: dict[str, int], steps: int = 2) -> str:
    """Holds a place for some turns of the event loop, and notes how many there were at once."""
    with label_work("x", account):
        try:
            async with take_place():
                running[account] += 1
                most["all"] = max(most["all"], running.total())
                most["one"] = max(most["one"], *running.values())
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                running[account] -= 1
        except Busy:
            return "busy"
    return "done"


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(9, 12)), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_a_few_pieces_of_work_run_at_once_and_one_of_each_account(callers: list[tuple[str, int]]) -> None:
    running, most, ends = Counter[str](), {"all": 0, "one": 0}, list[str]()

    async def call(account: str, steps: int) -> None:
        ends.append(await work_of(account, running, most, steps))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for account, steps in callers:
                tasks.start_soon(call, account, steps)

    anyio.run(all_at_once)
    assert (most["one"], most["all"]) == (1, min(AT_ONCE, len({account for account, _ in callers})))
    assert ends == ["done"] * len(callers)


@pytest.mark.parametrize("others", [["a"], [str(n) for n in range(AT_ONCE)]])
@pytest.mark.usefixtures("impatient")
def test_who_waits_too_long_is_told_when_to_come_again(others: list[str]) -> None:
    """For another call of the same account, or for all places."""
    end = threading.Event()

    async def hold(account: str) -> None:
        with label_work("x", account):
            await run_heavy(end.wait, 20)

    async def scene() -> Busy:
        async with anyio.create_task_group() as tasks:
            for account in others:
                tasks.start_soon(hold, account)
            await anyio.wait_all_tasks_blocked()
            try:
                with label_work("x", "a"), pytest.raises(Busy) as busy:
                    await run_heavy(int)
            finally:
                end.set()
        with label_work("x", "a"):
            assert await run_heavy(int) == 0  # the places are free again
        return busy.value

    busy = anyio.run(scene)
    assert busy.facts == {"retry_after": heavy_work.RETRY_SECONDS}


def test_a_piece_of_work_that_fails_gives_its_place_back() -> None:
    async def scene() -> None:
        for _ in range(AT_ONCE + 1):
            with pytest.raises(ValueError, match="invalid literal"):
                await run_heavy(int, "x")

    anyio.run(scene)
