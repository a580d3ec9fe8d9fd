"""Calls a source allows a day: each credential has its own, a reserve is kept for people, and a refusal is believed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest
import respx

from shared import clock
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Reading
from tests.shared.providers.conftest import QUESTION, Asking
from tests.support.fake_seats import WithSources, source
from tests.support.settings_and_clock import StandingClock


def asked(card: Provider, times: int, account: int = 1, **more: Any) -> list[Reading[Any]]:
    async def connection(_provider: str) -> str:
        return "token"

    async def go() -> list[Reading[Any]]:
        door = Ask(account, connections=connection, **more)
        return [await door.one(card.name, "award_seats", QUESTION) for _ in range(times)]

    return anyio.run(go)


@pytest.fixture
def limited(with_sources: WithSources) -> Provider:
    async def nothing(_question: Any) -> tuple[()]:
        return ()

    card = replace(source("counted", nothing), calls_a_day=10, credential="account", fresh_for=timedelta(0))
    with_sources(card)
    return card


def test_the_day_ends_when_a_credential_has_asked_so_often(limited: Provider) -> None:
    told = asked(limited, 12)
    assert [r.status for r in told] == ["no_data"] * 10 + ["quota_exhausted"] * 2
    assert 0 < (told[-1].retry_after or 0) <= 86_400


def test_each_connection_has_a_day_of_its_own(limited: Provider) -> None:
    asked(limited, 11, account=1)
    assert asked(limited, 1, account=2)[0].status == "no_data"


def test_what_nobody_waits_for_leaves_a_tenth_to_people(limited: Provider) -> None:
    watched = asked(limited, 10, background=True)
    assert [r.status for r in watched].count("no_data") == 9
    assert [r.status for r in asked(limited, 2)] == ["no_data", "quota_exhausted"]


def test_what_can_wait_gets_the_share_of_the_day_that_has_passed(
    limited: Provider, standing_clock: StandingClock
) -> None:
    """At noon half of the nine calls and the head start of one; the rest as the day continues."""

    def ask(times: int) -> list[Reading[Any]]:
        return asked(limited, times, background=True, can_wait=True)

    *_, last = told = ask(7)
    assert [r.status for r in told] == ["no_data"] * 5 + ["quota_exhausted"] * 2
    assert (last.reason, last.retry_after) == ("put_off", 9600)
    standing_clock.advance(timedelta(seconds=9600))
    assert [r.has_answer for r in ask(2)] == [True, False]
    standing_clock.advance(timedelta(hours=9))
    assert [r.has_answer for r in ask(4)] == [True, True, True, False]
    assert asked(limited, 1)[0].has_answer


@pytest.mark.parametrize(("people", "by_noon", "in_all"), [(0, 48, 90), (10, 48, 90), (40, 32, 60)])
def test_what_people_ask_beyond_their_tenth_makes_the_day_of_the_checks_smaller_and_never_stops_it(
    limited: Provider, with_sources: WithSources, standing_clock: StandingClock, people: int, by_noon: int, in_all: int
) -> None:
    def check() -> int:
        return [r.has_answer for r in asked(card, 60, background=True, can_wait=True)].count(True)

    with_sources(card := replace(limited, calls_a_day=100))
    asked(card, people)
    first = check()
    standing_clock.advance(timedelta(hours=11, minutes=59))
    assert (first, first + check()) == (by_noon, in_all)
    left = 100 - people - in_all
    assert [r.has_answer for r in asked(card, left + 1)] == [True] * left + [False]


def test_each_page_of_a_search_is_a_call_of_the_day(with_sources: WithSources) -> None:
    async def act(_question: Any) -> tuple[()]:
        return ()

    @asynccontextmanager
    async def build(_credential: str | None) -> AsyncIterator[Any]:
        yield SimpleNamespace(award_seats=act, calls=4)

    card = replace(source("paged", act), calls_a_day=9, credential="account", fresh_for=timedelta(0), build=build)
    with_sources(card)
    assert [r.has_answer for r in asked(card, 4)] == [True, True, True, False]


def test_a_source_that_names_its_reset_is_not_asked_before_it(wire: respx.Route, ask: Asking) -> None:
    wire.mock(return_value=httpx.Response(429, headers={"Retry-After": "3600"}))
    first, second = ask(), ask()
    assert (first.status, second.status, second.reason) == ("quota_exhausted", "quota_exhausted", "quota")
    assert 3500 < (second.retry_after or 0) <= 3600
    assert wire.call_count == 1


def test_the_operators_key_goes_before_a_persons_connection(with_sources: WithSources) -> None:
    async def nothing(_question: Any) -> tuple[()]:
        return ()

    keyed = replace(source("keyed", nothing), credential="either", setting="seats_aero_api_key")
    unkeyed = replace(source("unkeyed", nothing), credential="either", setting="duffel_api_key")
    with_sources(keyed, unkeyed)
    assert (registry.scope(keyed, 7), registry.scope(unkeyed, 7)) == ("operator", "account-7")
    assert asked(keyed, 1)[0].has_answer
    assert asked(unkeyed, 1)[0].has_answer


@pytest.mark.parametrize(
    ("header", "said", "seconds"),
    [
        ("retry-after", "30", 30),
        ("retry-after", "0", 1),
        ("x-ratelimit-reset", "3600", 3600),
        ("ratelimit-reset", "999999", 86_400),
        ("x-ratelimit-reset", "NOW+7200", 7200),
    ],
)
def test_a_source_may_tell_its_reset_in_several_ways(
    wire: respx.Route, ask: Asking, header: str, said: str, seconds: int
) -> None:
    said = str(int(clock.now().timestamp()) + 7200) if said == "NOW+7200" else said
    wire.mock(return_value=httpx.Response(429, headers={header: said}))
    assert seconds - 60 <= (ask().retry_after or 0) <= seconds
