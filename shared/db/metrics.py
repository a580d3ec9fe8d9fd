"""The database's part of the metrics: waiting and open work, and the use of each connection pool."""

from collections.abc import Mapping
from functools import cache

from sqlalchemy import Engine, event
from sqlalchemy.exc import SQLAlchemyError

from shared.db.base import engine, statements
from shared.db.service_figures import read_housekeeping, read_service_figures
from shared.settings import settings
from shared.telemetry.metrics import POOL_IN_USE, POOL_SIZE, get_series
from shared.telemetry.readings import Readings, Series

_GAUGES: dict[str, tuple[str, list[str]]] = {
    "award_oldest_due_schedule_seconds": ("Since when a schedule waits for the dispatcher.", []),
    "award_oldest_due_run_seconds": ("Since when a run waits for a worker.", ["queue"]),
    "award_oldest_due_delivery_seconds": ("Since when a message waits for a worker.", []),
    "award_backup_age_seconds": ("Since the last good backup.", []),
    "award_sweep_age_seconds": ("Since the last sweep of housekeeping.", ["sweep"]),
    "award_faulty_partitions": ("Tables whose partitions are not made ahead.", []),
    "award_open_runs": ("Runs that are not finished.", ["kind", "status"]),
    "award_open_deliveries": ("Messages that are not sent.", ["channel", "status"]),
}


def collect_database() -> Readings:
    return Readings("award_database_up", _GAUGES, _read, (SQLAlchemyError, OSError))


def _read() -> Mapping[str, Series]:
    figures, housekeeping = read_service_figures(), read_housekeeping()
    return {
        "award_oldest_due_schedule_seconds": {(): figures.oldest_due_schedule},
        "award_oldest_due_run_seconds": {(queue,): seconds for queue, seconds in figures.oldest_due_runs.items()},
        "award_oldest_due_delivery_seconds": {(): figures.oldest_due_delivery},
        "award_backup_age_seconds": {(): housekeeping.backup_age},
        "award_sweep_age_seconds": {(name,): seconds for name, seconds in housekeeping.sweep_ages.items()},
        "award_faulty_partitions": {(): housekeeping.faulty_partitions},
        "award_open_runs": {(kind, status): number for (kind, status), number in figures.open_runs.items()},
        "award_open_deliveries": {
            (channel, status): number for (channel, status), number in figures.open_deliveries.items()
        },
    }


def count_connections(program: str) -> None:
    """Starts to count the connections this process takes from its pools."""
    _count_connections(engine(), program, "main", settings().database_threads)


def count_statement_connections(program: str) -> None:
    """Counts those of the small pool too, which only the authorization server has."""
    _count_connections(statements(), program, "statements", 2)


@cache
def _count_connections(source: Engine, program: str, pool: str, size: int) -> None:
    in_use = get_series(POOL_IN_USE, program, pool)
    get_series(POOL_SIZE, program, pool).set(size)
    event.listen(source, "checkout", lambda *_: in_use.inc())
    event.listen(source, "checkin", lambda *_: in_use.dec())
