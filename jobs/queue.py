"""The Redis queue (RQ): expiring wake-up calls with ids of rows. What is true stands in the database alone."""

import time
from collections.abc import Callable, Iterable
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
_WAKE_UPS_PER_WORKER = 2  # one goes on with whatever is due, so more would find nothing left


def queue(name: str) -> Queue:
    return Queue(name, connection=connect(), serializer="json")


def free_slots(queue: Queue) -> int:
    """How many more wake-ups the queue should hold."""
    return _WAKE_UPS_PER_WORKER * max(1, Worker.count(queue=queue)) - queue.count


def wake(queue: Queue, rows: Iterable[tuple[str, int]], ttl: float) -> None:
    """One job id per hand-over, so what a dead worker left in Redis blocks nothing. Calls nobody takes expire."""
    for id, hand_over in rows:
        try:
            queue.enqueue(
                ENTRIES[queue.name],
                id,
                job_id=f"{queue.name}-{id}-{hand_over}",
                unique=True,
                ttl=max(1, round(ttl)),
                result_ttl=0,
                failure_ttl=60,
                job_timeout=JOB_SECONDS,
            )
        except DuplicateJobError:
            continue


def drain(named_row: R | None, claim: Callable[[], R | None], work: Callable[[R, More], R | None]) -> int:
    """Works on the row a wake-up named, then on others that are due, so that one call serves a backlog.

    Each piece of work may return the row to go on with, claimed in its own last transaction while `more()` holds.
    Returns how many rows it worked on.
    """
    row = named_row or claim()  # another call may have served the row named; this one serves what is left
    deadline = time.monotonic() + DRAIN_SECONDS
    count = 0
    while row is not None:
        row = work(row, lambda: time.monotonic() < deadline)
        count += 1
    return count
