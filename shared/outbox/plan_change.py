"""Changes of an account's plan, trial or admin flag; what a plan no longer covers is paused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, event, func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.route_monitors import RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import Schedule, unschedule
from shared.db.standing_orders import StandingOrder
from shared.domain.plans import LIMITS, Plan
from shared.outbox.enqueue import tell
from shared.redis import publish


@dataclass(frozen=True)
class Capped:
    """Something a plan allows so many of: the kind of its runs, and which of its rows count."""

    kind: RunKind
    row: type[Any]
    is_live: ColumnElement[bool]
    at_its_hour: bool = False  # a run that was missed while paused is not made up for

    @property
    def limit(self) -> str:
        return self.kind.limit or ""

    @property
    def name(self) -> str:
        return self.limit.replace("_", " ")

    def cap(self, plan: Plan) -> int:
        return int(getattr(LIMITS[plan], self.limit))


CAPPED = (
    Capped(
        RunKind.ROUTE_MONITOR,
        RouteMonitor,
        RouteMonitor.cancelled_at.is_(None) & RouteMonitor.paused_by_owner.is_(False),
    ),
    Capped(RunKind.FLIGHT_ALERT, FlightAlert, FlightAlert.active.is_(True)),
    Capped(RunKind.AIRPORT_DELAYS, DelayAlert, DelayAlert.active.is_(True)),
    Capped(RunKind.STANDING_ORDER, StandingOrder, StandingOrder.stopped_at.is_(None), at_its_hour=True),
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
    for capped in CAPPED:
        paused_ids, resumed_ids = _fit_to_cap(session, account, capped, capped.cap(plan))
        paused |= {capped.name: paused_ids} if paused_ids else {}
        resumed |= {capped.name: resumed_ids} if resumed_ids else {}
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
    """Nothing capped is created while the plan changes; the lock lets notices refer to the account in the meantime."""
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update(key_share=True))


def _fit_to_cap(session: Session, account: Account, capped: Capped, cap: int) -> tuple[list[int], list[int]]:
    """The first `cap` of them by age go on, the others pause."""
    row = capped.row
    living = session.scalars(
        select(row)
        .where(row.account_id == account.id, capped.is_live)
        .order_by(row.paused_at.is_not(None), row.id)  # what runs now goes before what is paused
        .with_for_update()
    ).all()
    paused = [one.id for one in living[cap:] if one.paused_at is None]
    resumed = [one.id for one in living[:cap] if one.paused_at is not None]
    for one in living:
        one.paused_at = clock.now() if one.id in paused else None if one.id in resumed else one.paused_at
    if capped.kind.subject:
        unschedule(session, capped.kind, paused)
        _reschedule(session, capped, resumed)
    return paused, resumed


def _reschedule(session: Session, capped: Capped, ids: Sequence[int]) -> None:
    """Switched on again as it was: a moment that passed in the meantime is due at once, and the phase is kept."""
    due = select(Schedule, func.now()).where(Schedule.kind == capped.kind, Schedule.subject_id.in_(ids))
    for schedule, now in session.execute(due):
        schedule.enabled = True
        while capped.at_its_hour and schedule.next_due_at <= now:
            schedule.next_due_at += schedule.every


def _publish_after_commit(session: Session, account: Account) -> None:
    public_id = account.public_id

    def tell_servers(_session: Session) -> None:
        publish(account=public_id)

    event.listen(session, "after_commit", tell_servers, once=True)
