"""Several checks of route monitors at once: they are written together, and each is as if it were alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from jobs import dispatcher, runs
from jobs.queue import RUNS
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.route_monitors import MonitorCheck, MonitorKey, RouteMonitor
from shared.db.runs import Claim, JobRun, Schedule, claim_runs, run_now
from shared.providers.contract import AwardSeat, SeatsQuestion
from shared.providers.sandbox import market
from tests.jobs.conftest import change, notices, past, rows, statuses
from tests.jobs.test_route_monitors import monitor, seat, travel_day, watch
from tests.support.fake_seats import WithSources, live, source, together, with_sources  # noqa: F401 - fixtures used here too
from tests.support.fake_seats import seat as offered
from tests.support.paging_source import PagingSource
from tests.support.people import account
from tests.support.settings_and_clock import StandingClock

MANY = 8


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def claim_due() -> list[Claim]:
    """Every monitor is due, and one worker has claimed all of their runs."""
    change(Schedule, next_due_at=past())
    dispatcher.step()
    with transaction() as session:
        return claim_runs(session, 150, 100)


def always() -> bool:
    return True


def never() -> bool:
    return False


def test_quiet_checks_are_written_by_a_few_statements_and_logged_one_by_one(alice: Caller) -> None:
    for _ in range(MANY):
        watch(alice)
    claims = claim_due()
    with counted_statements() as seen:
        runs.work_together(claims, always)
    assert len(seen) <= 12  # alone each takes eleven
    assert statuses() == ["done"] * MANY
    checks = rows(MonitorCheck)
    assert sorted((check.run_id, check.monitor_id) for check in checks) == sorted((c.id, c.subject_id) for c in claims)
    assert {(check.outcome, check.new_matches) for check in checks} == {("ok", 0)}
    assert all(row.last_checked_at for row in rows(RouteMonitor))
    assert notices() == []


def test_a_check_that_finds_something_is_told_once_beside_quiet_ones(alice: Caller) -> None:
    watching, *others = [watch(alice), *(watch(alice, cabin="first") for _ in range(3))]
    seat("open")
    runs.work_together(claim_due(), always)
    (notice,) = notices()
    assert notice.subject_id == str(watching)
    assert sorted(check.monitor_id for check in rows(MonitorCheck)) == sorted([watching, *others])
    runs.work_together(claim_due(), always)
    assert len(notices()) == 1
    assert statuses() == ["done"] * 8


def test_news_of_many_checks_are_told_by_a_few_statements(alice: Caller) -> None:
    bob = account("bob", email_confirmed_at=clock.now())
    watching = [watch(who) for who in (alice, bob)]
    watching += [watch(alice, cabin=cabin) for cabin in ("economy", "first")]
    for cabin in ("economy", "business", "first"):
        seat("open", cabin)
    with counted_statements() as seen:
        runs.work_together(claim_due(), always)
    assert len(seen) <= 32  # alone each takes twenty
    told = {notice.subject_id: notice.account_id for notice in notices()}
    owners = [alice.account_id, bob.account_id, alice.account_id, alice.account_id]
    assert told == {str(id): owner for id, owner in zip(watching, owners, strict=True)}
    mails = rows(Delivery)
    assert sorted((mail.account_id, mail.recipient) for mail in mails) == sorted(
        (owner, f"{'alice' if owner == alice.account_id else 'bob'}@example.test") for owner in owners
    )
    assert {row.id: row.matches_total for row in rows(RouteMonitor)} == dict.fromkeys(watching, 1)


def test_two_watches_of_one_seat_in_one_portion_are_two_notices_and_one_mail(alice: Caller) -> None:
    first, second = watch(alice), watch(alice)
    seat("open")
    runs.work_together(claim_due(), always)
    assert sorted(notice.subject_id for notice in notices()) == sorted([str(first), str(second)])
    (mail,) = rows(Delivery)
    assert mail.facts["monitor_id"] == first
    (silent,) = [notice for notice in notices() if notice.subject_id == str(second)]
    assert "mail" in silent.body


def test_a_portion_that_was_told_and_lost_before_its_end_is_told_once(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        watch(alice, cabin=None)
    seat("open")
    claims = claim_due()
    with monkeypatch.context() as lost:
        lost.setattr(runs, "finish_runs", lambda *_: False)
        lost.setattr(runs, "work", lambda *_: None)
        runs.work_together(claims, always)
    assert (notices(), rows(Delivery), _answered()) == ([], [], [])
    runs.work_together(claims, always)
    assert (len(notices()), len(rows(Delivery))) == (2, 1)


def test_monitors_that_are_not_simply_watched_are_left_to_the_check_of_one(alice: Caller) -> None:
    ended, paused, *_ = [watch(alice) for _ in range(4)]
    yesterday = clock.today() - timedelta(days=1)
    with transaction() as session:
        session.get_one(RouteMonitor, ended).earliest_date = yesterday
        session.get_one(RouteMonitor, ended).latest_date = yesterday
        session.get_one(RouteMonitor, paused).paused_at = clock.now()
    runs.work_together(claim_due(), always)
    assert statuses() == ["done"] * 4
    assert {check.monitor_id for check in rows(MonitorCheck)}.isdisjoint({ended, paused})
    assert {row.subject_id for row in rows(Schedule) if not row.enabled} == {ended, paused}


def test_what_another_worker_took_over_is_not_written_and_the_others_are(alice: Caller) -> None:
    for _ in range(3):
        watch(alice)
    claims = claim_due()
    with transaction() as session:
        session.execute(sa.update(JobRun).where(JobRun.id == claims[0].id).values(attempt=2))
    runs.work_together(claims, always)
    assert [(run.status, run.attempt) for run in rows(JobRun)] == [("running", 2), ("done", 1), ("done", 1)]
    assert claims[0].subject_id not in {check.monitor_id for check in rows(MonitorCheck)}


def test_what_is_not_begun_in_time_has_its_place_in_the_line_again(alice: Caller) -> None:
    for _ in range(3):
        watch(alice)
    change(Schedule, next_due_at=past())
    dispatcher.step()
    before = {run.id: run.wake_at for run in rows(JobRun)}
    with transaction() as session:
        claims = claim_runs(session, 150, 100)
    runs.work_together(claims, never)
    done, *left = sorted(rows(JobRun), key=lambda run: run.status)
    assert done.status == "done"  # one is worked on in any case
    assert [(run.status, run.attempt, run.started_at, run.claimed_until) for run in left] == [
        ("pending", 0, None, None),
        ("pending", 0, None, None),
    ]
    assert all(run.wake_at == before[run.id] for run in left)
    assert runs.wake() == 2


def test_questions_of_one_portion_are_asked_at_once(with_sources: WithSources) -> None:  # noqa: F811
    both = together(2)

    async def act(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        await both()
        return (offered(question.earliest),)

    with_sources(source("one", act))
    carol = account("carol", email_confirmed_at=clock.now())
    for airline in ("BA", "AA"):
        watch(carol, airlines=[airline])
    runs.work_together(claim_due(), always)
    assert statuses() == ["done"] * 2
    assert [check.outcome for check in rows(MonitorCheck)] == ["ok"] * 2


def test_watches_of_one_question_in_a_portion_are_served_by_one_answer(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SeatsQuestion] = []
    inner = market.find_seats

    def find(question: SeatsQuestion, *more: Any) -> tuple[AwardSeat, ...]:
        asked.append(question)
        return inner(question, *more)

    monkeypatch.setattr(market, "find_seats", find)
    for airlines in (["BA"], ["AA"], ["BA"], ["BA"]):
        watch(alice, airlines=airlines)
    runs.work_together(claim_due(), always)
    assert sorted(question.airlines for question in asked) == [("AA",), ("BA",)]
    assert [check.outcome for check in rows(MonitorCheck)] == ["ok"] * 4


def test_a_source_that_takes_lists_is_asked_for_one_watch_after_the_other(
    with_sources: WithSources,  # noqa: F811
) -> None:
    paging = PagingSource()
    with_sources(paging.card)
    carol = account("carol", email_confirmed_at=clock.now())
    for days in range(3):
        watch(carol, latest_date=travel_day() + timedelta(days=days))
    runs.work_together(claim_due(), always)
    assert [check.outcome for check in rows(MonitorCheck)] == ["ok"] * 3
    assert paging.calls == 1


def test_two_runs_of_one_monitor_are_both_done(alice: Caller) -> None:
    id = watch(alice)
    watch(alice)
    change(Schedule, next_due_at=past())
    dispatcher.step()
    with transaction() as session:
        run_now(session, "route_monitor", id)
    with transaction() as session:
        claims = claim_runs(session, 150, 100)
    assert len(claims) == 3
    runs.work_together(claims, always)
    assert statuses() == ["done"] * 3
    assert len(rows(MonitorCheck)) == 3


def test_where_writing_together_fails_each_is_done_alone(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_claims: Any, _in_time: Callable[[], bool]) -> Any:
        raise RuntimeError("boom")

    for _ in range(3):
        watch(alice)
    monkeypatch.setitem(runs.TOGETHER, "route_monitor", fail)
    runs.work_together(claim_due(), always)
    assert statuses() == ["done"] * 3
    assert len(rows(MonitorCheck)) == 3


@pytest.mark.parametrize(("seconds", "portions"), [(600.0, [1, 2, 4, 1]), (0.0, [1] * MANY)])
def test_a_wake_up_takes_more_runs_at_a_time_while_they_are_quick(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, seconds: float, portions: list[int]
) -> None:
    monkeypatch.setattr(runs, "PORTION_SECONDS", seconds)
    for _ in range(MANY):
        watch(alice)
    change(Schedule, next_due_at=past())
    dispatcher.step()
    line, sizes = runs.Portions(RUNS), []
    claims = line.claim()
    while claims:
        sizes.append(len(claims))
        claims = line.work(claims, always)
    assert sizes == portions
    assert statuses() == ["done"] * MANY


def _answered() -> list[datetime]:
    with transaction() as session:
        return list(session.scalars(sa.select(MonitorKey.answered_at)))


def test_a_key_that_stays_as_it_was_is_not_written_again(alice: Caller, standing_clock: StandingClock) -> None:
    watch(alice)
    seat("open")
    runs.work_together(claim_due(), always)
    first = _answered()
    assert len(first) == 1
    standing_clock.advance(timedelta(minutes=1))
    runs.work_together(claim_due(), always)
    assert _answered() == first
    assert monitor().last_checked_at == clock.now()
    assert len(notices()) == 1
