"""A source is asked by no more callers at once than its cap, over all processes; without Redis each keeps its part."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import anyio
import pytest

from shared.providers import places
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Reading, SeatsQuestion
from shared.providers.places import hold_place, share
from shared.redis import connect, key
from shared.slots import give_slot_back, take_slot
from tests.shared.providers.conftest import DAY, QUESTION
from tests.support.fake_seats import WithSources, source
from tests.support.service import wait_for

Act = Callable[[SeatsQuestion], object]
QUESTIONS = [dataclasses.replace(QUESTION, earliest=DAY + timedelta(days=n)) for n in range(12)]


class Counter:
    """How many callers are inside at the same moment, over all threads."""

    def __init__(self) -> None:
        self.most, self._running, self._lock = 0, 0, threading.Lock()

    async def act(self, _question: SeatsQuestion) -> tuple[()]:
        self._change(1)
        await anyio.sleep(0.05)
        self._change(-1)
        return ()

    def _change(self, by: int) -> None:
        with self._lock:
            self._running += by
            self.most = max(self.most, self._running)


def ask_all(questions: list[SeatsQuestion]) -> list[str | None]:
    """The reasons of the answers, on an event loop of its own, whose limiters are those of one process."""

    async def go() -> list[Reading[object]]:
        return await Ask().all("award_seats", questions)

    return [reading.reason for reading in anyio.run(go)]


def count_held(name: str) -> int:
    return int(connect().zcard(key("slots", name)))


@pytest.fixture
def sharing() -> Iterator[None]:
    """Two processes divide what there is."""
    share(2)
    yield
    share(1)


def test_two_processes_together_keep_to_the_cap(with_sources: WithSources) -> None:
    counter = Counter()
    with_sources(source("slow", counter.act, concurrency=3))
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(ask_all, (QUESTIONS[:6], QUESTIONS[6:])))
    assert answers == [["empty"] * 6] * 2
    assert counter.most == 3
    assert count_held("slow") == 0


def test_one_busy_process_may_use_the_whole_cap(with_sources: WithSources, sharing: None) -> None:
    counter = Counter()
    with_sources(source("slow", counter.act, concurrency=4))
    assert ask_all(QUESTIONS) == ["empty"] * 12
    assert counter.most == 4


def test_without_redis_each_process_keeps_to_its_part(
    with_sources: WithSources, sharing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter()
    monkeypatch.setattr(places, "take_slot", lambda *_: None)
    with_sources(source("slow", counter.act, concurrency=4))
    assert ask_all(QUESTIONS) == ["empty"] * 12
    assert counter.most == 2


def test_a_request_that_fails_gives_its_place_back(with_sources: WithSources) -> None:
    async def act(_question: SeatsQuestion) -> None:
        raise ValueError("not what was promised")

    with_sources(source("broken", act, concurrency=1))
    assert "busy" not in ask_all(QUESTIONS[:2])
    assert count_held("broken") == 0


def test_a_cancelled_request_gives_its_place_back(with_sources: WithSources) -> None:
    async def act(_question: SeatsQuestion) -> None:
        await anyio.sleep_forever()

    card = source("stuck", act)

    async def go() -> int:
        with anyio.move_on_after(0.2):
            await _hold_for_ever(card)
        return await anyio.to_thread.run_sync(count_held, "stuck")

    with_sources(card)
    assert anyio.run(go) == 0


async def _hold_for_ever(card: Provider) -> None:
    async with hold_place(card, 5) as has_place:
        assert has_place
        assert await anyio.to_thread.run_sync(count_held, card.name) == 1
        await anyio.sleep_forever()


def test_a_place_of_a_killed_process_is_free_again_when_its_time_is_over(clean: None) -> None:
    assert take_slot("source", 1, "killed", 0.2) is True
    assert take_slot("source", 1, "next", 60) is False
    wait_for("the end of the lease", lambda: take_slot("source", 1, "next", 60))
    assert take_slot("source", 1, "another", 60) is False
    give_slot_back("source", "next")
    assert take_slot("source", 1, "another", 60) is True
