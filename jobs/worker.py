"""The RQ worker that loads the jobs and warms the database engine before it forks; each job then starts in no time."""

import logging
import os
import signal
import sys
from typing import Any

from rq import Queue
from rq import Worker as RqWorker
from rq.job import Job
from rq.utils import import_attribute
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import ENTRIES, JOB_SECONDS
from jobs.startup import start
from shared.garbage_collection import freeze_startup_objects
from shared.providers.ask import share

log = logging.getLogger(__name__)


class Worker(RqWorker):
    """`rq worker -w jobs.worker.Worker -S json -u $REDIS_URL deliveries checks`"""

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        start()
        _warm()
        freeze_startup_objects()
        super().bootstrap(*args, **kwargs)

    def fork_work_horse(self, *args: Any, **kwargs: Any) -> None:
        """Corrected facts are taken up before the fork, so that they are read once and not by every job.

        The worker counts as busy already: told to end now, it does so after this job, and no clearing up in between
        can swallow that.
        """
        _corrected()
        super().fork_work_horse(*args, **kwargs)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        """While more wake-ups wait, a second process works on the same backlog: two cores do more than one."""
        second = _second(queue.name) if queue.count else None
        try:
            return super().perform_job(job, queue)
        finally:
            if second:
                os.waitpid(second, 0)


def _second(name: str) -> int:
    """Its process id; it ends when nothing is left, and with its process group."""
    share(2)
    if pid := os.fork():
        return pid
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(JOB_SECONDS)
        import_attribute(ENTRIES[name])()
    except Exception:  # the edge: what it left undone is claimed again when its lease ends
        log.exception("the second process on the backlog of %s failed", name)
    finally:
        os._exit(0)


def _corrected() -> None:
    from shared.db.base import engine
    from shared.services.operations.facts import refresh

    try:
        refresh()
    except SQLAlchemyError:
        sys.stderr.write("worker: the database is away; corrected facts wait until it is back\n")
    engine().dispose()


def _warm() -> None:
    """What a job imports, the reference data and the engine's dialect are ready; no connection outlives the fork."""
    import anyio.lowlevel
    from sqlalchemy import select

    import jobs.deliver
    import jobs.runs  # noqa: F401
    from shared.db.accounts import Account
    from shared.db.base import engine, transaction
    from shared.providers.registry import providers
    from shared.reference.load import reference
    from shared.services.operations.facts import refresh

    reference()
    providers()
    anyio.run(anyio.lowlevel.checkpoint)
    try:
        with transaction() as session:
            session.scalar(select(Account.id).limit(1))
        refresh()
    except SQLAlchemyError:
        sys.stderr.write("worker: the database is away; jobs wait until it is back\n")
    engine().dispose()
