"""Several checks of flight alerts at once, alongside those of route monitors: each is as if it were alone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from jobs import runs
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.flight_alerts import FlightAlert
from shared.db.messages import Delivery
from shared.db.route_monitors import MonitorCheck
from shared.db.runs import Schedule
from tests.jobs.conftest import notices, rows, statuses
from tests.jobs.test_flight_alerts import alert
from tests.jobs.test_route_monitors import seat, watch
from tests.jobs.test_runs_together import always, claim_due, counted_statements
from tests.support.people import account
from tests.support.settings_and_clock import Configure, StandingClock

MANY = 8


def checked() -> dict[int, tuple[bool, str | None, bool]]:
    """By alert whether it was looked at, with which outcome, and whether it ever found anything."""
    return {
        row.id: (row.last_checked_at is not None, row.last_outcome, bool(row.last_hit_at)) for row in rows(FlightAlert)
    }


def test_quiet_checks_of_alerts_are_written_by_a_few_statements(alice: Caller) -> None:
    ids = [alert(alice) for _ in range(MANY)]
    claims = claim_due()
    with counted_statements() as seen:
        runs.work_together(claims, always)
    assert len(seen) <= 10  # alone each takes nine
    assert statuses() == ["done"] * MANY
    assert checked() == dict.fromkeys(ids, (True, "ok", False))
    assert notices() == []


def test_news_of_alerts_are_told_to_their_owners_and_once(alice: Caller, standing_clock: StandingClock) -> None:
    bob = account("bob", email_confirmed_at=clock.now())
    hers, his, other = alert(alice), alert(bob), alert(alice, cabin_class="first")
    seat("open")
    runs.work_together(claim_due(), always)
    assert {notice.subject_id: notice.account_id for notice in notices()} == {
        str(hers): alice.account_id,
        str(his): bob.account_id,
    }
    assert sorted(mail.recipient for mail in rows(Delivery)) == ["alice@example.test", "bob@example.test"]
    assert checked() == {hers: (True, "ok", True), his: (True, "ok", True), other: (True, "ok", False)}
    standing_clock.advance(timedelta(minutes=1))
    runs.work_together(claim_due(), always)
    assert len(notices()) == 2
    assert {row.id: row.last_hit_at for row in rows(FlightAlert)}[hers] == clock.now() - timedelta(minutes=1)


def test_alerts_that_are_not_simply_watched_are_left_to_the_check_of_one(alice: Caller) -> None:
    ended, paused, *watched = [alert(alice) for _ in range(4)]
    yesterday = clock.today() - timedelta(days=1)
    with transaction() as session:
        session.get_one(FlightAlert, ended).date_range_start = yesterday
        session.get_one(FlightAlert, ended).date_range_end = yesterday
        session.get_one(FlightAlert, paused).paused_at = clock.now()
    runs.work_together(claim_due(), always)
    assert statuses() == ["done"] * 4
    assert {id for id, (was_checked, *_) in checked().items() if was_checked} == set(watched)
    assert {row.subject_id for row in rows(Schedule) if not row.enabled} == {ended, paused}


def test_alerts_that_nobody_answered_are_tried_again_one_by_one(alice: Caller, configure: Configure) -> None:
    for _ in range(3):
        alert(alice)
    configure(SANDBOX_FAULT="down")
    runs.work_together(claim_due(), always)
    assert statuses() == ["pending"] * 3
    assert {outcome for _, outcome, _ in checked().values()} == {"backend_unavailable"}


@pytest.mark.parametrize("broken", ["route_monitor", "flight_alert"])
def test_a_fault_of_one_kind_does_not_hold_up_the_other(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(_claims: Any, _in_time: Callable[[], bool]) -> Any:
        raise RuntimeError("boom")

    for _ in range(2):
        alert(alice)
        watch(alice)
    monkeypatch.setitem(runs.TOGETHER, broken, fail)
    runs.work_together(claim_due(), always)
    assert statuses() == ["done"] * 4
    assert [check.outcome for check in rows(MonitorCheck)] == ["ok"] * 2
    assert [outcome for _, outcome, _ in checked().values()] == ["ok"] * 2
