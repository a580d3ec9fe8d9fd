"""The daily check of a booked stay's price, and the run that gives a schedule to each stay that lacks one."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared import clock
from shared.db.base import transaction
from shared.db.hotel_prices import schedule_all_stays
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.providers.ask import Ask
from shared.reference.load import reference
from shared.services.bookings.bookings import today
from shared.services.connections.credentials import Credentials
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
Finish = Callable[[Session], RunResult]


def check(claim: Claim) -> Finish:
    with transaction() as session:
        query, shared_price_id = prepare(session, reference(), claim.subject_id)
    if query is None:
        return lambda _session: COMPLETE
    if shared_price_id is not None:
        return partial(_write_shared_price, query=query, price_id=shared_price_id)
    return partial(_write_check, sight=event_loop.ask(_query_sources, query))


async def _query_sources(query: WatchQuery) -> CheckResult:
    ask = Ask(query.account_id, connections=Credentials(query.account_id), background=True)
    return await query_sources(ask, query, SHARED)


def _write_check(session: Session, sight: CheckResult) -> RunResult:
    settle(session, reference(), sight)
    return RunResult(sight.outage)


def _write_shared_price(session: Session, query: WatchQuery, price_id: int) -> RunResult:
    settle_shared(session, reference(), query, price_id)
    return COMPLETE


def check_every_stay(_claim: Claim) -> Finish:
    """Gives each stay a schedule: they come from people, mails and integrations, some before there were checks."""
    return _watch_all


def _watch_all(session: Session) -> RunResult:
    schedule_all_stays(session, today(reference(), "hotel", clock.now()))
    return COMPLETE
