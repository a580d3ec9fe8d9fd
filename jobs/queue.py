"""The Redis queue (RQ): expiring wake-up calls with ids of rows. Only the database holds the truth."""

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from rq import Queue, Worker
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.utils import import_attribute

from shared.db.maintenance import WATCH
from shared.db.runs import CHECK_QUEUE, MAIL_QUEUE
from shared.redis import connect

R = TypeVar("R")
DELIVERIES, RUNS, MAIL = "deliveries", CHECK_QUEUE, MAIL_QUEUE
ENTRIES = {DELIVERIES: "jobs.deliver.wake", RUNS: "jobs.runs.wake", MAIL: "jobs.runs.read_mail"}
# At this age of a job its worker is stopped, and 60 seconds later killed: both before the row's lease ends.
JOB_SECONDS = 80
# How long a wake-up continues with other rows. Soon a worker that serves all queues turns from mail to what comes
# first.
DRAIN_SECONDS = {DELIVERIES: 20.0, RUNS: 20.0, MAIL: 2.0}
_WAKE_UPS_PER_WORKER = 2  # each continues with whatever is due, so more would find nothing left


def queue(name: str) -> Queue:
    return Queue(name, connection=connect(), serializer="json")


class NotOurs(ValueError):
    """A job in Redis that this service did not put there."""


class WakeUp(Job):
    """A job as workers take it. RQ imports and runs what a job names; here only one of the three, whoever wrote it.

    None has callbacks, which RQ would also import.
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

    Workers that read mail next to other work read it on at most half of them, so that the rest stay free for the other
    queues. A wake-up under way then counts too.
    """
    workers = _serving(queue.name)
    shared = workers & (_serving(DELIVERIES) | _serving(RUNS)) if queue.name == MAIL else set()
    if not shared:
        return _WAKE_UPS_PER_WORKER * max(1, len(workers)) - queue.count
    at_once = max(1, len(workers - shared) + len(shared) // 2)
    return at_once - count_under_way(queue)


def count_under_way(queue: Queue) -> int:
    """Wake-ups that wait for a worker or are working. That of a killed worker counts for 90 s."""
    return int(queue.count) + int(queue.started_job_registry.count)


def _serving(name: str) -> set[str]:
    return set(Worker.all_keys(queue=queue(name)))


def wake(queue: Queue, rows: Iterable[tuple[str, int]], ttl: float) -> None:
    """Adds one job id per hand-over, so that a dead worker's leftovers block nothing. Calls no one takes expire."""
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


def drain(name: str, named: R | None, claim: Callable[[], R | None], work: Callable[[R], None]) -> int:
    """Works on the row a wake-up named, then on others that are due, so that one call serves a backlog.

    Returns how many rows it worked on.
    """
    row = named or claim()  # another call may have served the named row; this one takes the rest
    deadline = time.monotonic() + DRAIN_SECONDS[name]
    count = 0
    while row is not None:
        work(row)
        count += 1
        row = claim() if time.monotonic() < deadline and not WATCH.read() else None
    return count
