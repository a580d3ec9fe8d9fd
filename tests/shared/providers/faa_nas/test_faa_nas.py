"""The FAA's documents: delays of airports, or one word that says why there are none."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx
import pytest
import respx

from shared import clock
from shared.providers.ask import Ask
from shared.providers.contract import AirportDelay, DelaysQuestion, Reading, Unanswered
from shared.providers.faa_nas import client
from shared.redis import connect
from tests.shared.providers.fakes import faa_nas, recorded

NOW = datetime(2026, 11, 21, 14, 10, tzinfo=UTC)
XML = "https://nasstatus.faa.gov/api/airport-status-information"
JSON = "https://nasstatus.faa.gov/api/airport-events"


@pytest.fixture
def faa(live: None) -> Iterator[tuple[respx.Route, respx.Route]]:
    """Both addresses of the FAA, answering as of now."""
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        body = faa_nas.now(recorded("faa_nas", "document.xml"))
        first = mocked.get(XML).mock(return_value=httpx.Response(200, content=body))
        events = recorded("faa_nas", "events.json")
        yield first, mocked.get(JSON).mock(return_value=httpx.Response(200, content=events))


def asked(*airports: str) -> list[Reading[Any]]:
    async def go() -> list[Reading[Any]]:
        ask = Ask()
        return [await ask.one("faa_nas", "airport_delays", DelaysQuestion(airport)) for airport in airports]

    return anyio.run(go)


def shown(rows: tuple[AirportDelay, ...]) -> list[tuple[str, str, int | None, str | None]]:
    return [(row.airport, row.kind, row.minutes, row.ends_at) for row in rows]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("1 hour and 28 minutes", 88),
        ("5 hours and 33 minutes", 333),
        ("2 hours", 120),
        ("16 minutes", 16),
        ("1 minute", 1),
        ("16", 16),
        (88, 88),
        (0, 0),
        ("", None),
        (None, None),
        ("unknown", None),
    ],
)
def test_minutes_are_read_in_every_form_and_never_made_up(said: Any, number: int | None) -> None:
    assert client.parse_minutes(said) == number


def test_the_document_is_read_row_by_row() -> None:
    rows = client.parse_document(recorded("faa_nas", "document.xml"), NOW)
    assert shown(rows) == [
        ("DCA", "ground_stop", None, "3:00 pm EST"),
        ("SFO", "ground_delay", 88, None),
        ("EWR", "ground_delay", None, None),
        ("BOS", "departure", 30, None),
        ("BOS", "arrival", 45, None),
        ("ASE", "closure", None, "Nov 21 at 18:00 UTC"),
    ]
    assert {row.checked_at for row in rows} == {datetime(2026, 11, 21, 14, 6, 15, tzinfo=UTC)}
    assert rows[3].reason == "WX:Low Ceilings"


def test_the_list_behind_the_page_tells_the_same() -> None:
    rows = client.parse_events(recorded("faa_nas", "events.json"), NOW)
    assert shown(rows) == [
        ("SFO", "ground_delay", 88, "2026-11-22T02:59:00Z"),
        ("SFO", "departure", 30, None),
        ("DCA", "ground_stop", None, "2026-11-21T20:00:00Z"),
        ("ASE", "closure", None, "2026-11-21T18:00:00Z"),
    ]
    assert {row.checked_at for row in rows} == {None}


@pytest.mark.parametrize(
    "text",
    [
        "!LAX 05/277 LAX AD AP CLSD TO NON SKED TRANSIENT GA ACFT",
        "AD AP CLSD EXC TAX OPS",
        "AD AP CLSD TO GA",
        "AD AP CLSD TO NON-SKED ACFT",
        "AD AP CLSD EXCEPT PPR",
    ],
)
def test_a_closure_that_leaves_airliners_alone_is_none(text: str) -> None:
    document = recorded("faa_nas", "document.xml").replace(b"ASE AD AP CLSD SNOW REMOVAL", text.encode())
    assert "closure" not in [row.kind for row in client.parse_document(document, NOW)]


def test_a_closure_counts_from_its_start_to_its_end() -> None:
    body = recorded("faa_nas", "document.xml").replace(b"Sat Nov 21 14:06:15", b"Sat Nov 21 19:00:00")
    evening = datetime(2026, 11, 21, 19, 5, tzinfo=UTC)
    assert "closure" not in [row.kind for row in client.parse_document(body, evening)]
    assert "EGE" not in [row.airport for row in client.parse_document(recorded("faa_nas", "document.xml"), NOW)]


def test_a_closure_over_new_year_has_the_right_years() -> None:
    body = (
        recorded("faa_nas", "document.xml")
        .replace(b"Sat Nov 21 14:06:15 2026", b"Thu Dec 31 23:50:00 2026")
        .replace(b"Nov 21 at 13:00", b"Dec 31 at 20:00")
        .replace(b"Nov 21 at 18:00", b"Jan 01 at 06:00")
    )
    rows = client.parse_document(body, datetime(2026, 12, 31, 23, 55, tzinfo=UTC))
    assert [row.airport for row in rows if row.kind == "closure"] == ["ASE"]


def test_a_document_of_half_an_hour_ago_is_no_answer() -> None:
    body = recorded("faa_nas", "document.xml")
    assert client.parse_document(body, NOW + timedelta(minutes=26))
    with pytest.raises(Unanswered, match="down: stale"):
        client.parse_document(body, NOW + timedelta(minutes=27))


def test_a_quiet_country_is_an_empty_answer() -> None:
    assert client.parse_document(recorded("faa_nas", "nothing.xml"), NOW) == ()
    assert client.parse_events(b"[]", NOW) == ()


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Just a moment...</body></html>",
        b'<!DOCTYPE r [<!ENTITY a "b">]><AIRPORT_STATUS_INFORMATION/>',
        b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><AIRPORT_STATUS_INFORMATION/>',
        b"<AIRPORT_STATUS_INFORMATION></AIRPORT_STATUS_INFORMATION>",
        b"<AIRPORT_STATUS_INFORMATION><Update_Time>soon</Update_Time></AIRPORT_STATUS_INFORMATION>",
        b"{}",
        b"",
    ],
)
def test_anything_but_the_document_is_refused(body: bytes) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        client.parse_document(body, NOW)


def test_the_country_is_fetched_once_for_all_airports_of_a_round(faa: tuple[respx.Route, respx.Route]) -> None:
    readings = asked("BOS", "SFO", "DCA", "SEA", "JFK")
    assert [r.status for r in readings] == ["ok", "ok", "ok", "no_data", "no_data"]
    assert (faa[0].call_count, faa[1].call_count) == (1, 0)
    connect().delete(*connect().keys("*faa_nas*"))
    asked("BOS")
    assert faa[0].call_count == 2


def test_what_was_fetched_is_forgotten_after_two_minutes(faa: tuple[respx.Route, respx.Route]) -> None:
    asked("BOS")
    (name,) = connect().keys("*faa_nas:country")
    assert 100 < connect().ttl(name) <= 120


@pytest.mark.parametrize("airport", ["LHR", "YYZ", "QQQ"])
def test_an_airport_elsewhere_is_not_covered_and_not_asked_for(
    faa: tuple[respx.Route, respx.Route], airport: str
) -> None:
    (reading,) = asked(airport)
    assert (reading.status, reading.reason) == ("not_covered", "airport_not_covered")
    assert not faa[0].called


@pytest.mark.parametrize("airport", ["SJU", "STT", "HNL", "ANC"])
def test_airports_of_territories_are_covered(faa: tuple[respx.Route, respx.Route], airport: str) -> None:
    (reading,) = asked(airport)
    assert reading.status == "no_data"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(403),
        httpx.Response(200, text="<html>maintenance</html>"),
        None,  # made in the test: its age counts from the test's clock
        httpx.Response(200, content=b" " * (2 * 1024 * 1024 + 1)),
    ],
    ids=["500", "403", "html", "stale", "huge"],
)
def test_the_second_address_is_tried_when_the_first_has_no_answer(
    faa: tuple[respx.Route, respx.Route], answer: httpx.Response | None
) -> None:
    stale = faa_nas.now(recorded("faa_nas", "document.xml"), timedelta(hours=1))
    faa[0].mock(return_value=httpx.Response(200, content=stale) if answer is None else answer)
    (reading,) = asked("SFO")
    assert (reading.status, [row.minutes for row in reading.value]) == ("ok", [88, 30])


def test_when_both_fail_the_first_ones_reason_is_told(faa: tuple[respx.Route, respx.Route]) -> None:
    stale = faa_nas.now(recorded("faa_nas", "document.xml"), timedelta(hours=1))
    faa[0].mock(return_value=httpx.Response(200, content=stale))
    faa[1].mock(return_value=httpx.Response(500))
    (reading,) = asked("SFO")
    assert (reading.status, reading.reason, reading.value) == ("down", "stale", None)


def test_a_host_that_wants_fewer_questions_is_not_asked_again(faa: tuple[respx.Route, respx.Route]) -> None:
    faa[0].mock(return_value=httpx.Response(429))
    (reading,) = asked("SFO")
    assert reading.status == "quota_exhausted"
    assert not faa[1].called


def test_a_first_address_that_hangs_leaves_time_for_the_second(
    faa: tuple[respx.Route, respx.Route], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_request: httpx.Request) -> httpx.Response:
        await anyio.sleep(30)
        return httpx.Response(200)

    monkeypatch.setattr("shared.providers.faa_nas.client.TRY_SECONDS", 0.2)
    faa[0].mock(side_effect=hang)
    (reading,) = asked("SFO")
    assert reading.status == "ok"


def test_the_reasons_words_are_data_and_cut_short() -> None:
    body = recorded("faa_nas", "document.xml").replace(b"low ceilings", b"fog\n  " + b"x" * 5000)
    row = next(row for row in client.parse_document(body, NOW) if row.airport == "SFO")
    assert row.reason.startswith("fog x")
    assert len(row.reason) == 200


def test_the_age_shown_is_the_faas_own(faa: tuple[respx.Route, respx.Route]) -> None:
    (reading,) = asked("BOS")
    assert reading.provider_checked_at is not None
    assert abs(clock.now() - reading.provider_checked_at) < timedelta(minutes=1)
