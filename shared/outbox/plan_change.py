"""Changes of an account's plan, trial or admin flag; what a plan no longer covers is paused."""

from datetime import datetime, timedelta

from sqlalchemy import event, func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.runs import Schedule, unschedule
from shared.db.watches import Watch, list_limited_models
from shared.domain.plans import Plan
from shared.outbox.enqueue import tell
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
    paused: dict[str, list[int]] = {}
    resumed: dict[str, list[int]] = {}
    for model in list_limited_models():
        paused_ids, resumed_ids = _fit_to_cap(session, account, model, model.KIND.cap(plan))
        paused |= {model.KIND.nouns: paused_ids} if paused_ids else {}
        resumed |= {model.KIND.nouns: resumed_ids} if resumed_ids else {}
    session.flush()
    if changed or paused or resumed:
        facts = {"plan": plan.slug, "paused": paused, "resumed": resumed}
        tell(session, account, "plan_changed", facts, dedupe_key=f"plan:{account.id}:{clock.now().isoformat()}")
    _publish_after_commit(session, account)


def change_admin(session: Session, account: Account, *, is_admin: bool) -> None:
    """Gives or takes the admin flag; it takes effect within seconds, like a plan."""
    account.is_admin = is_admin
    session.flush()
    _publish_after_commit(session, account)


def change_trial(session: Session, account: Account, days: int) -> datetime:
    """Lets the account try the booking inbox for that many days from now; 0 ends it for good."""
    account.inbox_trial_ends_on = clock.now() + timedelta(days=days)
    session.flush()
    _publish_after_commit(session, account)
    return account.inbox_trial_ends_on


def _lock(session: Session, account: Account) -> None:
    """Nothing capped is created while the plan changes; the lock lets notices refer to the account in the meantime."""
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update(key_share=True))


def _fit_to_cap(session: Session, account: Account, model: type[Watch], cap: int) -> tuple[list[int], list[int]]:
    """The first `cap` of them by age continue, the others pause."""
    living = session.scalars(
        select(model)
        .where(model.account_id == account.id, model.is_live())
        .order_by(model.paused_at.is_not(None), model.id)  # what runs now goes before what is paused
        .with_for_update()
    ).all()
    paused = [one.id for one in living[cap:] if one.paused_at is None]
    resumed = [one.id for one in living[:cap] if one.paused_at is not None]
    for one in living:
        one.paused_at = clock.now() if one.id in paused else None if one.id in resumed else one.paused_at
    if model.KIND.has_own_runs:
        unschedule(session, model.KIND.run, paused)
        # Switched on again as it was: a moment that passed in the meantime is due at once, and the phase is kept.
        due = select(Schedule, func.now()).where(Schedule.kind == model.KIND.run, Schedule.subject_id.in_(resumed))
        for schedule, now in session.execute(due):
            schedule.enabled = True
            while not model.KIND.catches_up and schedule.next_due_at <= now:
                schedule.next_due_at += schedule.every
    return paused, resumed


def _publish_after_commit(session: Session, account: Account) -> None:
    public_id = account.public_id

    def tell_servers(_session: Session) -> None:
        publish(account=public_id)

    event.listen(session, "after_commit", tell_servers, once=True)
