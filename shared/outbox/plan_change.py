"""A change of plan, trial or admin flag: an account and its new terms go in; what no longer fits is paused and told."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import event, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.runs import Schedule, unschedule
from shared.db.watches import RouteMonitor
from shared.domain.plans import LIMITS, Plan
from shared.outbox.post import tell
from shared.redis import publish


def change_plan(session: Session, account: Account, plan: Plan, api_calls: int | None = None) -> None:
    """Writes the plan; pauses what it does not cover, newest first, and resumes what it covers again, oldest first.

    Nothing is deleted. `api_calls` is an agreed number of REST calls a month; None means the plan's own.
    Every server forgets what it knew of the account as soon as the caller has committed.
    """
    _lock(session, account)
    changed = account.plan != plan.slug
    account.plan = plan.slug
    account.api_calls_per_month = api_calls
    paused, resumed = _fit_monitors(session, account, LIMITS[plan].route_monitors)
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
    """No monitor is created while the plan changes; the lock lets notices refer to the account meanwhile."""
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update(key_share=True))


def _fit_monitors(session: Session, account: Account, cap: int) -> tuple[list[int], list[int]]:
    """The first `cap` monitors by age go on, the others pause."""
    living = session.scalars(
        select(RouteMonitor)
        .where(RouteMonitor.account_id == account.id, RouteMonitor.cancelled_at.is_(None))
        .order_by(RouteMonitor.paused_at.is_not(None), RouteMonitor.id)  # what runs now goes before what is paused
        .with_for_update()
    ).all()
    paused = [m for m in living[cap:] if m.paused_at is None]
    resumed = [m for m in living[:cap] if m.paused_at is not None]
    for monitor in paused:
        monitor.paused_at = clock.now()
    for monitor in resumed:
        monitor.paused_at = None
    unschedule(session, "route_monitor", [m.id for m in paused])
    _reschedule(session, [m.id for m in resumed])
    return [m.id for m in paused], [m.id for m in resumed]


def _reschedule(session: Session, monitor_ids: Sequence[int]) -> None:
    """Switched on again as it was: a moment that passed meanwhile is due at once, and the phase is kept."""
    due = select(Schedule).where(Schedule.kind == "route_monitor", Schedule.subject_id.in_(monitor_ids))
    for schedule in session.scalars(due):
        schedule.enabled = True


def _publish_after_commit(session: Session, account: Account) -> None:
    public_id = account.public_id

    def tell_servers(_session: Session) -> None:
        publish(account=public_id)

    event.listen(session, "after_commit", tell_servers, once=True)
