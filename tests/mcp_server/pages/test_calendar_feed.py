"""The calendar feed over HTTP: a calendar, 304 when nothing changed, and the same 404 for every wrong secret."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from icalendar import Calendar
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from mcp_server.pages import calendar_feed
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import engine, transaction
from shared.db.bookings import FlightBooking
from shared.limits import Verdict
from shared.services.bookings import secret_links
from shared.telemetry.call_context import get_context
from tests.mcp_server.conftest import World
from tests.support.people import People

Get = Callable[..., httpx.Response]


@pytest.fixture
def path(people: People) -> str:
    """The path of Alice's feed."""
    with transaction(people.alice.account_id) as session:
        return f"/feeds/{secret_links.get_link(session, people.alice.account_id, 'calendar').secret}.ics"


@pytest.fixture
def get(world: World) -> Get:
    def run(path: str, method: str = "GET", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return world.http.request(method, world.base + path, headers=named)

    return run


def fly(who: Caller, number: int = 1) -> None:
    day = clock.today() + timedelta(days=30)
    with transaction(who.account_id) as session:
        session.add_all(
            FlightBooking(
                airline="BA",
                origin="LHR",
                destination="JFK",
                departure_date=day,
                cabin_class="economy",
                kind="award",
                taxes_currency="USD",
            )
            for _ in range(number)
        )


@pytest.mark.spec("s4.4.get_calendar_feed.content")
def test_a_calendar_reads_the_feed_without_signing_in(people: People, path: str, get: Get) -> None:
    fly(people.alice, 2)
    fly(people.bob, 5)
    answer = get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-robots-tag"] == "noindex"
    assert len(Calendar.from_ical(answer.content).walk("VEVENT")) == 2


def test_an_unchanged_feed_is_not_sent_again(people: People, path: str, get: Get) -> None:
    tag = get(path).headers["etag"]
    again = get(path, if_none_match=tag)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert get(path, if_none_match=f'W/{tag}, "other"').status_code == 304
    assert get(path, if_none_match='"other"').status_code == 200
    fly(people.alice)
    changed = get(path, if_none_match=tag)
    assert (changed.status_code, changed.headers["etag"] != tag) == (200, True)


def test_the_query_of_the_link_asks_for_alarms(people: People, path: str, get: Get) -> None:
    fly(people.alice)
    plain, alarmed, nonsense = (get(path + query) for query in ("", "?alarms=on", "?alarms=%00&x=1"))
    assert b"BEGIN:VALARM" in alarmed.content
    assert b"BEGIN:VALARM" not in plain.content
    assert nonsense.content == plain.content
    assert alarmed.headers["etag"] != plain.headers["etag"]


def test_head_tells_the_same_without_the_body(path: str, get: Get) -> None:
    full, head = get(path), get(path, "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == full.headers["etag"]
    assert head.headers["content-length"] == full.headers["content-length"]


def test_only_reading_is_answered(path: str, get: Get) -> None:
    assert {get(path, method).status_code for method in ("POST", "PUT", "DELETE")} == {405}


@pytest.mark.spec("s2.9.calendar_link_secret")
def test_an_ended_link_reads_like_one_that_never_was(people: People, path: str, get: Get) -> None:
    assert get(path).status_code == 200
    with transaction(people.alice.account_id) as session:
        secret_links.renew_link(session, people.alice.account_id, "calendar")
    never = [f"/feeds/{'0' * 40}.ics", "/feeds/x.ics", "/feeds/%C3%A9.ics", f"/feeds/{'a' * 5000}.ics", path.upper()]
    ended = get(path)
    assert ended.status_code == 404
    assert ended.headers["cache-control"] == "no-store"
    for wrong in never:
        assert (get(wrong).status_code, get(wrong).content) == (404, ended.content)


def test_the_feed_of_a_disabled_account_is_closed(people: People, path: str, get: Get) -> None:
    with transaction() as session:
        session.get_one(Account, people.alice.account_id).disabled_at = clock.now()
    assert get(path).status_code == 404


def test_a_mailbox_secret_opens_no_feed(people: People, get: Get) -> None:
    with transaction(people.alice.account_id) as session:
        inbox = secret_links.get_link(session, people.alice.account_id, "inbox")
    assert get(f"/feeds/{inbox.secret}.ics").status_code == 404


def test_an_address_that_asks_too_often_waits(path: str, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendar_feed, "hit", lambda *_: Verdict(False, 601, 17))
    answer = get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "17")


def test_calendars_are_told_to_come_again_while_the_database_is_away(
    path: str, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise OperationalError("select 1", {}, Exception("gone"))

    monkeypatch.setattr(calendar_feed, "transaction", gone)
    answer = get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "gone" not in answer.text


def test_no_log_line_holds_the_secret(path: str, get: Get, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    get(path)
    get(path.replace(".ics", "0.ics"))
    secret = path.removeprefix("/feeds/").removesuffix(".ics")
    assert [r for r in caplog.records if r.name.split(".")[0] != "httpx" and secret in r.getMessage()] == []


def test_a_feed_costs_seven_statements_however_much_it_shows(people: People, path: str, get: Get) -> None:
    sent: list[str] = []

    def seen(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if get_context():  # what the server reads now and then by itself is no part of a request
            sent.append(statement)

    event.listen(engine(), "before_cursor_execute", seen)
    counts = []
    for number in (1, 40):
        fly(people.alice, number)
        sent.clear()
        assert get(path).status_code == 200
        counts.append(len(sent))
    event.remove(engine(), "before_cursor_execute", seen)
    assert counts == [7, 7]
