"""Fixtures of the provider door: live mode with a provider folder of the tests, and questions to ask it."""

import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

import shared.providers
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import Reading, SeatsQuestion
from tests.shared.providers.fakes.server import fake_world, pretend
from tests.support.fake_seats import SECRET, live, reading_of, with_sources

__all__ = ["SECRET", "fake_world", "live", "pretend", "with_sources"]

FOLDERS = str(Path(__file__).parent / "folders")
DAY = date(2027, 3, 9)
QUESTION = SeatsQuestion("LHR", "JFK", DAY, DAY, ("VS",))
ROW = {
    "id": "r1",
    "carrier": "VS",
    "program": "virgin-atlantic-flying-club",
    "from": "LHR",
    "to": "JFK",
    "date": "2027-03-09",
    "cabin": "J",
    "miles": "47500",
    "taxes": 98700,
    "seats": 2,
    "flight": "VS3",
    "seen": "2026-11-20T21:40:12+00:00",
}


@pytest.fixture
def acme(live: None) -> Iterator[None]:
    """One folder more next to the product's own."""
    shared.providers.__path__.append(FOLDERS)
    registry.providers.cache_clear()
    yield
    shared.providers.__path__.remove(FOLDERS)
    registry.providers.cache_clear()
    for name in [n for n in sys.modules if n.startswith("shared.providers.acme")]:
        del sys.modules[name]


@pytest.fixture
def wire(acme: None) -> Iterator[respx.Route]:
    """What acme's server answers."""
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        yield mocked.get("https://acme.test/seats").mock(return_value=httpx.Response(200, json={"data": [ROW]}))


Asking = Callable[..., Reading[Any]]


@pytest.fixture
def ask() -> Asking:
    """ask() -> the reading of acme, on its own loop."""

    def run(question: SeatsQuestion = QUESTION, account_id: int = 1, **more: Any) -> Reading[Any]:
        return reading_of(Ask(account_id), "acme", "award_seats", question, **more)

    return run
