"""Figures of the whole service: work waiting for a worker, since when, and open rows by state; when
housekeeping and backups were last done.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, NullPool, create_engine
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - knows every table in partitions
from shared import clock
from shared.db import last_backup, messages, runs, sweeping
from shared.db.accounts import ServiceFact
from shared.db.partitions import find_fault, list_partitioned
from shared.settings import settings

TIMEOUT_MILLISECONDS = 2000  # of each statement: monitoring must not make a busy database busier

# Rows that can be claimed now. Retries and postponed messages deliberately wait until `claimed_until`.
_WAITING = """case when claimed_until is null or claimed_until <= now()
  then extract(epoch from now() - greatest({since}, coalesce(claimed_until, {since}))) end"""
_SCHEDULES = sa.text("""
select coalesce(extract(epoch from now() - min(next_due_at)), 0) from schedules
where enabled and next_due_at <= now()""")
_RUNS = sa.text(f"""
select s.kind, r.queue, r.status, count(*), max(r.waiting) from (
  select schedule_id, queue, status, {_WAITING.format(since="due_at")} as waiting
  from job_runs where status in {runs.OPEN_STATUSES}) r
join schedules s on s.id = r.schedule_id group by 1, 2, 3""")  # noqa: S608 - of constants
_DELIVERIES = sa.text(f"""
select channel, status, count(*), max({_WAITING.format(since="created_at")}) from deliveries
where status in {messages.OPEN_STATUSES} group by 1, 2""")  # noqa: S608


@dataclass(frozen=True)
class ServiceFigures:
    """Seconds that the oldest of each has waited, 0 without any; numbers of open rows."""

    oldest_due_schedule: float
    oldest_due_runs: dict[str, float]  # by queue
    oldest_due_delivery: float
    open_runs: dict[tuple[str, str], int]  # by kind and status
    open_deliveries: dict[tuple[str, str], int]  # by channel and status


@lru_cache(maxsize=1)
def _engine() -> Engine:
    """An engine with its own connections, so that monitoring takes none from the work."""
    return create_engine(
        settings().database_url,
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={"application_name": "award-travel figures", "connect_timeout": 2},
    )


@contextmanager
def open_connection(milliseconds: int) -> Iterator[Connection]:
    """A transaction for figures, with a limit on each statement."""
    with _engine().begin() as connection:
        connection.exec_driver_sql(f"set local statement_timeout = {milliseconds}")
        yield connection


def read_service_figures() -> ServiceFigures:
    """Reads them in three statements over open rows. Raises SQLAlchemyError, also if one takes too long."""
    with open_connection(TIMEOUT_MILLISECONDS) as connection:
        schedule = connection.execute(_SCHEDULES).scalar_one()
        run_rows = connection.execute(_RUNS).all()
        delivery_rows = connection.execute(_DELIVERIES).all()
    oldest_runs = dict.fromkeys((runs.CHECK_QUEUE, runs.MAIL_QUEUE), 0.0)
    open_runs: dict[tuple[str, str], int] = {}
    for kind, queue, status, number, waiting in run_rows:
        oldest_runs[queue] = max(oldest_runs[queue], _seconds(waiting))
        open_runs[kind, status] = open_runs.get((kind, status), 0) + number
    return ServiceFigures(
        _seconds(schedule),
        oldest_runs,
        max((_seconds(waiting) for _, _, _, waiting in delivery_rows), default=0.0),
        open_runs,
        {(channel, status): number for channel, status, number, _ in delivery_rows},
    )


@dataclass(frozen=True)
class Housekeeping:
    """Seconds since each was last done; infinite if never."""

    backup_age: float
    sweep_ages: dict[str, float]
    faulty_partitions: int  # tables with missing future partitions, or with rows outside any


def read_housekeeping() -> Housekeeping:
    """Reads them like `read_service_figures`."""
    with open_connection(TIMEOUT_MILLISECONDS) as connection:
        ages: dict[str, float] = {}
        for name, at in connection.execute(sa.select(ServiceFact.name, ServiceFact.set_at)):
            ages[name] = max(0.0, (clock.now() - at).total_seconds())
        session = Session(connection)
        faults = [find_fault(session, table, clock.now()) for table in list_partitioned()]
    return Housekeeping(
        ages.get(last_backup.FACT, math.inf),
        {name: ages.get(fact, math.inf) for name, fact in sweeping.FACTS.items()},
        sum(fault is not None for fault in faults),
    )


def _seconds(value: Any) -> float:
    return max(0.0, float(value or 0))
