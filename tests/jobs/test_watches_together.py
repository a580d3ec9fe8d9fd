"""Watches that one search serves: who shares it, who comes forward, and who waits while calls are short."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from jobs import dispatcher
from mcp_server.toolkit.context import Caller
from shared import clock, limits
from shared.db.base import transaction
from shared.db.due_watches import list_due_watches
from shared.db.flight_alerts import FlightAlert
from shared.db.messages import Notification
from shared.db.route_monitors import MonitorCheck, RouteMonitor
from shared.db.runs import JobRun, Schedule, schedule
from shared.providers.contract import Provider
from shared.services.watches import award_seats
from tests.jobs.conftest import change, past, rows, work
from tests.support.fake_seats import WithSources, live, with_sources  # noqa: F401 - fixtures used here too
from tests.support.paging_source import PagingSource
from tests.support.people import account

EVERY = timedelta(hours=6)
CALLS = "calls:seats_aero:operator"


@pytest.fixture
def source(with_sources: WithSources) -> PagingSource:  # noqa: F811
    paging = PagingSource()
    with_sources(paging.card)
    return paging


@pytest.fixture
def alice(source: PagingSource) -> Caller:
    return account("alice", email_confirmed_at=clock.now())


@pytest.fixture
def bob(source: PagingSource) -> Caller:
    return account("bob", email_confirmed_at=clock.now())


def days(first: int, number: int = 10) -> tuple[date, date]:
    start = clock.today() + timedelta(days=first)
    return start, start + timedelta(days=number - 1)


def monitor(who: Caller, origin: str, destination: str, due_in: timedelta, first: int = 40, **more: Any) -> int:
    earliest, latest = days(first)
    with transaction(who.account_id) as session:
        row = RouteMonitor(
            origin=origin, destination=destination, earliest_date=earliest, latest_date=latest, max_points=1, **more
        )
        session.add(row)
        session.flush()
        schedule(session, "route_monitor", row.id, EVERY)
        set_due(session, row.id, "route_monitor", due_in)
        return row.id


def alert(who: Caller, origin: str, destination: str, due_in: timedelta, airline: str = "BA") -> int:
    earliest, latest = days(42)
    with transaction(who.account_id) as session:
        row = FlightAlert(
            airline=airline, departure=origin, destination=destination, date_range_start=earliest, date_range_end=latest
        )
        session.add(row)
        session.flush()
        schedule(session, "flight_alert", row.id, EVERY)
        set_due(session, row.id, "flight_alert", due_in)
        return row.id


def set_due(session: Any, subject: int, kind: str, due_in: timedelta) -> None:
    """By the clock of the database, which decides what is due."""
    its = (Schedule.kind == kind, Schedule.subject_id == subject)
    session.execute(sa.update(Schedule).where(*its).values(next_due_at=sa.func.now() + due_in))


def run_what_is_due() -> None:
    """Until nothing is due any longer."""
    for _ in range(4):
        dispatcher.step()
        work()


def waits() -> list[float]:
    """Hours until each schedule, by the database."""
    hours = sa.func.extract("epoch", Schedule.next_due_at - sa.func.now()) / 3600
    with transaction() as session:
        return [round(float(wait), 1) for wait in session.scalars(sa.select(hours).order_by(Schedule.id))]


def outcomes() -> list[str]:
    return [check.outcome for check in rows(MonitorCheck)]


def due_now() -> timedelta:
    return timedelta(seconds=-1)


def test_one_search_serves_watches_of_several_people_and_brings_them_to_one_moment(
    source: PagingSource, alice: Caller, bob: Caller
) -> None:
    monitor(alice, "JFK", "LHR", due_now())
    monitor(bob, "JFK", "CDG", timedelta(hours=2), 45)
    alert(bob, "BOS", "LHR", timedelta(hours=1))
    monitor(bob, "JFK", "FRA", timedelta(hours=5))
    run_what_is_due()
    assert source.calls == 1
    assert (outcomes(), rows(FlightAlert)[0].last_outcome) == (["ok", "ok"], "ok")
    assert waits() == [6.0, 6.0, 6.0, 5.0]


def test_a_watch_that_is_paused_or_of_a_suspended_account_is_not_asked_for(
    source: PagingSource, alice: Caller, bob: Caller
) -> None:
    monitor(alice, "JFK", "LHR", due_now())
    monitor(alice, "JFK", "CDG", timedelta(hours=1), paused_at=clock.now())
    monitor(bob, "JFK", "FRA", timedelta(hours=1))
    with transaction() as session:
        session.execute(sa.text("update accounts set disabled_at = now() where id = :id"), {"id": bob.account_id})
    run_what_is_due()
    assert [s["destination_airport"] for s in source.searches] == ["LHR"]


def test_with_connections_of_their_own_people_share_nothing(
    source: PagingSource, alice: Caller, bob: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.settings import settings

    async def connection(_self: Any, _provider: str) -> str:
        return "Bearer mine"

    monkeypatch.setenv("SEATS_AERO_API_KEY", "")
    settings.cache_clear()
    monkeypatch.setattr(award_seats.Credentials, "__call__", connection)
    monitor(alice, "JFK", "LHR", due_now())
    monitor(alice, "JFK", "CDG", timedelta(hours=2))
    monitor(bob, "JFK", "FRA", timedelta(hours=2))
    run_what_is_due()
    assert [s["destination_airport"] for s in source.searches] == ["LHR,CDG"]
    assert waits() == [6.0, 6.0, 2.0]


def test_due_watches_are_those_whose_run_waits_or_comes_soon(alice: Caller, bob: Caller) -> None:
    soon = [monitor(alice, "JFK", "LHR", timedelta(hours=1)), monitor(bob, "JFK", "CDG", timedelta(hours=2))]
    waiting = monitor(alice, "JFK", "MAD", due_now())
    monitor(alice, "JFK", "FRA", timedelta(hours=4))
    dispatcher.step()
    with transaction() as session:
        everybody = list_due_watches(session, EVERY / 2, None)
        hers = list_due_watches(session, EVERY / 2, alice.account_id)
    assert sorted(watch.id for watch in everybody) == sorted([*soon, waiting])
    assert sorted(watch.id for watch in hers) == sorted([soon[0], waiting])


def test_while_calls_are_short_a_check_is_put_off_and_nothing_is_told_or_written(
    source: PagingSource, alice: Caller
) -> None:
    monitor(alice, "JFK", "LHR", due_now())
    for _ in range(1000):
        limits.hit(CALLS, 1000, 86_400)
    run_what_is_due()
    assert (source.calls, outcomes(), rows(Notification)) == (0, [], [])
    assert [run.status for run in rows(JobRun)] == ["skipped"]
    assert waits() == [0.5]


def test_while_calls_are_short_the_watch_that_waited_longest_goes_first(
    source: PagingSource,
    with_sources: WithSources,  # noqa: F811
    alice: Caller,
    bob: Caller,
) -> None:
    card: Provider = replace(source.card, calls_a_day=20)
    with_sources(card)
    limits.hit("short:seats_aero:operator", 1, 3600)
    old = clock.now() - timedelta(hours=9)
    monitor(alice, "SYD", "AKL", due_now(), 200, last_checked_at=clock.now() - timedelta(hours=1))
    monitor(bob, "JFK", "LHR", timedelta(hours=2), last_checked_at=old)
    run_what_is_due()
    assert [s["origin_airport"] for s in source.searches] == ["JFK"]
    assert outcomes() == ["ok"]
    assert waits() == [0.5, 6.0]
    change(Schedule, next_due_at=past())
    run_what_is_due()
    assert [s["origin_airport"] for s in source.searches] == ["JFK", "SYD"]
