"""Checking a route monitor: what the sources answered to its terms goes in; states, matches and a message come out."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.runs import unschedule
from shared.db.watches import MonitorCheck, MonitorKey, RouteMonitor, add_matches, remember
from shared.domain.watches import Terms
from shared.outbox.post import tell
from shared.services.availability import SeatOption
from shared.services.seat_watch import Plan, Sight, judge, route_facts, worth_a_mail

KIND, EVENT = "route_monitor", "route_monitor_match"
_KEYS = select(MonitorKey.key, MonitorKey.matched, MonitorKey.answered_at)


def terms_of(monitor: RouteMonitor) -> Terms:
    return Terms(
        earliest=monitor.earliest_date,
        latest=monitor.latest_date,
        cabin=monitor.cabin,
        airlines=frozenset(monitor.airlines) if monitor.airlines else None,
        passengers=monitor.passengers,
        max_points=monitor.max_points,
    )


def _over(monitor: RouteMonitor) -> bool:
    return monitor.latest_date < clock.today()


def prepare(session: Session, monitor_id: int) -> Plan | None:
    """What to ask; None when there is nothing to watch any more, and then the schedule is switched off."""
    monitor = session.get(RouteMonitor, monitor_id, with_for_update=True)
    if monitor is not None and monitor.cancelled_at is None and _over(monitor):
        monitor.cancelled_at, monitor.cancel_reason = clock.now(), "window_passed"
        session.flush()
        session.execute(delete(MonitorKey).where(MonitorKey.monitor_id == monitor_id))
    if monitor is None or monitor.cancelled_at or monitor.paused_at:
        unschedule(session, KIND, [monitor_id])
        return None
    return Plan(monitor.id, monitor.account_id, monitor.origin, monitor.destination, terms_of(monitor))


def settle(session: Session, run_id: int, sight: Sight) -> str | None:
    """Writes what a check found; returns why the run should be tried again, None when it is complete.

    The monitor is read again under its lock: cancelled, paused or changed meanwhile means that nothing fires.
    """
    monitor = session.get(RouteMonitor, sight.plan.watch_id, with_for_update=True, populate_existing=True)
    if monitor is None or monitor.cancelled_at or monitor.paused_at or terms_of(monitor) != sight.plan.terms:
        return None
    kept = session.execute(_KEYS.where(MonitorKey.monitor_id == monitor.id)).all()
    found, states = judge(sight, kept)
    remember(session, monitor.id, states, sight.asked_at)
    _log(session, run_id, monitor, sight, len(found))
    if found:
        _fire(session, run_id, monitor, sight.plan, found)
    return sight.try_again


def _log(session: Session, run_id: int, monitor: RouteMonitor, sight: Sight, new: int) -> None:
    """One line per run, rewritten by its later attempts."""
    row = session.scalar(select(MonitorCheck).where(MonitorCheck.run_id == run_id))
    if row is None:
        row = MonitorCheck(run_id=run_id, monitor_id=monitor.id)
        session.add(row)
    row.checked_at, row.outcome = sight.asked_at, sight.outcome
    row.options_seen, row.new_matches, row.failed_sources = len(sight.window.options), new, list(sight.window.failed)
    if sight.window.any_answered:
        monitor.last_checked_at = sight.asked_at


def _fire(session: Session, run_id: int, monitor: RouteMonitor, plan: Plan, found: Sequence[SeatOption]) -> None:
    """All fresh matches of one check make one notice and one mail."""
    add_matches(session, [_match(monitor.id, option) for option in found])
    monitor.matches_total += len(found)
    account = session.get_one(Account, monitor.account_id)
    tell(
        session,
        account,
        EVENT,
        route_facts(plan, found) | {"monitor_id": monitor.id},
        dedupe_key=f"route_monitor:{monitor.id}:{run_id}",
        subject=("route_monitor", monitor.id),
        mail=worth_a_mail(session, account, EVENT, (KIND, monitor.id), plan, found),
    )


_KEPT = (
    *("airline", "program", "origin", "destination", "date", "cabin", "points", "taxes", "taxes_currency", "seats"),
    *("stops", "flight_numbers", "departs_at", "arrives_at", "source", "mode", "provider_checked_at"),
)


def _match(monitor_id: int, option: SeatOption) -> dict[str, Any]:
    told = {"monitor_id": monitor_id, "found_at": clock.now(), "option_id": option.trip_id}
    return told | {name: getattr(option, name) for name in _KEPT}
