"""A change of plan pauses what no longer fits and resumes what fits again; servers hear of it after commit only."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.messages import Notification
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Schedule, schedule
from shared.db.standing_orders import StandingOrder
from shared.domain.plans import Plan
from shared.outbox.plan_change import change_admin, change_plan
from shared.redis import EVENTS, connect
from tests.support.people import account
from tests.support.settings_and_clock import StandingClock


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", Plan.PREMIUM)


def watch(who: Caller, count: int) -> list[int]:
    """Stored monitors with their schedules, oldest first."""
    ids = []
    for _ in range(count):
        with transaction(who.account_id) as session:
            row = RouteMonitor(origin="LHR", destination="JFK", earliest_date=clock.today(), latest_date=clock.today())
            session.add(row)
            session.flush()
            schedule(session, "route_monitor", row.id, timedelta(hours=6))
            ids.append(row.id)
    return ids


def change(who: Caller, plan: Plan, **more: int) -> None:
    with transaction() as session:
        change_plan(session, session.get_one(Account, who.account_id), plan, **more)


def running() -> list[int]:
    with transaction() as session:
        awake = session.scalars(select(RouteMonitor.id).where(RouteMonitor.paused_at.is_(None))).all()
        scheduled = session.scalars(select(Schedule.subject_id).where(Schedule.enabled)).all()
        assert sorted(awake) == sorted(scheduled)
        return sorted(awake)


def notices() -> list[str]:
    with transaction() as session:
        return list(session.scalars(select(Notification.body).order_by(Notification.created_at)))


Heard = Callable[[], list[dict[str, str]]]


@pytest.fixture
def heard(clean: None) -> Iterator[Heard]:
    """heard() -> what servers were told since it was last called."""
    with connect().pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe(EVENTS)
        channel.get_message(timeout=1)

        def drain() -> list[dict[str, str]]:
            return [json.loads(m["data"]) for m in iter(lambda: channel.get_message(timeout=0.2), None)]

        yield drain


def test_a_smaller_plan_pauses_the_newest_and_a_larger_one_resumes_them(
    alice: Caller, standing_clock: StandingClock
) -> None:
    ids = watch(alice, 4)
    change(alice, Plan.FREE)
    assert running() == ids[:1]
    standing_clock.advance(timedelta(minutes=1))
    change(alice, Plan.PREMIUM)
    assert running() == ids
    body_down, body_up = notices()
    assert f"Paused route monitors: {ids[1]}, {ids[2]}, {ids[3]}." in body_down
    assert "Nothing was deleted" in body_down
    assert f"Resumed route monitors: {ids[1]}, {ids[2]}, {ids[3]}." in body_up


def test_a_cancelled_monitor_is_neither_counted_nor_resumed(alice: Caller) -> None:
    first, second = watch(alice, 2)
    with transaction() as session:
        session.get_one(RouteMonitor, first).cancelled_at = clock.now()
        session.execute(select(1))
        session.scalars(select(Schedule).where(Schedule.subject_id == first)).one().enabled = False
    change(alice, Plan.FREE)
    with transaction() as session:
        assert session.get_one(RouteMonitor, second).paused_at is None
        assert session.get_one(RouteMonitor, first).paused_at is None
    change(alice, Plan.PRO)
    with transaction() as session:
        assert not session.scalars(select(Schedule).where(Schedule.subject_id == first)).one().enabled


@pytest.mark.spec("s8.api_tier_limit_negotiated")
def test_an_agreed_number_of_api_calls_is_kept_with_the_plan(alice: Caller) -> None:
    change(alice, Plan.ENTERPRISE, api_calls=2000)
    with transaction() as session:
        row = session.get_one(Account, alice.account_id)
        assert (row.plan, row.api_calls_per_month) == ("enterprise", 2000)


def test_a_plan_that_stays_tells_nobody(alice: Caller) -> None:
    change(alice, Plan.PREMIUM)
    assert notices() == []


def test_servers_hear_after_commit_and_never_of_what_was_rolled_back(alice: Caller, heard: Heard) -> None:
    def fail() -> None:
        with transaction() as session:
            change_plan(session, session.get_one(Account, alice.account_id), Plan.PRO)
            session.flush()
            assert heard() == []
            raise RuntimeError("not committed")

    with pytest.raises(RuntimeError):
        fail()
    assert heard() == []
    change(alice, Plan.PRO)
    assert heard() == [{"account": "acc_alice"}]


def test_the_admin_flag_is_told_too(alice: Caller, heard: Heard) -> None:
    with transaction() as session:
        change_admin(session, session.get_one(Account, alice.account_id), is_admin=True)
    assert heard() == [{"account": "acc_alice"}]
    with transaction() as session:
        assert session.get_one(Account, alice.account_id).is_admin


def keep(who: Caller, count: int) -> None:
    """So many of everything a plan caps, next to one of each that is over and does not count."""
    day, route = clock.today(), {"airline": "BA", "departure": "LHR", "destination": "JFK"}
    window = {"date_range_start": day, "date_range_end": day}
    with transaction(who.account_id) as session:
        for active in (False, *[True] * count):
            delay = {"airport": "JFK", "channels": ["email"], "min_delay_minutes": 30}
            stopped = None if active else clock.now()
            made = [
                FlightAlert(**route, **window, active=active),
                DelayAlert(**delay, active=active),
                StandingOrder(prompt="Look.", cadence="daily", run_hour=7, stopped_at=stopped),
            ]
            session.add_all(made)
            session.flush()
            for kind, row in (("flight_alert", made[0]), ("standing_order", made[2])):
                schedule(session, kind, row.id, timedelta(days=1))  # type: ignore[attr-defined]


def awake(kind: type) -> list[int]:
    with transaction() as session:
        over = kind.stopped_at.is_(None) if kind is StandingOrder else kind.active.is_(True)  # type: ignore[attr-defined]
        found = select(kind.id).where(over, kind.paused_at.is_(None)).order_by(kind.id)  # type: ignore[attr-defined]
        return list(session.scalars(found))


@pytest.mark.parametrize(
    ("kind", "name", "left"),
    [
        (FlightAlert, "flight alerts", [2]),
        (DelayAlert, "delay alerts", []),
        (StandingOrder, "standing orders", []),
    ],
)
def test_alerts_and_standing_orders_pause_and_resume_as_monitors_do(
    alice: Caller, standing_clock: StandingClock, kind: type, name: str, left: list[int]
) -> None:
    keep(alice, 3)
    change(alice, Plan.FREE)
    assert awake(kind) == left
    standing_clock.advance(timedelta(minutes=1))
    change(alice, Plan.PREMIUM)
    assert awake(kind) == [2, 3, 4]
    body_down, body_up = notices()
    told = ", ".join(str(id) for id in (2, 3, 4) if id not in left)
    assert f"Paused {name}: {told}." in body_down
    assert f"Resumed {name}: {told}." in body_up


@pytest.mark.parametrize("hours", [-12, 0, 20])
def test_what_is_paused_is_not_scheduled_and_an_order_keeps_its_hour(
    alice: Caller, standing_clock: StandingClock, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """By the database's clock, which decides what is due, however wrong that of the machine is."""
    noon = standing_clock.now()
    monkeypatch.setattr(clock, "now", lambda: noon + timedelta(hours=hours))
    keep(alice, 2)
    change(alice, Plan.FREE)
    with transaction() as session:
        due = {(s.kind, s.subject_id): s for s in session.scalars(select(Schedule))}
        assert [due["flight_alert", id].enabled for id in (2, 3)] == [True, False]
        assert [due["standing_order", id].enabled for id in (2, 3)] == [False, False]
        for row in due.values():
            row.next_due_at = noon - timedelta(hours=30)
    change(alice, Plan.PREMIUM)
    with transaction() as session:
        due = {(s.kind, s.subject_id): s for s in session.scalars(select(Schedule))}
        assert due["flight_alert", 3].enabled
        assert due["flight_alert", 3].next_due_at <= noon
        # The moments that were missed are not made up for.
        assert due["standing_order", 3].next_due_at == noon + timedelta(hours=18)
