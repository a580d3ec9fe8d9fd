"""Runs of schedules: each is claimed, worked on by the handler of its kind, and written once."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from jobs.handlers import (
    audit,
    billing,
    deadlines,
    delay_alerts,
    exchange_rates,
    flight_alerts,
    hotel_prices,
    inbound_mail,
    retention,
    route_monitors,
    source_watch,
    standing_orders,
)
from jobs.queue import MAIL, RUNS, More, drain
from shared.db.base import transaction
from shared.db.maintenance import WATCH
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim, RunResult, claim_run, finish_run, lock_run, put_off_run, retry_run
from shared.domain.retries import MAX_ATTEMPTS, wait_after
from shared.settings import settings
from shared.telemetry.call_context import label_work
from shared.telemetry.metrics import RUN_ATTEMPTS, RUN_SECONDS, count, observe
from shared.telemetry.traces import continue_trace, span

log = logging.getLogger(__name__)

# A handler asks the world first, outside any transaction, and returns what writes the answer. That is called in one
# transaction that only the holder of the run reaches.
Finish = Callable[[Session], RunResult]
HANDLERS: dict[str, Callable[[Claim], Finish]] = {
    RunKind.ROUTE_MONITOR: route_monitors.check,
    RunKind.FLIGHT_ALERT: flight_alerts.check,
    RunKind.AIRPORT_DELAYS: delay_alerts.check,
    RunKind.REFERENCE_AUDIT: audit.check,
    RunKind.EXCHANGE_RATES: exchange_rates.check,
    RunKind.INBOUND_MAIL: inbound_mail.check,
    RunKind.HOTEL_PRICE: hotel_prices.check,
    RunKind.HOTEL_WATCHES: hotel_prices.check_every_stay,
    RunKind.STANDING_ORDER: standing_orders.check,
    RunKind.SOURCE_WATCH: source_watch.check,
    RunKind.RETENTION: retention.check,
    RunKind.DEADLINES: deadlines.check,
    RunKind.BILLING: billing.check,
}
# What a kind does when its last attempt failed.
LOST: dict[str, Callable[[Session, Claim], None]] = {
    RunKind.INBOUND_MAIL: inbound_mail.give_up_mail,
    RunKind.STANDING_ORDER: standing_orders.give_up_order,
}


def wake(run_id: str | None = None) -> int:
    """The entry RQ calls; without an id any run that is due comes first. Returns how many runs it worked on."""
    return _drain(RUNS, run_id)


def read_mail(run_id: str | None = None) -> int:
    """The same for the runs that read mail."""
    return _drain(MAIL, run_id)


def _drain(queue: str, run_id: str | None) -> int:
    if WATCH.read():
        return 0  # the dispatcher wakes it again afterwards
    return drain(queue, _claim(queue, int(run_id)) if run_id else None, partial(_claim, queue), work)


def _claim(queue: str, id: int | None = None) -> Claim | None:
    with transaction() as session:
        return claim_run(session, settings().job_lease_seconds, id, queue)


def work(claim: Claim, more: More) -> Claim | None:
    """One attempt, whatever happens in it; hands back the next run, claimed in the transaction that ends this one."""
    started = time.perf_counter()
    parent = continue_trace(claim.traceparent)
    with label_work(f"run-{claim.id}"), span(f"run {claim.kind}", parent, attempt=claim.attempt):
        following = _work(claim, more)
    observe(RUN_SECONDS, time.perf_counter() - started, claim.kind)
    return following


def _work(claim: Claim, more: More) -> Claim | None:
    if claim.attempt > MAX_ATTEMPTS:
        return _write_and_claim_next(claim, more, partial(_retry_or_fail, claim=claim, reason="its workers were lost"))
    try:
        return _write_and_claim_next(claim, more, partial(_finish, claim=claim, finish=HANDLERS[claim.kind](claim)))
    except Exception as error:  # the edge: a bug or an outage; the row decides when it is tried again
        log.exception("run %s of %s failed in attempt %s", claim.id, claim.kind, claim.attempt)
        return _write_and_claim_next(claim, more, partial(_retry_or_fail, claim=claim, reason=type(error).__name__))


def _write_and_claim_next(claim: Claim, more: More, write: Callable[[Session], None]) -> Claim | None:
    with transaction() as session:
        write(session)
        return claim_run(session, settings().job_lease_seconds, queue=claim.queue) if more() else None


def _finish(session: Session, claim: Claim, finish: Finish) -> None:
    if not lock_run(session, claim):
        count(RUN_ATTEMPTS, claim.kind, "taken_over")
        return  # another worker took over; what was seen here is thrown away
    result = finish(session)
    if result.put_off is not None:
        put_off_run(session, claim, result.put_off)
        count(RUN_ATTEMPTS, claim.kind, "put_off")
    elif result.retry_reason is None:
        finish_run(session, claim)
        count(RUN_ATTEMPTS, claim.kind, "done")
    else:
        _retry_or_fail(session, claim, result.retry_reason)


def _retry_or_fail(session: Session, claim: Claim, reason: str) -> None:
    wait: timedelta | None = wait_after(claim.attempt)
    if wait is None:
        log.error("run %s of %s failed for good: %s", claim.id, claim.kind, reason)
        finish_run(session, claim, "failed", reason)
        count(RUN_ATTEMPTS, claim.kind, "failed")
        if claim.kind in LOST:
            LOST[claim.kind](session, claim)
    else:
        retry_run(session, claim, wait, reason)
        count(RUN_ATTEMPTS, claim.kind, "retried")
