"""Calls a source allows a day: each credential has its own, a reserve is kept for people, and a refusal is believed."""

from dataclasses import replace
from datetime import timedelta
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
    assert asked(limited, 1)[0].status == "quota_exhausted"


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
