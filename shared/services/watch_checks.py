"""Checking a route monitor: a monitor's terms go out to the providers; states, matches and one message come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.runs import unschedule
from shared.db.watches import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor, remember
from shared.domain.watches import Key, Terms, best_by_key, crossings
from shared.outbox.messages import LISTED
from shared.outbox.post import tell
from shared.providers.ask import Ask
from shared.reference.load import reference
from shared.services.availability import SeatOption, Window, search_window
from shared.services.connections import credentials

KIND = "route_monitor"


@dataclass(frozen=True)
class Plan:
    """What to ask for one monitor, read before asking; `terms` tells later whether the user changed it meanwhile."""

    monitor_id: int
    account_id: int
    origin: str
    destination: str
    terms: Terms


@dataclass(frozen=True)
class Sight:
    """What the providers answered to a plan."""

    plan: Plan
    asked_at: datetime
    window: Window

    @property
    def outcome(self) -> str:
        """Nobody answered: an outage can be tried again, a missing connection or setting cannot."""
        told = self.window.coverage
        if self.window.any_answered:
            return "partial" if told.failed else "ok"
        if told.failed:
            return "backend_unavailable"
        return told.skipped[0].reason if told.skipped else "not_configured"


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
    if monitor is None or monitor.cancelled_at or monitor.paused_at:
        unschedule(session, KIND, [monitor_id])
        return None
    return Plan(monitor.id, monitor.account_id, monitor.origin, monitor.destination, terms_of(monitor))


async def look(plan: Plan) -> Sight:
    """Asks the providers; holds no connection to the database meanwhile."""
    asked_at, terms = clock.now(), plan.terms
    window = await search_window(
        Ask(account_id=plan.account_id, connections=credentials(plan.account_id), background=True),
        plan.origin,
        plan.destination,
        terms.earliest,
        terms.latest,
        cabin=terms.cabin,
        airlines=sorted(terms.airlines) if terms.airlines else None,
        passengers=terms.passengers,
    )
    return Sight(plan, asked_at, window)


def settle(session: Session, run_id: int, sight: Sight) -> str | None:
    """Writes what a check found; returns why the run should be tried again, None when it is complete.

    The monitor is read again under its lock: cancelled, paused or changed meanwhile means that nothing fires.
    """
    monitor = session.get(RouteMonitor, sight.plan.monitor_id, with_for_update=True, populate_existing=True)
    if monitor is None or monitor.cancelled_at or monitor.paused_at or terms_of(monitor) != sight.plan.terms:
        return None
    best = best_by_key(sight.plan.terms, sight.window.options)
    before, newer = _states(session, monitor.id, sight.asked_at)
    fresh, states = crossings(before, best, lambda key: sight.window.answered(key) and key not in newer)
    remember(session, monitor.id, {str(key): matched for key, matched in states.items()}, sight.asked_at)
    found = sorted((best[key] for key in fresh), key=lambda option: (option.points, option.date))
    _log(session, run_id, monitor, sight, len(found))
    if found:
        _fire(session, run_id, monitor, found)
    return f"no source answered: {', '.join(sight.window.failed)}" if sight.outcome == "backend_unavailable" else None


def _states(session: Session, monitor_id: int, asked_at: datetime) -> tuple[dict[Key, bool], set[Key]]:
    """The state of each remembered key, and the keys a later question has answered already."""
    rows = session.scalars(select(MonitorKey).where(MonitorKey.monitor_id == monitor_id)).all()
    before = {Key.parse(row.key): row.matched for row in rows}
    return before, {Key.parse(row.key) for row in rows if row.answered_at > asked_at}


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


def _fire(session: Session, run_id: int, monitor: RouteMonitor, found: Sequence[SeatOption]) -> None:
    """All fresh matches of one check make one notice and one mail."""
    session.add_all(_match(monitor, option) for option in found)
    monitor.matches_total += len(found)
    session.flush()
    account = session.get_one(Account, monitor.account_id)
    tell(
        session,
        account,
        "route_monitor_match",
        _facts(monitor, found),
        dedupe_key=f"route_monitor:{monitor.id}:{run_id}",
        subject=("route_monitor", monitor.id),
        mail=True,
    )


_KEPT = (
    *("airline", "program", "origin", "destination", "date", "cabin", "points", "taxes", "taxes_currency", "seats"),
    *("stops", "departs_at", "arrives_at", "source", "mode", "provider_checked_at"),
)


def _match(monitor: RouteMonitor, option: SeatOption) -> MonitorMatch:
    values: dict[str, Any] = {name: getattr(option, name) for name in _KEPT}
    return MonitorMatch(
        monitor_id=monitor.id,
        found_at=clock.now(),
        option_id=option.trip_id,
        flight_numbers=list(option.flight_numbers),
        **values,
    )


def _facts(monitor: RouteMonitor, found: Sequence[SeatOption]) -> dict[str, Any]:
    return {
        "monitor_id": monitor.id,
        "origin": monitor.origin,
        "destination": monitor.destination,
        "earliest": monitor.earliest_date.isoformat(),
        "latest": monitor.latest_date.isoformat(),
        "total": len(found),
        "options": [_option_facts(option) for option in found[:LISTED]],
    }


def _option_facts(option: SeatOption) -> dict[str, Any]:
    """In words a mail can use: names instead of codes."""
    facts = reference()
    day: date = option.date
    return {
        "date": day.isoformat(),
        "airline": option.airline,
        "airline_name": facts.airlines[option.airline].name if option.airline in facts.airlines else option.airline,
        "program": option.program,
        "program_name": facts.programs[option.program].name if option.program in facts.programs else option.program,
        "cabin": option.cabin,
        "points": option.points,
        "taxes": None if option.taxes is None else f"{option.taxes:.2f}",
        "taxes_currency": option.taxes_currency,
        "seats": option.seats,
        "flight_numbers": list(option.flight_numbers),
        "checked_at": option.provider_checked_at.isoformat(timespec="minutes") if option.provider_checked_at else None,
    }
