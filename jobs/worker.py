"""Workers on the queue: RQ's pool, with jobs and reference data loaded once, before any process is forked."""

import os
import sys
from functools import cache
from typing import Any

from rq import Worker as RqWorker
from rq.serializers import JSONSerializer
from rq.worker_pool import WorkerPool
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import DELIVERIES, RUNS
from jobs.startup import start
from shared.garbage_collection import freeze_startup_objects
from shared.providers.ask import share
from shared.redis import connect, key


def run(processes: int) -> None:
    """Works on the queue until SIGTERM or SIGINT; jobs under way are finished. A worker that died is replaced."""
    _prepare()
    share(processes)
    WorkerPool(
        [DELIVERIES, RUNS],
        connection=connect(),
        num_workers=processes,
        worker_class=Worker,
        serializer=JSONSerializer,
    ).start()


class Worker(RqWorker):
    """One worker, of the pool or alone: `rq worker -u $REDIS_URL -S json -w jobs.worker.Worker deliveries checks`."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        kwargs["with_scheduler"] = False  # the pool asks for RQ's own scheduler; ours is the dispatcher
        return super().work(*args, **kwargs)

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        _prepare()
        super().bootstrap(*args, **kwargs)
        connect().set(key("worker"), os.getppid(), ex=30)  # tells the local supervisor that its pool listens

    def fork_work_horse(self, *args: Any, **kwargs: Any) -> None:
        """Corrected facts are taken up before the fork, so that they are read once and not by every job.

        The worker counts as busy already: a request to end is followed after this job, and cannot get lost meanwhile.
        """
        _refresh_facts()
        super().fork_work_horse(*args, **kwargs)


def _refresh_facts() -> None:
    from shared.db.base import engine
    from shared.services.operations.facts import refresh
    from shared.services.search.exchange_rates import refresh_bank_rates

    refresh_bank_rates()
    try:
        refresh()
    except SQLAlchemyError:
        sys.stderr.write("worker: the database is away; corrected facts wait until it is back\n")
    engine().dispose()


@cache
def _prepare() -> None:
    """Checks the settings and loads what jobs need. Forked processes inherit it; no connection outlives the fork."""
    start()
    _preload()
    freeze_startup_objects()


def _preload() -> None:
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
