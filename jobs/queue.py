"""The way to RQ: ids of rows go in as expiring wake-up calls; nothing here is ever asked what is true."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rq import Queue, Worker
from rq.exceptions import DuplicateJobError

from shared.redis import connect

R = TypeVar("R")
More = Callable[[], bool]  # whether there is time for another row
RUNS, DELIVERIES = "checks", "deliveries"
ENTRIES = {RUNS: "jobs.runs.wake", DELIVERIES: "jobs.deliver.wake"}
# A worker is stopped at this age of a job, and killed 60 seconds later: both before the lease of its row ends.
JOB_SECONDS = 80
DRAIN_SECONDS = 20.0
_PER_WORKER = 2  # wake-ups waiting for each worker: one goes on with whatever is due, so more would find nothing left


def queue(name: str) -> Queue:
    return Queue(name, connection=connect(), serializer="json")


def room(queue: Queue) -> int:
    """How many more wake-ups the queue should hold."""
    return _PER_WORKER * max(1, Worker.count(queue=queue)) - queue.count


def wake(queue: Queue, rows: Iterable[tuple[str, int]], ttl: float) -> None:
    """One name per hand-over, so a dead worker's remains block nothing; unheard calls end by themselves."""
    for id, handed in rows:
        try:
            queue.enqueue(
                ENTRIES[queue.name],
                id,
                job_id=f"{queue.name}-{id}-{handed}",
                unique=True,
                ttl=max(1, round(ttl)),
                result_ttl=0,
                failure_ttl=60,
                job_timeout=JOB_SECONDS,
            )
        except DuplicateJobError:
            continue


def drain(own: R | None, claim: Callable[[], R | None], work: Callable[[R, More], R | None], hands: int = 1) -> int:
    """Works on the row a wake-up named and goes on with others that are due, so that one call serves a backlog.

    Each piece of work may hand back the row to go on with, claimed in its own last transaction while `more()` holds.
    Ends when none is left or its time is up; returns how many it worked on. With several hands the waiting of one
    (for a source, for a commit) is the working time of another.
    """
    row = own or claim()  # another call may have served the row named; this one serves what is left
    if row is None:
        return 0
    until = time.monotonic() + DRAIN_SECONDS

    def more() -> bool:
        return time.monotonic() < until

    def go_on(row: R | None) -> int:
        count = 0
        while row is not None:
            row = work(row, more)
            count += 1
        return count

    if hands == 1:
        return go_on(row)
    helpers = ThreadPoolExecutor(hands - 1, "hand")
    try:
        others = [helpers.submit(lambda: go_on(claim() if more() else None)) for _ in range(hands - 1)]
        return go_on(row) + sum(other.result() for other in others)
    finally:
        helpers.shutdown(wait=False)  # only a time-out gets here before they are done, and the process ends with it
