"""The Redis queue (RQ): expiring wake-up calls with ids of rows. What is true stands in the database alone."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from rq import Queue, Worker
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.utils import import_attribute

from shared.db.maintenance import WATCH
from shared.db.runs import CHECK_QUEUE, MAIL_QUEUE
from shared.redis import connect

R = TypeVar("R")
More = Callable[[], bool]  # whether there is time for another row
DELIVERIES, RUNS, MAIL = "deliveries", CHECK_QUEUE, MAIL_QUEUE
ENTRIES = {DELIVERIES: "jobs.deliver.wake", RUNS: "jobs.runs.wake", MAIL: "jobs.runs.read_mail"}
# A worker is stopped at this age of a job, and killed 60 seconds later: both before the lease of its row ends.
JOB_SECONDS = 80
# How long a wake-up continues with other rows. Soon a worker that serves all queues turns from mail to what comes
# first.
DRAIN_SECONDS = {DELIVERIES: 20.0, RUNS: 20.0, MAIL: 2.0}
_WAKE_UPS_PER_WORKER = 2  # one continues with whatever is due, so more would find nothing left


def queue(name: str) -> Queue:
    return Queue(name, connection=connect(), serializer="json")


class NotOurs(ValueError):
    """A job in Redis that this service did not put there."""


class WakeUp(Job):
    """A job as workers take it. RQ imports and runs what a job names; here that is one of the three, whoever wrote it.

    None has a callback, which RQ would import too.
    """

    @property
    def func(self) -> Callable[..., Any]:
        name = self.func_name
        if name is None or name not in ENTRIES.values():
            raise NotOurs("it names no function of this service's jobs")
        return import_attribute(name)

    @property
    def success_callback(self) -> None:
        return None

    @property
    def failure_callback(self) -> None:
        return None

    @property
    def stopped_callback(self) -> None:
        return None


def free_slots(queue: Queue) -> int:
    """How many more wake-ups the queue should hold.

    Workers that read mail next to other work read it on half of them at once, so that the rest stays free for the other
    queues. A wake-up under way then counts too.
    """
    workers = _serving(queue.name)
    shared = workers & (_serving(DELIVERIES) | _serving(RUNS)) if queue.name == MAIL else set()
    if not shared:
        return _WAKE_UPS_PER_WORKER * max(1, len(workers)) - queue.count
    at_once = max(1, len(workers - shared) + len(shared) // 2)
    return at_once - count_under_way(queue)


def count_under_way(queue: Queue) -> int:
    """Wake-ups that wait for a worker or go on with what is due. That of a worker that was killed counts for 90 s."""
    return int(queue.count) + int(queue.started_job_registry.count)


def _serving(name: str) -> set[str]:
    return set(Worker.all_keys(queue=queue(name)))


def wake(queue: Queue, rows: Iterable[tuple[str, int]], ttl: float) -> None:
    """One job id per hand-over, so what a dead worker left in Redis blocks nothing. Calls no one takes expire."""
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


def drain(
    name: str,
    named: Sequence[R],
    claim: Callable[[], Sequence[R]],
    work: Callable[[Sequence[R], More], Sequence[R]],
) -> int:
    """Works on the row a wake-up named, then on others that are due, so that one call serves a backlog.

    Each piece of work returns the rows to go on with, claimed while `more()` holds. Returns how many rows it worked on.
    """
    rows = named or claim()  # another call may have served the row named; this one serves what is left
    deadline = time.monotonic() + DRAIN_SECONDS[name]

    def more() -> bool:
        return time.monotonic() < deadline and not WATCH.read()

    count = 0
    while rows:
        count += len(rows)
        rows = work(rows, more)
    return count
