"""The run that asks the payment service about customers with news, or with none for a day."""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs.event_loop import ask
from shared import clock
from shared.billing import settle
from shared.billing.contract import Door, PaymentAway, PaymentRefused
from shared.billing.registry import find_door
from shared.db.base import transaction
from shared.db.billing import DueCustomer, claim_due_customer
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.domain.billing import Subscription

log = logging.getLogger(__name__)
EVERY, FIRST = timedelta(minutes=5), timedelta(seconds=30)  # an event makes a run due at once
LEASE = timedelta(minutes=2)  # longer than one customer takes
MAX_SECONDS = 60.0  # of one run; the rest waits for the next


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """One customer after the other, each asked about outside any transaction and written in a separate one."""
    door, until = find_door(), time.monotonic() + MAX_SECONDS
    while door.sells and time.monotonic() < until:
        with transaction() as session:
            due = claim_due_customer(session, door.name, LEASE)
        if due is None:
            break
        _look_after(door, due)
    return lambda _session: COMPLETE


def _look_after(door: Door, due: DueCustomer) -> None:
    """Ends the payment of a closed account; sets everyone else's plan to the one they pay for."""
    try:
        subscriptions = ask(_ask_service, door, due)
    except (PaymentAway, PaymentRefused) as error:
        log.warning("billing: customer %s: %s %s", due.customer_id, type(error).__name__, error)
        with transaction() as session:
            settle.postpone(session, due)
        return
    with transaction() as session:
        if due.has_account:
            settle.settle(session, due, subscriptions, clock.now())
        else:
            settle.forget(session, due)


async def _ask_service(door: Door, due: DueCustomer) -> Sequence[Subscription]:
    assert door.connect is not None  # of a door that sells
    async with door.connect() as client:
        if due.has_account:
            return await client.list_subscriptions(due.customer_id)
        await client.end_customer(due.customer_id)
        return ()
