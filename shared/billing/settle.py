"""What a payment service says of a customer's subscriptions, written to the account: plan, trail and notices."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.billing import BillingCustomer, DueCustomer, lock_customer
from shared.db.operator_actions import OperatorAction
from shared.domain.billing import (
    LATE,
    PAID,
    TRIAL_NOTICE,
    Holding,
    Subscription,
    choose_subscription,
    find_next_look,
    find_paid_plan,
    settle_holding,
)
from shared.domain.plans import LIMITS, Plan
from shared.outbox.enqueue import tell
from shared.outbox.plan_change import change_plan
from shared.settings import settings

log = logging.getLogger(__name__)
_FIRST_RETRY, _LAST_RETRY = timedelta(minutes=1), timedelta(hours=6)


def settle(session: Session, due: DueCustomer, subscriptions: Sequence[Subscription], now: datetime) -> bool:
    """Writes the answer; False if an event came after the query, which is then repeated.

    The account has the plan that its present subscription gives, whatever events came, in any order.
    """
    row = lock_customer(session, due)
    account = session.get(Account, row.account_id) if row is not None and row.account_id is not None else None
    if row is None or account is None:
        return False
    grace = timedelta(days=settings().billing_grace_days)
    subscription = choose_subscription(subscriptions)
    living = [one for one in subscriptions if one.status in PAID | LATE]
    if len(living) > 1:
        log.warning("billing: customer %s has %s subscriptions; one is enough", row.customer_id, len(living))
    if subscription is not None and subscription.plan is None:
        log.warning("billing: price %s of customer %s is in no setting", subscription.price, row.customer_id)
    late_since = _find_late_since(row, subscription, now)
    plans = (Plan.of(slug) if slug else None for slug in (row.paid_plan, row.unpaid_plan))
    holding = Holding(Plan.of(account.plan), *plans)
    paid = find_paid_plan(subscription, holding.paid, late_since, grace, now)
    _write_subscription(row, subscription, late_since, now)
    look_at = find_next_look(subscription, late_since, grace, now)
    row.check_at = func.now() + (look_at - now) if look_at else None
    _write_holding(session, account, row, holding, settle_holding(holding, paid))
    _tell_of_payment(session, account, row, late_since + grace if late_since and paid is not None else None, now)
    return True


def postpone(session: Session, due: DueCustomer) -> None:
    """The payment service did not answer: asks again later, at growing intervals."""
    row = lock_customer(session, due)
    if row is not None:
        row.check_at = func.now() + min(_FIRST_RETRY * 2 ** min(row.failures, 10), _LAST_RETRY)
        row.failures += 1


def forget(session: Session, due: DueCustomer) -> None:
    """Forgets a customer ended at the payment service, whose account is already gone."""
    row = lock_customer(session, due)
    if row is not None and row.account_id is None:
        session.delete(row)


def _find_late_since(row: BillingCustomer, subscription: Subscription | None, now: datetime) -> datetime | None:
    """Since the first invoice that was not paid: later ones do not restart the days of grace."""
    if subscription is None or subscription.status not in LATE:
        return None
    is_known = row.late_since is not None and row.subscription_id == subscription.id
    return row.late_since if is_known else min(subscription.unpaid_since or now, now)


def _write_subscription(
    row: BillingCustomer, subscription: Subscription | None, late_since: datetime | None, now: datetime
) -> None:
    row.late_since, row.checked_at, row.failures = late_since, now, 0
    row.subscription_id = subscription.id if subscription else None
    row.item_id = subscription.item_id if subscription else None
    row.status = subscription.status if subscription else None
    row.price = subscription.price if subscription else None
    row.period_ends_at = subscription.period_ends_at if subscription else None
    row.cancels_at = subscription.cancels_at if subscription else None
    row.trial_ends_at = subscription.trial_ends_at if subscription else None
    row.has_subscribed = row.has_subscribed or subscription is not None


def _write_holding(session: Session, account: Account, row: BillingCustomer, before: Holding, after: Holding) -> None:
    row.paid_plan = after.paid.slug if after.paid is not None else None
    row.unpaid_plan = after.unpaid.slug if after.unpaid is not None else None
    if after.plan == before.plan:
        return
    change_plan(session, account, after.plan, _keep_agreed_calls(account, before.plan, after.plan))
    detail = f"{before.plan.slug} -> {after.plan.slug}"
    reason = f"subscription {row.subscription_id} is {row.status}" if row.subscription_id else "no subscription"
    trail = {"actor": f"billing:{row.door}", "action": "plan", "target": account.public_id}
    session.add(OperatorAction(**trail, detail=detail, reason=reason))


def _keep_agreed_calls(account: Account, old: Plan, new: Plan) -> int | None:
    """The agreed number of calls if it stays: it ends when the plan falls, and when the new plan alone gives more.

    A number below that of the old plan is a limit, which no payment lifts.
    """
    agreed, own, next_own = account.api_calls_per_month, *(LIMITS[plan].api_calls_per_month for plan in (old, new))
    return None if new < old or agreed is None or own <= agreed < next_own else agreed


def _tell_of_payment(
    session: Session,
    account: Account,
    row: BillingCustomer,
    until: datetime | None,
    now: datetime,
) -> None:
    """Tells each thing once, by notice and mail: the keys name its subject, so that a repeated look tells nothing.

    `until` is the day to which a late payment leaves the plan; None if it is late and the plan has ended.
    """
    if row.late_since is not None and until is not None:
        _tell(session, account, row, "payment_failed", until, f"late:{row.late_since.timestamp():.0f}")
    elif row.late_since is not None:
        _tell(session, account, row, "payment_missing", None, f"missing:{row.late_since.timestamp():.0f}")
    if row.cancels_at is not None and row.cancels_at > now:
        _tell(session, account, row, "plan_ends", row.cancels_at, f"ends:{row.cancels_at.timestamp():.0f}")
    elif row.trial_ends_at is not None and now < row.trial_ends_at <= now + TRIAL_NOTICE:
        _tell(session, account, row, "trial_ends", row.trial_ends_at, f"trial:{row.trial_ends_at.timestamp():.0f}")


def _tell(
    session: Session, account: Account, row: BillingCustomer, kind: str, moment: datetime | None, key: str
) -> None:
    facts: dict[str, Any] = {"kind": kind, "plan": account.plan, "at": moment.isoformat() if moment else ""}
    tell(session, account, "billing", facts, dedupe_key=f"billing:{row.subscription_id}:{key}", mail=True)
