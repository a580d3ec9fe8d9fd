"""Fake sources made of one function each, in place of the provider folders, for tests of what asks them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import date, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from shared import provider_health
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, Provider, Reading, SeatsQuestion, StayOffer, StaysQuestion
from tests.support.settings_and_clock import Configure

WithSources = Callable[..., None]
SECRET = "pro_secret_key_123"


@pytest.fixture
def live(configure: Configure, clean: None) -> None:
    """This process in live mode, with one operator's key."""
    configure(AWARD_BACKEND="live", SEATS_AERO_API_KEY=SECRET)
    provider_health.LOCAL.clear()


@pytest.fixture
def with_sources(live: None, monkeypatch: pytest.MonkeyPatch) -> WithSources:
    """with_sources(provider, ...) makes these the only providers there are."""

    def put(*cards: Provider) -> None:
        monkeypatch.setattr(registry, "providers", lambda: {c.name: c for c in cards})

    return put


def together(count: int) -> Callable[[], Awaitable[None]]:
    """Anyone who awaits this waits until so many do: asked one after the other they would never answer."""
    waiting: list[anyio.Event] = []

    async def wait() -> None:
        waiting.append(anyio.Event())
        if len(waiting) == count:
            waiting[0].set()
        with anyio.fail_after(10):
            await waiting[0].wait()

    return wait


def reading_of(ask: Ask, provider: str, verb: str, question: Any, **more: Any) -> Reading[Any]:
    """What one provider answers, asked on its own loop."""

    async def go() -> Reading[Any]:
        return await ask.one(provider, verb, question, **more)

    return anyio.run(go)


def source(name: str, act: Callable[[SeatsQuestion], Any], **more: Any) -> Provider:
    """A provider made of one function."""

    async def award_seats(question: SeatsQuestion) -> Any:
        return await act(question)

    @asynccontextmanager
    async def build(_credential: str | None) -> AsyncIterator[Any]:
        yield SimpleNamespace(award_seats=award_seats)

    facts: dict[str, Any] = {"fresh_for": timedelta(hours=1), "build": build, "answers": ("award_seats",)}
    return Provider(name=name, **(facts | more))


def seat(day: date, **more: Any) -> AwardSeat:
    """An award seat with everything stated that a test does not care about."""
    facts: dict[str, Any] = {
        "ref": "row-1",
        "airline": "BA",
        "program": "british-airways-club",
        "origin": "LHR",
        "destination": "JFK",
        "date": day,
        "cabin": "business",
        "points": 80_000,
        "taxes": Decimal("350.40"),
        "taxes_currency": "GBP",
        "seats": 2,
        "stops": 0,
        "flight_numbers": ("BA117",),
        "departs_at": None,
        "arrives_at": None,
        "checked_at": None,
    }
    return AwardSeat(**(facts | more))


def selling(name: str, *seats: AwardSeat, **more: Any) -> Provider:
    """A source that always answers with these seats."""

    async def act(_question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        return seats

    return source(name, act, **more)


def failing(name: str, error: Exception, **more: Any) -> Provider:
    async def act(_question: SeatsQuestion) -> Any:
        raise error

    return source(name, act, **more)


def lodging(name: str, act: Callable[[StaysQuestion], Any], **more: Any) -> Provider:
    """A source of hotel stays made of one function."""

    async def hotel_stays(question: StaysQuestion) -> Any:
        return act(question)

    @asynccontextmanager
    async def build(_credential: str | None) -> AsyncIterator[Any]:
        yield SimpleNamespace(hotel_stays=hotel_stays)

    facts: dict[str, Any] = {"fresh_for": timedelta(hours=1), "build": build, "answers": ("hotel_stays",)}
    return Provider(name=name, **(facts | {"terms": "anyone"} | more))


def stay(hotel_code: str, check_in: date, nights: int, **more: Any) -> StayOffer:
    """What a stay costs, with everything stated that a test does not care about."""
    facts: dict[str, Any] = {
        "hotel_code": hotel_code,
        "check_in": check_in,
        "check_out": check_in + timedelta(days=nights),
        "available": True,
        "points": None,
        "cash": None,
        "currency": "USD",
        "room_type": None,
        "checked_at": None,
    }
    return StayOffer(**(facts | more))
