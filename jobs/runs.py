"""Runs of schedules: each is claimed, worked on by the handler of its kind, and written once."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from importlib import import_module

from sqlalchemy.orm import Session

from jobs.handlers import (
    audit,
    billing,
    deadlines,
    exchange_rates,
    hotel_prices,
    inbound_mail,
    retention,
    route_sweeps,
    source_watch,
    standing_orders,
)
from jobs.queue import MAIL, RUNS, drain
from shared.db.base import autocommit, transaction
from shared.db.maintenance import WATCH
from shared.db.run_kinds import RunKind
from shared.db.runs import (
    Claim,
    RunResult,
    claim_awaited_run,
    claim_run,
    finish_run,
    lock_run,
    put_off_run,
    retry_run,
)
from shared.domain.retries import MAX_ATTEMPTS, wait_after
from shared.domain.watch_kinds import STANDING_ORDER, WATCH_KINDS
from shared.settings import settings
from shared.telemetry.call_context import label_work
from shared.telemetry.metrics import RUN_ATTEMPTS, RUN_SECONDS, count, observe
from shared.telemetry.traces import continue_trace, span

log = logging.getLogger(__name__)

# A handler first asks the outside world, without a transaction, and returns a function that writes the answer in one
# transaction, which only the holder of the run reaches.
Finish = Callable[[Session], RunResult]
_WATCHES = {kind.run: import_module(f"jobs.handlers.{kind.files}") for kind in WATCH_KINDS}
HANDLERS: dict[str, Callable[[Claim], Finish]] = {kind: handler.check for kind, handler in _WATCHES.items()} | {
    RunKind.HOTEL_WATCHES: hotel_prices.check_every_stay,
    RunKind.REFERENCE_AUDIT: audit.check,
    RunKind.EXCHANGE_RATES: exchange_rates.check,
    RunKind.INBOUND_MAIL: inbound_mail.check,
    RunKind.SOURCE_WATCH: source_watch.check,
    RunKind.RETENTION: retention.check,
    RunKind.ROUTE_SWEEP: route_sweeps.check,
    RunKind.DEADLINES: deadlines.check,
    RunKind.BILLING: billing.check,
}
LOOK_SECONDS = 1.0
# What a kind does when its last attempt failed.
LOST: dict[str, Callable[[Session, Claim], None]] = {
    RunKind.INBOUND_MAIL: inbound_mail.give_up_mail,
    STANDING_ORDER.run: standing_orders.give_up_order,
}


def wake(run_id: str | None = None) -> int:
    """RQ's entry point; without an id it starts with any due run. Returns how many runs it worked on."""
    return _drain(RUNS, run_id)


def read_mail(run_id: str | None = None) -> int:
    """The same for runs that read mail: the one whose turn it is comes first, whatever woke this."""
    del run_id
    return _drain(MAIL, None)


def _drain(queue: str, run_id: str | None) -> int:
    if WATCH.read():
        return 0  # the dispatcher wakes it again afterwards
    return drain(queue, _claim(queue, int(run_id)) if run_id else None, partial(_claim, queue), work)


def _claim(queue: str, id: int | None = None) -> Claim | None:
    with autocommit() as session:
        return claim_run(session, settings().job_lease_seconds, id, queue)


class AwaitedRuns:
    """Checks that a person waits for, done between messages, because a worker that sends many continues for 20 s."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")

    def work(self) -> None:
        """Works on them, looking once a second."""
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return
        while claim := self._claim():
            work(claim)
        self._looked_at = time.monotonic()

    def _claim(self) -> Claim | None:
        with autocommit() as session:
            return claim_awaited_run(session, settings().job_lease_seconds)


AWAITED_RUNS = AwaitedRuns()


def work(claim: Claim) -> None:
    """Makes one attempt, whatever happens in it."""
    started = time.perf_counter()
    parent = continue_trace(claim.traceparent)
    with label_work(f"run-{claim.id}"), span(f"run {claim.kind}", parent, attempt=claim.attempt):
        _work(claim)
    observe(RUN_SECONDS, time.perf_counter() - started, claim.kind)


def _work(claim: Claim) -> None:
    if claim.attempt > MAX_ATTEMPTS:
        _write(partial(_retry_or_fail, claim=claim, reason="its workers were lost"))
        return
    try:
        _write(partial(_finish, claim=claim, finish=HANDLERS[claim.kind](claim)))
    except Exception as error:  # the edge: a bug or an outage; the row decides when it is tried again
        log.exception("run %s of %s failed in attempt %s", claim.id, claim.kind, claim.attempt)
        _write(partial(_retry_or_fail, claim=claim, reason=type(error).__name__))


def _write(write: Callable[[Session], None]) -> None:
    with transaction() as session:
        write(session)


def _finish(session: Session, claim: Claim, finish: Finish) -> None:
    if not lock_run(session, claim):
        count(RUN_ATTEMPTS, claim.kind, "taken_over")
        return  # another worker took over; this result is thrown away
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
