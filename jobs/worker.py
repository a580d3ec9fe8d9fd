"""Workers on the queue: RQ's pool, with jobs and reference data loaded once, before any process is forked."""

import logging
import os
from contextlib import suppress
from functools import cache
from multiprocessing.process import BaseProcess
from typing import Any

from redis.exceptions import RedisError
from rq import Worker as RqWorker
from rq import worker_registration
from rq.serializers import JSONSerializer
from rq.worker_pool import WorkerPool
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import DELIVERIES, MAIL, RUNS, WakeUp
from jobs.startup import start
from shared.db.traces import trace_statements
from shared.processes.garbage_collection import freeze_startup_objects
from shared.processes.worker_processes import end_with_parent
from shared.providers.places import share
from shared.redis import connect
from shared.services.operations.workers import BEAT_SECONDS, record_end, record_sign
from shared.settings import settings
from shared.telemetry.shared_counts import count_for_parent
from shared.telemetry.traces import flush_spans, preload, start_tracing

log = logging.getLogger(__name__)


def run(processes: int) -> None:
    """Works on the queues until SIGTERM or SIGINT; jobs under way are finished. A worker that died is replaced.

    Extra workers, half as many, read mail, so that whatever a mail does, the others stay free.
    """
    _prepare()
    share(processes)
    Pool(processes, max(1, processes // 2)).start(logging_level=settings().log_level.upper())


class Pool(WorkerPool):
    """RQ's pool; some of its workers only read mail."""

    def __init__(self, workers: int, mail_readers: int) -> None:
        total = workers + mail_readers
        super().__init__((), connect(), total, worker_class=Worker, serializer=JSONSerializer)
        self.workers = workers
        self.mail_readers: set[str] = set()

    def get_worker_process(self, name: str, *args: Any, **kwargs: Any) -> BaseProcess:
        """Replaces what is missing: a worker for deliveries and checks first, then a reader of mail."""
        self.mail_readers &= set(self.worker_dict)
        if len(self.worker_dict) - len(self.mail_readers) < self.workers:
            self._queue_names = [DELIVERIES, RUNS]
        else:
            self._queue_names = [MAIL]
            self.mail_readers.add(name)
        return super().get_worker_process(name, *args, **kwargs)


class Worker(RqWorker):
    """One of the pool, or alone: `rq worker -S json -w jobs.worker.Worker deliveries checks mail`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["job_class"] = WakeUp  # the pool and RQ's command pass RQ's own, which runs whatever a job names
        super().__init__(*args, **kwargs)

    def work(self, *args: Any, **kwargs: Any) -> bool:
        kwargs["with_scheduler"] = False  # the pool asks for RQ's own scheduler; ours is the dispatcher
        kwargs["logging_level"] = None  # the level of all programs applies
        return super().work(*args, **kwargs)

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        _prepare()
        self.job_monitoring_interval = BEAT_SECONDS
        super().bootstrap(*args, **kwargs)
        self.heartbeat()
        end_with_parent()  # a pool's worker finishes its job and ends

    @property
    def dequeue_timeout(self) -> int:
        """How often an idle worker wakes to give a sign of life; RQ's own does so every seven minutes."""
        return BEAT_SECONDS

    def heartbeat(self, *args: Any, **kwargs: Any) -> None:
        """Gives a sign of life, which also registers the worker again in a Redis that lost everything."""
        super().heartbeat(*args, **kwargs)
        if self.pid == os.getpid():  # and not the process that does a job
            record_sign("worker", self.pid, self.queue_names(), parent=os.getppid())
            self.connection.hset(self.key, mapping=self.serialize())
            worker_registration.register(self)

    def maintain_heartbeats(self, *args: Any, **kwargs: Any) -> None:
        """Gives signs during a job; while Redis is down the job continues without."""
        with suppress(RedisError, OSError):
            super().maintain_heartbeats(*args, **kwargs)

    def register_death(self) -> None:
        super().register_death()  # type: ignore[no-untyped-call]
        record_end("worker", os.getpid())

    def fork_work_horse(self, *args: Any, **kwargs: Any) -> None:
        """Loads corrected facts before the fork, so that they are read once and not by every job.

        The worker counts as busy already: a request to end is followed after this job, and cannot get lost in the
        meantime.
        """
        _refresh_facts()
        super().fork_work_horse(*args, **kwargs)

    def main_work_horse(self, *args: Any, **kwargs: Any) -> None:
        from shared.db.base import engine

        count_for_parent()
        start_tracing("worker")
        trace_statements(engine())
        super().main_work_horse(*args, **kwargs)

    def perform_job(self, *args: Any, **kwargs: Any) -> bool:
        """Runs the job; its process then exits at once, without exit handlers."""
        try:
            return super().perform_job(*args, **kwargs)
        finally:
            flush_spans()


def _refresh_facts() -> None:
    from shared.db.base import engine
    from shared.services.operations.facts import refresh
    from shared.services.search.exchange_rates import refresh_bank_rates

    refresh_bank_rates()
    try:
        refresh()
    except SQLAlchemyError:
        log.warning("worker: the database is down; corrected facts wait until it is back")
    engine().dispose()


@cache
def _prepare() -> None:
    """Checks the settings and loads what jobs need. Forked processes inherit it; no connection outlives the fork."""
    start()
    preload()
    _preload()
    freeze_startup_objects()


def _preload() -> None:
    import anyio.lowlevel
    from sqlalchemy import select

    import jobs.deliver
    import jobs.runs  # noqa: F401
    from shared.db.accounts import Account
    from shared.db.base import engine, transaction
    from shared.domain.time_zones import find_zone
    from shared.outbox.wording.messages import load_templates
    from shared.providers.registry import providers
    from shared.reference.load import reference
    from shared.services.operations.facts import refresh

    reference()
    providers()
    load_templates()
    find_zone("UTC")  # reads the names of all zones, 13 ms
    anyio.run(anyio.lowlevel.checkpoint)
    try:
        with transaction() as session:
            session.scalar(select(Account.id).limit(1))
        refresh()
    except SQLAlchemyError:
        log.warning("worker: the database is down; jobs wait until it is back")
    engine().dispose()
