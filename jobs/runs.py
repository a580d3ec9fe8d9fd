"""Runs of schedules: each is claimed, worked on by the handler of its kind, and written once."""

import logging
import time
from collections.abc import Callable, Sequence
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
from jobs.queue import MAIL, RUNS, More, drain
from shared.db.base import autocommit, transaction
from shared.db.maintenance import WATCH
from shared.db.run_kinds import RunKind
from shared.db.runs import (
    Claim,
    RunResult,
    claim_awaited_run,
    claim_run,
    claim_runs,
    finish_run,
    finish_runs,
    give_back,
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

# A handler asks the world first, outside any transaction, and returns what writes the answer. That is called in one
# transaction that only the holder of the run reaches.
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
# Kinds of which several runs are worked on at once. Each hands back by run what writes its answer, as far as the world
# was asked, and what writes all answers that are simple in one transaction and tells whose they were.
Looks = tuple[dict[int, Finish], Callable[[Session], set[int]]]
TOGETHER: dict[str, Callable[[Sequence[Claim], More], Looks]] = {
    kind: handler.check_together for kind, handler in _WATCHES.items() if hasattr(handler, "check_together")
}
MOST_TOGETHER = 16  # a quiet check took 4.2 ms of processor instead of 12.7, and the database 0.75 instead of 3.2
LOOK_SECONDS = 1.0
PORTION_SECONDS = 1.0  # then what is not begun is left to others, and fewer are claimed
# What a kind does when its last attempt failed.
LOST: dict[str, Callable[[Session, Claim], None]] = {
    RunKind.INBOUND_MAIL: inbound_mail.give_up_mail,
    STANDING_ORDER.run: standing_orders.give_up_order,
}


def rehearse() -> None:
    """A portion of nothing, in a process that forks: its statements are put together once, and not in every child."""
    with autocommit() as session:
        claim_runs(session, 0, 0)
    for check in TOGETHER.values():
        write_simple = check((), lambda: False)[1]
        with transaction() as session:
            write_simple(session)
            finish_runs(session, ())


class Overtaken(Exception):
    """Another worker took one of the runs over, so what was written for all is undone."""


def wake(run_id: str | None = None) -> int:
    """The entry RQ calls; without an id any run that is due comes first. Returns how many runs it worked on."""
    return _drain(RUNS, run_id)


def read_mail(run_id: str | None = None) -> int:
    """The same for the runs that read mail, of which the one whose turn it is comes first, whatever woke this."""
    del run_id
    return _drain(MAIL, None)


def _drain(queue: str, run_id: str | None) -> int:
    if WATCH.read():
        return 0  # the dispatcher wakes it again afterwards
    named = _claim(queue, int(run_id)) if run_id else None
    portions = Portions(queue)
    return drain(queue, [named] if named else [], portions.claim, portions.work)


def _claim(queue: str, id: int | None = None) -> Claim | None:
    with autocommit() as session:
        return claim_run(session, settings().job_lease_seconds, id, queue)


class AwaitedRuns:
    """Checks that a person waits for, done between messages: anyone who sends a crowd of these continues for 20
    seconds.
    """

    def __init__(self) -> None:
        self._looked_at = float("-inf")

    def work(self) -> None:
        """Looks once a second."""
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return
        while claim := self._claim():
            work(claim)
        self._looked_at = time.monotonic()

    def _claim(self) -> Claim | None:
        with autocommit() as session:
            return claim_awaited_run(session, settings().job_lease_seconds)


AWAITED_RUNS = AwaitedRuns()


class Portions:
    """The runs that one wake-up works on: more at a time while that is quick, so that one statement serves many.

    While a source is slow each is claimed alone, and the others are left to other workers.
    """

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self.size = 1

    def claim(self) -> list[Claim]:
        with autocommit() as session:
            return claim_runs(session, settings().job_lease_seconds, self.size, self.queue)

    def work(self, claims: Sequence[Claim], more: More) -> list[Claim]:
        deadline = time.monotonic() + PORTION_SECONDS

        def in_time() -> bool:
            return time.monotonic() < deadline

        work_together(claims, in_time)
        self.size = min(2 * self.size, MOST_TOGETHER) if in_time() else max(1, self.size // 2)
        return self.claim() if more() else []


def work_together(claims: Sequence[Claim], in_time: More) -> None:
    """What is simple is read and written at once, the rest run by run. At least one is worked on; those that are not
    begun in time are given back."""
    done, looked = _write_simple_ones(claims, in_time)
    late = []
    for claim in sorted(claims, key=lambda claim: claim.id not in looked):
        if claim.id in done:
            continue
        if done and claim.id not in looked and not in_time():
            late.append(claim)
            continue
        work(claim, looked.get(claim.id))
        done.add(claim.id)
    if late:
        with autocommit() as session:
            give_back(session, late)


def _write_simple_ones(claims: Sequence[Claim], in_time: More) -> tuple[set[int], dict[int, Finish]]:
    """Which runs are done, and of others what writes the answer they have. Whatever fails, each is tried alone."""
    done: set[int] = set()
    looked: dict[int, Finish] = {}
    for kind in TOGETHER:
        # A run that a person's call made continues with the trace of that call, alone.
        firsts = [claim for claim in claims if claim.kind == kind and claim.attempt == 1 and claim.traceparent is None]
        simple = {claim.subject_id: claim for claim in firsts}
        if len(simple) > 1:  # one of each subject
            its_done, its_looked = _write_kind(kind, list(simple.values()), in_time)
            done |= its_done
            looked |= its_looked
    return done, looked


def _write_kind(kind: str, claims: Sequence[Claim], in_time: More) -> tuple[set[int], dict[int, Finish]]:
    started = time.perf_counter()
    try:
        with label_work(f"runs-{claims[0].id}"), span(f"runs {kind}", runs=len(claims)):
            looked, write_simple = TOGETHER[kind](claims, in_time)
            with transaction() as session:
                done = write_simple(session)
                if not finish_runs(session, [claim for claim in claims if claim.id in done]):
                    raise Overtaken
    except Exception as error:  # the edge: one of them has a fault, which shows when it is alone
        log.warning("%s runs could not be written at once (%s)", len(claims), type(error).__name__)
        return set(), {}
    runs = len(done)
    seconds = time.perf_counter() - started
    for _ in range(runs):
        count(RUN_ATTEMPTS, kind, "done")
        observe(RUN_SECONDS, seconds / runs, kind)
    return done, looked


def work(claim: Claim, looked: Finish | None = None) -> None:
    """One attempt, whatever happens in it; `looked` writes the answer, where the world was asked already."""
    started = time.perf_counter()
    parent = continue_trace(claim.traceparent)
    with label_work(f"run-{claim.id}"), span(f"run {claim.kind}", parent, attempt=claim.attempt):
        _work(claim, looked)
    observe(RUN_SECONDS, time.perf_counter() - started, claim.kind)


def _work(claim: Claim, looked: Finish | None) -> None:
    if claim.attempt > MAX_ATTEMPTS:
        _write(partial(_retry_or_fail, claim=claim, reason="its workers were lost"))
        return
    try:
        _write(partial(_finish, claim=claim, finish=looked or HANDLERS[claim.kind](claim)))
    except Exception as error:  # the edge: a bug or an outage; the row decides when it is tried again
        log.exception("run %s of %s failed in attempt %s", claim.id, claim.kind, claim.attempt)
        _write(partial(_retry_or_fail, claim=claim, reason=type(error).__name__))


def _write(write: Callable[[Session], None]) -> None:
    with transaction() as session:
        write(session)


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
