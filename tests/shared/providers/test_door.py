"""The door itself: cache, breaker, cap, budget and credentials between a question and a provider."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest
import respx

from shared import provider_health
from shared.providers import cache
from shared.providers.ask import Ask
from shared.providers.contract import Reading, SeatsQuestion
from shared.redis import connect
from tests.shared.providers.conftest import DAY, QUESTION, ROW, Asking
from tests.support.fake_seats import WithSources, seat, source, together
from tests.support.settings_and_clock import StandingClock

DOWN = httpx.Response(500)


def every(*questions: SeatsQuestion, **more: Any) -> list[Reading[Any]]:
    async def go() -> list[Reading[Any]]:
        return await Ask(1, **more).all("award_seats", questions or (QUESTION,))

    return anyio.run(go)


async def nothing(_question: SeatsQuestion) -> tuple[()]:
    return ()


# cache


@pytest.mark.spec("s1.5.cached_is_marked")
def test_a_second_question_is_answered_from_the_cache_and_says_so(wire: respx.Route, ask: Asking) -> None:
    first, second = ask(), ask()
    assert wire.call_count == 1
    assert (first.cached, second.cached) == (False, True)
    assert (second.value, second.taken_at, second.provider_checked_at) == (
        first.value,
        first.taken_at,
        first.provider_checked_at,
    )


@pytest.mark.spec("s1.5.cache_four_hours")
def test_nothing_is_replayed_after_four_hours_whatever_the_provider_allows(
    wire: respx.Route, ask: Asking, standing_clock: StandingClock
) -> None:
    first = ask()
    assert first.good_until == first.taken_at + timedelta(hours=4)
    (name,) = connect().keys("*:reading:*")
    assert 4 * 3600 - 60 < connect().ttl(name) <= 4 * 3600
    standing_clock.advance(timedelta(hours=4, seconds=1))
    assert ask().cached is False


@pytest.mark.spec("s1.5.most_queries_live")
def test_whoever_wants_a_newer_answer_gets_one(wire: respx.Route, ask: Asking, standing_clock: StandingClock) -> None:
    ask()
    standing_clock.advance(timedelta(minutes=10))
    assert ask(max_age=timedelta(minutes=30)).cached is True
    assert ask(max_age=timedelta(minutes=5)).cached is False


def test_an_empty_answer_is_kept_and_a_failure_is_not(wire: respx.Route, ask: Asking) -> None:
    wire.mock(return_value=DOWN)
    ask()
    wire.mock(return_value=httpx.Response(200, json={"data": []}))
    assert (ask().cached, ask().cached) == (False, True)


def test_what_one_account_saw_with_its_connection_is_not_shown_to_another(with_sources: WithSources) -> None:
    asked: list[str] = []

    async def act(_question: SeatsQuestion) -> tuple[()]:
        asked.append("asked")
        return ()

    async def connection(_provider: str) -> str:
        return "token"

    with_sources(source("own", act, credential="account", terms="asker"))

    async def go(account_id: int) -> bool:
        (reading,) = await Ask(account_id, connections=connection).all("award_seats", [QUESTION])
        return reading.cached

    assert [anyio.run(go, 1), anyio.run(go, 1), anyio.run(go, 2)] == [False, True, False]
    assert len(asked) == 2


def test_a_source_open_to_anyone_is_asked_once_for_all(with_sources: WithSources) -> None:
    with_sources(source("open", nothing, terms="anyone"))
    assert [every()[0].cached, every()[0].cached] == [False, True]


def test_a_kept_answer_of_another_shape_is_asked_for_again(wire: respx.Route, ask: Asking) -> None:
    ask()
    (name,) = connect().keys("*:reading:*")
    for junk in (b"", b"{}", b'{"taken_at": 1}\n[]', b"\xff\xfe", b'{"taken_at": "2026-01-01T00:00:00+00:00"}\n[{}]'):
        connect().set(name, junk)
        assert ask().cached is False
    connect().set(name, connect().get(name)[:-20])  # cut off
    assert ask().cached is False
    assert ask().cached is True


def test_a_kept_answer_is_smaller_than_what_it_says(with_sources: WithSources) -> None:
    async def many(_question: SeatsQuestion) -> tuple[Any, ...]:
        return tuple(seat(DAY, ref=f"r{n}") for n in range(200))

    with_sources(source("big", many))
    assert len(every()[0].value or ()) == 200
    (name,) = connect().keys("*:reading:*")
    assert connect().memory_usage(name) < 200 * 40


def test_keys_of_the_two_data_modes_never_meet(wire: respx.Route, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    names = [n.decode() for n in connect().keys("award:*")]
    assert names
    assert all(n.startswith("award:live:") for n in names)


def test_a_provider_of_the_other_mode_is_never_asked(acme: None) -> None:
    async def go() -> list[Reading[Any]]:
        one = await Ask(1).one("sandbox", "award_seats", QUESTION)
        return [one, *await Ask(1).all("award_seats", [QUESTION])]

    sandbox, *others = anyio.run(go)
    assert (sandbox.status, sandbox.value) == ("not_configured", None)
    assert "acme" in [r.source for r in others]
    assert "sandbox" not in [r.source for r in others]


# breaker


def test_five_failures_in_a_row_rest_a_source_for_a_minute(
    wire: respx.Route, ask: Asking, standing_clock: StandingClock
) -> None:
    wire.mock(return_value=DOWN)
    for _ in range(5):
        ask()
    assert wire.call_count == 5
    resting = ask()
    assert wire.call_count == 5
    assert (resting.status, resting.reason) == ("down", "http_500")
    assert resting.retry_after is not None
    assert 50 <= resting.retry_after <= 60
    assert resting.since is not None
    standing_clock.advance(timedelta(seconds=61))
    wire.mock(return_value=httpx.Response(200, json={"data": [ROW]}))
    assert ask().status == "ok"
    assert provider_health.read_health(["acme:operator"])["acme:operator"].failures == 0


def test_a_source_that_fails_again_after_its_rest_rests_again(
    wire: respx.Route, ask: Asking, standing_clock: StandingClock
) -> None:
    wire.mock(return_value=DOWN)
    for _ in range(5):
        ask()
    standing_clock.advance(timedelta(seconds=61))
    ask()
    ask()
    assert wire.call_count == 6


def test_a_success_between_failures_starts_the_count_anew(wire: respx.Route, ask: Asking) -> None:
    wire.mock(side_effect=[DOWN] * 4 + [httpx.Response(200, json={"data": []})] + [DOWN] * 5)
    for _ in range(5):
        ask()
    connect().delete(*connect().keys("*:reading:*"))
    assert [ask().reason for _ in range(5)] == ["http_500"] * 5
    assert wire.call_count == 10


@pytest.mark.parametrize("code", [401, 403, 429])
def test_a_refusal_is_not_an_outage(wire: respx.Route, ask: Asking, code: int) -> None:
    wire.mock(return_value=httpx.Response(code))
    for _ in range(7):
        ask()
    assert wire.call_count == 7


def test_a_kept_answer_is_served_while_a_source_rests(wire: respx.Route, ask: Asking) -> None:
    ask()
    for _ in range(5):
        provider_health.record_failure("acme:operator", "timeout")
    assert (ask().status, ask().cached) == ("ok", True)


# cap and budget


def most_at_once(with_sources: WithSources, *, cap: int, questions: int) -> int:
    """How many callers ask a source with this cap at the same moment, when so many want to."""
    running, most = 0, 0

    async def act(_question: SeatsQuestion) -> tuple[()]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.05)
        running -= 1
        return ()

    with_sources(source("slow", act, concurrency=cap))
    days = [dataclasses.replace(QUESTION, earliest=DAY + timedelta(days=n)) for n in range(questions)]
    assert [r.status for r in every(*days)] == ["no_data"] * questions
    return most


async def hang(_question: SeatsQuestion) -> tuple[()]:
    await anyio.sleep_forever()
    return ()


def test_a_source_is_asked_by_no_more_callers_at_once_than_its_cap(with_sources: WithSources) -> None:
    assert most_at_once(with_sources, cap=3, questions=9) == 3


def test_sources_are_asked_side_by_side(with_sources: WithSources) -> None:
    begun = together(6)

    async def act(_question: SeatsQuestion) -> tuple[()]:
        await begun()
        return ()

    with_sources(*(source(f"s{n}", act) for n in range(6)))
    assert [reading.status for reading in every()] == ["no_data"] * 6


def test_the_budget_ends_the_waiting_and_names_who_did_not_answer(with_sources: WithSources) -> None:
    with_sources(source("fast", nothing), source("hung", hang))
    fast, hung = every(budget=0.5)
    assert (fast.status, hung.status, hung.reason) == ("no_data", "down", "timeout")


async def ask_twenty_times(budget: float) -> list[Reading[Any]]:
    """All within one call, whose budget they share."""
    ask = Ask(1, budget=budget)
    return [reading for _ in range(20) for reading in await ask.all("award_seats", [QUESTION])]


def test_the_budget_is_one_for_all_questions_of_a_call(with_sources: WithSources) -> None:
    with_sources(source("hung", hang))
    assert {(r.status, r.reason) for r in anyio.run(ask_twenty_times, 0.3)} == {("down", "timeout")}


# credentials


def test_without_a_connection_an_account_is_asked_to_connect(with_sources: WithSources) -> None:
    with_sources(source("own", nothing, credential="account"))
    (reading,) = every()
    assert (reading.status, reading.value) == ("connection_required", None)


# what may be away


@pytest.fixture
def no_redis(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing listens where Redis should be."""
    from shared.settings import settings

    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    settings.cache_clear()
    connect.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()
    connect.cache_clear()


def test_without_redis_a_question_is_still_answered(wire: respx.Route, ask: Asking, no_redis: None) -> None:
    first, second = ask(), ask()
    assert (first.status, first.cached, first.good_until) == ("ok", False, None)
    assert second.cached is False


def test_without_redis_the_breaker_counts_in_memory(wire: respx.Route, ask: Asking, no_redis: None) -> None:
    wire.mock(return_value=DOWN)
    for _ in range(7):
        ask()
    assert wire.call_count == 5


def test_a_cache_that_hangs_does_not_cost_the_call(
    wire: respx.Route, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: Any) -> Any:
        threading.Event().wait(1.5)
        return [None]

    monkeypatch.setattr(cache, "get_many", hang)
    monkeypatch.setattr("shared.providers.ask.MEMORY_SECONDS", 0.2)
    assert ask().status == "ok"


# several processes; each has event its own loops, as threads have here


def in_processes(count: int, question: SeatsQuestion = QUESTION, *, background: bool = True) -> list[Reading[Any]]:
    begun = threading.Barrier(count)

    async def go() -> Reading[Any]:
        begun.wait(10)
        return (await Ask(1, background=background).all("award_seats", [question]))[0]

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: anyio.run(go), range(count)))


def test_checks_of_several_processes_ask_a_question_once(with_sources: WithSources) -> None:
    asked = []

    async def act(question: SeatsQuestion) -> tuple[()]:
        asked.append(question)
        await anyio.sleep(0.3)
        return ()

    with_sources(source("slow", act))
    assert [reading.status for reading in in_processes(4)] == ["no_data"] * 4
    assert len(asked) == 1


def fails_once(asked: list[SeatsQuestion]) -> Callable[[SeatsQuestion], Any]:
    async def act(question: SeatsQuestion) -> tuple[()]:
        asked.append(question)
        if len(asked) == 1:
            await anyio.sleep(0.5)
            raise OSError
        return ()

    return act


@pytest.mark.parametrize("background", [True, False])
def test_a_failure_is_told_to_all_who_waited_for_it_and_the_next_one_asks_anew(
    with_sources: WithSources, background: bool
) -> None:
    asked: list[SeatsQuestion] = []
    with_sources(source("shaky", fails_once(asked)))
    readings = in_processes(3, background=background)
    assert [(reading.status, reading.reason) for reading in readings] == [("down", "unreachable")] * 3
    assert len(asked) == 1
    assert in_processes(1, background=background)[0].status == "no_data"


def test_people_of_several_processes_ask_a_question_once(with_sources: WithSources) -> None:
    asked = []

    async def act(question: SeatsQuestion) -> tuple[()]:
        asked.append(question)
        await anyio.sleep(0.3)
        return ()

    with_sources(source("slow", act))
    assert [reading.status for reading in in_processes(4, background=False)] == ["no_data"] * 4
    assert len(asked) == 1


def test_the_failure_of_a_check_is_not_that_of_a_person(with_sources: WithSources) -> None:
    """A check may have spent what is left to checks."""
    asked: list[SeatsQuestion] = []
    with_sources(source("shaky", fails_once(asked)))

    async def go() -> list[str]:
        statuses: list[str] = []

        async def ask(background: bool) -> None:
            statuses.append((await Ask(1, background=background).one("shaky", "award_seats", QUESTION)).status)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, True)
            while not asked:
                await anyio.sleep(0.01)
            tasks.start_soon(ask, False)
        return statuses

    assert anyio.run(go) == ["down", "no_data"]
    assert len(asked) == 2


def test_a_cancelled_request_is_replaced_by_one_that_waits_for_its_answer(with_sources: WithSources) -> None:
    asked = []

    async def act(question: SeatsQuestion) -> tuple[()]:
        asked.append(question)
        if len(asked) == 1:
            await anyio.sleep_forever()
        return ()

    with_sources(source("slow", act))

    async def go() -> Reading[Any]:
        async with anyio.create_task_group() as tasks:
            first = anyio.CancelScope()

            async def ask_and_leave() -> None:
                with first:
                    await Ask(1).one("slow", "award_seats", QUESTION)

            tasks.start_soon(ask_and_leave)
            while not asked:
                await anyio.sleep(0.01)
            tasks.start_soon(lambda: cancel_soon(first))
            return await Ask(2).one("slow", "award_seats", QUESTION)

    async def cancel_soon(scope: anyio.CancelScope) -> None:
        await anyio.sleep(0.2)
        scope.cancel()

    assert anyio.run(go).status == "no_data"
    assert len(asked) == 2


def test_accounts_with_connections_of_their_own_never_share_a_call(with_sources: WithSources) -> None:
    asked = []

    async def act(question: SeatsQuestion) -> tuple[()]:
        asked.append(question)
        await anyio.sleep(0.3)
        return ()

    async def connection(_provider: str) -> str:
        return "key"

    with_sources(source("own", act, credential="account"))

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            for account in (1, 2):
                tasks.start_soon(Ask(account, connections=connection).one, "own", "award_seats", QUESTION)

    anyio.run(go)
    assert len(asked) == 2


def test_a_process_that_was_lost_while_it_asked_is_not_waited_for_for_ever(
    with_sources: WithSources,
) -> None:
    card = source("slow", nothing, timeout=0.5)
    with_sources(card)
    assert cache.acquire_fetch([(cache.build_key(card, "anyone", "award_seats", QUESTION), "lost", None)]) == [
        (True, None, "lost")
    ]
    assert in_processes(1)[0].status == "no_data"
