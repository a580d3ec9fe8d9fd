"""A source is asked by no more callers at once than its cap, over all processes; without Redis each keeps its part."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import anyio
import pytest

from shared import provider_health
from shared.providers import places
from shared.providers.ask import Ask
from shared.providers.cache import build_key
from shared.providers.contract import Reading, SeatsQuestion
from shared.providers.places import hold_place, share, take_place
from shared.providers.request import ProviderRequest
from shared.redis import connect, key
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
    """The reasons of the answers, on its own event loop, whose limiters are those of one process."""

    async def go() -> list[Reading[object]]:
        return await Ask().all("award_seats", questions)

    return [reading.reason for reading in anyio.run(go)]


def count_held(name: str) -> int:
    return int(connect().zcard(key("places", name)))


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
    monkeypatch.setattr(places, "take_place", lambda _: None)
    with_sources(source("slow", counter.act, concurrency=4))
    assert ask_all(QUESTIONS) == ["empty"] * 12
    assert counter.most == 2


def test_a_request_that_fails_gives_its_place_back(with_sources: WithSources) -> None:
    async def act(_question: SeatsQuestion) -> None:
        raise ValueError("not what was promised")

    with_sources(source("broken", act, concurrency=1))
    assert "busy" not in ask_all(QUESTIONS[:2])
    assert count_held("broken") == 0


def test_a_cancelled_request_gives_its_place_back(live: None) -> None:
    async def go() -> int:
        with anyio.move_on_after(0.2):
            await _hold_for_ever(build_request())
        return await anyio.to_thread.run_sync(count_held, "source")

    assert anyio.run(go) == 0


async def _hold_for_ever(request: ProviderRequest) -> None:
    async with hold_place(request):
        assert await anyio.to_thread.run_sync(count_held, request.provider.name) == 1
        await anyio.sleep_forever()


def build_request(*, background: bool = False, timeout: float = 15, **more: Any) -> ProviderRequest:
    card = source("source", Counter().act, concurrency=1, timeout=timeout)
    cache_key = build_key(card, "anyone", "award_seats", QUESTION)
    return ProviderRequest(card, "award_seats", QUESTION, None, "anyone", cache_key, 1, background, **more)


def give_back(request: ProviderRequest) -> None:
    anyio.run(places._give_back, request)


def test_a_place_of_a_killed_process_is_free_again_when_its_time_is_over(
    live: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "GRACE_SECONDS", 0.1)
    assert take_place(build_request(timeout=0.1))
    following, another = build_request(), build_request()
    assert not take_place(following)
    wait_for("the end of the lease", lambda: take_place(following))
    assert not take_place(another)
    give_back(following)
    assert take_place(another)


def test_a_check_takes_no_place_while_people_wait_for_one(live: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PERSON_SECONDS", 60)
    holder, check, person = build_request(), build_request(background=True), build_request()
    assert [take_place(request) for request in (holder, check, person)] == [True, False, False]
    give_back(holder)
    assert [take_place(check), take_place(person)] == [False, True]


def test_checks_that_wait_in_a_process_do_not_keep_its_people_waiting(
    live: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PERSON_SECONDS", 60)
    holder, served, people = build_request(), list[str](), key("places", "source", "people")

    async def serve(request: ProviderRequest) -> None:
        async with hold_place(request):
            served.append("check" if request.background else "person")
            connect().delete(people)

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            for background in (True, True, False):
                tasks.start_soon(serve, build_request(background=background))
            while not connect().exists(people):
                await anyio.sleep(0.01)
            await places._give_back(holder)

    assert take_place(holder)
    anyio.run(go)
    assert served == ["person", "check", "check"]


def test_people_who_left_hold_up_checks_for_a_moment_alone(live: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PERSON_SECONDS", 0.2)
    holder, check = build_request(), build_request(background=True)
    assert [take_place(holder), take_place(build_request())] == [True, False]
    give_back(holder)
    wait_for("a place for the check", lambda: take_place(check))


def test_checks_alone_use_every_place(live: None) -> None:
    check, another = build_request(background=True), build_request(background=True)
    assert [take_place(check), take_place(another)] == [True, False]
    give_back(check)
    assert take_place(another)


@pytest.mark.parametrize("is_part", [False, True])
def test_a_check_is_hastened_by_a_person_who_waits_for_its_answer(
    live: None, monkeypatch: pytest.MonkeyPatch, is_part: bool
) -> None:
    """Also where the answer is one of several that the check asks for with one search."""
    monkeypatch.setattr(places, "PERSON_SECONDS", 60)
    holder, check = build_request(), build_request(background=True)
    asked = dataclasses.replace(check, number="group", parts=(build_request(background=True), check))
    request = asked if is_part else check
    assert [take_place(holder), take_place(build_request())] == [True, False]
    give_back(holder)
    assert not take_place(request)
    anyio.run(places.hurry, check.provider, check.ticket)
    assert take_place(request)


@pytest.mark.parametrize("has_redis", [True, False])
def test_who_gets_no_place_in_half_of_the_time_is_told_when_to_come_back(
    with_sources: WithSources, monkeypatch: pytest.MonkeyPatch, has_redis: bool
) -> None:
    """The two that are asked first are answered when the others have been told."""
    answers: list[tuple[str | None, int | None]] = []

    async def act(_question: SeatsQuestion) -> tuple[()]:
        while len(answers) < 3:
            await anyio.sleep(0.01)
        return ()

    async def ask(question: SeatsQuestion) -> None:
        reading = await Ask(budget=2).one("slow", "award_seats", question)
        answers.append((reading.reason, reading.retry_after))

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            for question in QUESTIONS[:5]:
                tasks.start_soon(ask, question)

    if not has_redis:
        monkeypatch.setattr(places, "take_place", lambda _: None)
    with_sources(source("slow", act, concurrency=2, timeout=7.5))
    anyio.run(go)
    assert answers == [("busy", 8)] * 3 + [("empty", None)] * 2
    assert count_held("slow") == 0
    assert provider_health.read_health(["slow:anyone"])["slow:anyone"].failures == 0
