"""The daily look at a stay's price: its claim goes in, what is to be written comes out; and stays that lack one."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared import clock
from shared.db.base import transaction
from shared.db.hotel_prices import watch_all
from shared.db.runs import Claim
from shared.providers.ask import Ask
from shared.reference.load import reference
from shared.services.bookings.bookings import today
from shared.services.connections.credentials import credentials
from shared.services.watches.hotel_prices import (
    SHARED,
    CheckResult,
    WatchQuery,
    prepare,
    query_sources,
    settle,
    settle_shared,
)

EVERY, FIRST = timedelta(minutes=10), timedelta(minutes=1)
Finish = Callable[[Session], str | None]


def check(claim: Claim) -> Finish:
    """Reads the stay, asks the sources outside any transaction, and leaves the writing to the run's holder."""
    with transaction() as session:
        plan, known = prepare(session, reference(), claim.subject_id)
    if plan is None:
        return _nothing
    if known is not None:
        return partial(_settle_shared, plan, known)
    return partial(_settle, event_loop.ask(_look, plan))


async def _look(plan: WatchQuery) -> CheckResult:
    ask = Ask(plan.account_id, connections=credentials(plan.account_id), background=True)
    return await query_sources(ask, plan, SHARED)


def _settle(sight: CheckResult, session: Session) -> str | None:
    settle(session, reference(), sight)
    return sight.outage


def _settle_shared(plan: WatchQuery, price_id: int, session: Session) -> None:
    settle_shared(session, reference(), plan, price_id)


def _nothing(_session: Session) -> None:
    return None


def every_stay(_claim: Claim) -> Finish:
    """Stays come from people, mails and integrations, and from before there was a watch; none goes without."""
    return _watch_all


def _watch_all(session: Session) -> None:
    watch_all(session, today(reference(), "hotel", clock.now()))
