"""Checking a route monitor: what the sources answered to its terms goes in; states, matches and a message come out."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared import clock
from shared.db import route_monitors
from shared.db.profile import addressee
from shared.db.route_monitors import MonitorKey, RouteMonitor, Watched
from shared.db.run_kinds import RunKind
from shared.db.runs import unschedule
from shared.domain.award_matches import MonitorTerms
from shared.outbox.enqueue import tell
from shared.services.search.award_options import OFFER_FIELDS, AwardOption
from shared.services.watches.award_seats import CheckResult, WatchQuery, find_new_matches, route_facts, should_mail

EVENT = "route_monitor_match"


def terms_of(monitor: Watched) -> MonitorTerms:
    return MonitorTerms(
        earliest=monitor.earliest_date,
        latest=monitor.latest_date,
        cabin=monitor.cabin,
        airlines=frozenset(monitor.airlines) if monitor.airlines else None,
        passengers=monitor.passengers,
        max_points=monitor.max_points,
    )


def _wanted(monitor: Watched) -> bool:
    return not monitor.cancelled_at and not monitor.paused_at and monitor.latest_date >= clock.today()


def plan_of(session: Session, monitor_id: int) -> WatchQuery | None:
    """What to ask; None when there seems to be nothing to watch any more."""
    monitor = route_monitors.watched(session, monitor_id)
    return _plan(monitor) if monitor and _wanted(monitor) else None


def prepare(session: Session, monitor_id: int) -> WatchQuery | None:
    """As above, read under the monitor's lock; with nothing to watch any more the schedule is switched off."""
    monitor = route_monitors.watched(session, monitor_id, lock=True)
    if monitor and _wanted(monitor):
        return _plan(monitor)
    _end(session, monitor_id, monitor)
    return None


def _plan(monitor: Watched) -> WatchQuery:
    return WatchQuery(monitor.id, monitor.account_id, monitor.origin, monitor.destination, terms_of(monitor))


def _end(session: Session, monitor_id: int, monitor: Watched | None) -> None:
    if monitor is not None and monitor.cancelled_at is None and monitor.latest_date < clock.today():
        over = {"cancelled_at": clock.now(), "cancel_reason": "window_passed"}
        session.execute(update(RouteMonitor).where(RouteMonitor.id == monitor_id).values(over))
        session.execute(delete(MonitorKey).where(MonitorKey.monitor_id == monitor_id))
    unschedule(session, RunKind.ROUTE_MONITOR, [monitor_id])


def settle(session: Session, run_id: int, sight: CheckResult) -> str | None:
    """Writes what a check found; returns why the run should be tried again, None when it is complete.

    The monitor is read again under its lock: cancelled, paused or changed meanwhile means that nothing fires.
    """
    monitor = route_monitors.watched(session, sight.plan.watch_id, lock=True)
    if monitor is None or monitor.cancelled_at or monitor.paused_at or terms_of(monitor) != sight.plan.terms:
        return None
    found, states = find_new_matches(sight, route_monitors.states(session, monitor.id))
    _log(session, run_id, sight, states, len(found))
    if found:
        _fire(session, run_id, monitor, sight.plan, found)
    return sight.try_again


def _log(session: Session, run_id: int, sight: CheckResult, states: Mapping[str, bool], new: int) -> None:
    seen = sight.window
    line = {"run_id": run_id, "outcome": sight.outcome, "options_seen": len(seen.options), "new_matches": new}
    line |= {"failed_sources": list(seen.failed)}
    answered_at = sight.asked_at if seen.any_answered else None
    route_monitors.log_check(session, sight.plan.watch_id, sight.asked_at, states, line, answered_at)


def _fire(session: Session, run_id: int, monitor: Watched, plan: WatchQuery, found: Sequence[AwardOption]) -> None:
    """All fresh matches of one check make one notice and one mail."""
    route_monitors.add_matches(session, [_match_row(monitor.id, option) for option in found])
    account = addressee(session, monitor.account_id)
    tell(
        session,
        account,
        EVENT,
        route_facts(plan, found) | {"monitor_id": monitor.id},
        dedupe_key=f"{RunKind.ROUTE_MONITOR}:{monitor.id}:{run_id}",
        subject=(RunKind.ROUTE_MONITOR, monitor.id),
        mail=should_mail(session, account, EVENT, (RunKind.ROUTE_MONITOR, monitor.id), plan, found),
    )


def _match_row(monitor_id: int, option: AwardOption) -> dict[str, Any]:
    columns = (*OFFER_FIELDS, "source", "mode", "provider_checked_at")
    row = {"monitor_id": monitor_id, "found_at": clock.now(), "option_id": option.trip_id}
    return row | {name: getattr(option, name) for name in columns}
