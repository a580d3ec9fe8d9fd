"""A change of plan, trial or admin flag: an account and its new terms go in; what no longer fits is paused and told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, event, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.alerts import DelayAlert, FlightAlert
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Schedule, unschedule
from shared.db.standing_orders import StandingOrder
from shared.domain.plans import LIMITS, Limits, Plan
from shared.outbox.enqueue import tell
from shared.redis import publish


@dataclass(frozen=True)
class Capped:
    """Something a plan allows so many of: what it is called, which rows live, and the schedule it has, if any."""

    name: str
    row: type[Any]
    lives: ColumnElement[bool]
    cap: Callable[[Limits], int]
    schedule: str | None = None
    at_its_hour: bool = False  # a run that was missed while paused is not made up for


CAPPED = (
    Capped(
        "route monitors", RouteMonitor, RouteMonitor.cancelled_at.is_(None), lambda x: x.route_monitors, "route_monitor"
    ),
    Capped("flight alerts", FlightAlert, FlightAlert.active.is_(True), lambda x: x.flight_alerts, "flight_alert"),
    Capped("delay alerts", DelayAlert, DelayAlert.active.is_(True), lambda x: x.delay_alerts),
    Capped(
        "standing orders",
        StandingOrder,
        StandingOrder.stopped_at.is_(None),
        lambda x: x.standing_orders,
        "standing_order",
        at_its_hour=True,
    ),
)


def change_plan(session: Session, account: Account, plan: Plan, api_calls: int | None = None) -> None:
    """Writes the plan; pauses what it does not cover, newest first, and resumes what it covers again, oldest first.

    Nothing is deleted. `api_calls` is an agreed number of REST calls a month; None means the plan's own.
    Every server forgets what it knew of the account as soon as the caller has committed.
    """
    _lock(session, account)
    changed = account.plan != plan.slug
    account.plan = plan.slug
    account.api_calls_per_month = api_calls
    paused: dict[str, list[int]] = {}
    resumed: dict[str, list[int]] = {}
    for kind in CAPPED:
        stop, go = _fit(session, account, kind, kind.cap(LIMITS[plan]))
        paused |= {kind.name: stop} if stop else {}
        resumed |= {kind.name: go} if go else {}
    session.flush()
    if changed or paused or resumed:
        facts = {"plan": plan.slug, "paused": paused, "resumed": resumed}
        tell(session, account, "plan_changed", facts, dedupe_key=f"plan:{account.id}:{clock.now().isoformat()}")
    _publish_after_commit(session, account)


def change_admin(session: Session, account: Account, *, is_admin: bool) -> None:
    """Gives or takes the admin flag; it acts within seconds, as a plan does."""
    account.is_admin = is_admin
    session.flush()
    _publish_after_commit(session, account)


def change_trial(session: Session, account: Account, days: int) -> datetime:
    """Lets the account try the booking inbox from now on for so many days; 0 ends it, and it does not begin again."""
    account.inbox_trial_ends_on = clock.now() + timedelta(days=days)
    session.flush()
    _publish_after_commit(session, account)
    return account.inbox_trial_ends_on


def _lock(session: Session, account: Account) -> None:
    """Nothing capped is created while the plan changes; the lock lets notices refer to the account meanwhile."""
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update(key_share=True))


def _fit(session: Session, account: Account, kind: Capped, cap: int) -> tuple[list[int], list[int]]:
    """The first `cap` of them by age go on, the others pause."""
    row = kind.row
    living = session.scalars(
        select(row)
        .where(row.account_id == account.id, kind.lives)
        .order_by(row.paused_at.is_not(None), row.id)  # what runs now goes before what is paused
        .with_for_update()
    ).all()
    paused = [one.id for one in living[cap:] if one.paused_at is None]
    resumed = [one.id for one in living[:cap] if one.paused_at is not None]
    for one in living:
        one.paused_at = clock.now() if one.id in paused else None if one.id in resumed else one.paused_at
    if kind.schedule:
        unschedule(session, kind.schedule, paused)
        _reschedule(session, kind, kind.schedule, resumed)
    return paused, resumed


def _reschedule(session: Session, kind: Capped, name: str, ids: Sequence[int]) -> None:
    """Switched on again as it was: a moment that passed meanwhile is due at once, and the phase is kept."""
    due = select(Schedule).where(Schedule.kind == name, Schedule.subject_id.in_(ids))
    for schedule in session.scalars(due):
        schedule.enabled = True
        while kind.at_its_hour and schedule.next_due_at <= clock.now():
            schedule.next_due_at += schedule.every


def _publish_after_commit(session: Session, account: Account) -> None:
    public_id = account.public_id

    def tell_servers(_session: Session) -> None:
        publish(account=public_id)

    event.listen(session, "after_commit", tell_servers, once=True)
