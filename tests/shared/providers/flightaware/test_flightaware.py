"""AeroAPI's delays of one airport: rows whose seconds are never shown."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import DelaysQuestion, Reading
from shared.providers.flightaware import client
from shared.settings import settings
from tests.shared.providers.fakes import SECRET, recorded
from tests.support.fake_seats import reading_of

BASE = "https://aeroapi.flightaware.com/aeroapi/airports"


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.MockRouter]:
    monkeypatch.setenv("FLIGHTAWARE_API_KEY", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        yield mocked


def asked(airport: str) -> Reading[Any]:
    return reading_of(Ask(), "flightaware", "airport_delays", DelaysQuestion(airport))


def test_seconds_decide_and_only_words_are_shown() -> None:
    rows = client.parse_delays(recorded("flightaware", "delays.json"), "LHR")
    assert [(r.airport, r.kind, r.minutes, r.shown_minutes) for r in rows] == [
        ("LHR", "departure", 45, None),
        ("LHR", "arrival", 19, None),
    ]
    assert rows[0].reason == "departures are experiencing delays averaging 45 minutes"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ground stop in effect due to thunderstorms", "ground_stop"),
        ("a Ground Delay program is active", "ground_delay"),
        ("the airport is closed", "closure"),
        ("arrivals are experiencing delays", "arrival"),
        ("all inbound flights being held at their origin", "arrival"),
        ("something else", "departure"),
    ],
)
def test_the_kind_is_found_in_the_words(words: str, kind: str) -> None:
    body = recorded("flightaware", "delays.json").replace(
        b"departures are experiencing delays averaging 45 minutes", words.encode()
    )
    assert client.parse_delays(body, "LHR")[0].kind == kind


def test_no_seconds_are_no_number() -> None:
    (row,) = client.parse_delays(recorded("flightaware", "unknown.json"), "KEF")
    assert (row.minutes, row.shown_minutes, row.reason) == (None, None, "ash in the upper airspace")


def test_an_airport_is_asked_for_by_its_four_letters_with_the_key_in_a_header(wire: respx.MockRouter) -> None:
    route = wire.get(f"{BASE}/EGLL/delays").mock(
        return_value=httpx.Response(200, content=recorded("flightaware", "delays.json"))
    )
    assert asked("LHR").status == "ok"
    assert route.calls.last.request.headers["x-apikey"] == SECRET


@pytest.mark.parametrize("status", [400, 404])
def test_an_airport_it_does_not_know_is_not_covered(wire: respx.MockRouter, status: int) -> None:
    wire.get(f"{BASE}/QQQ/delays").mock(return_value=httpx.Response(status, json={"title": "Bad"}))
    assert (asked("QQQ").status, asked("QQQ").reason) == ("not_covered", "airport_not_covered")


def test_without_a_key_it_is_not_configured(live: None) -> None:
    assert asked("LHR").status == "not_configured"
