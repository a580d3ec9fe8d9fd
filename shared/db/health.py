"""Health of a program that works with the database: the documents of /healthz and /readyz, the same on both servers."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from shared.db.base import engine
from shared.db.maintenance import WATCH, Maintenance
from shared.db.schema_version import read_schema
from shared.settings import STATUS, VERSION, settings


class Readiness(NamedTuple):
    status: int  # of HTTP
    document: dict[str, Any]
    headers: dict[str, str]


class _OtherSchema(Exception):
    """This code does not fit the schema; the text says what to do. Not cached: a migration may be running."""


def describe_health() -> dict[str, Any]:
    """Liveness: the program answers."""
    return {"status": STATUS, "version": VERSION, "data_mode": settings().data_mode}


def check_readiness(**checks: bool) -> Readiness:
    """Whether the program can work: the database, its schema, and the program's own `checks`. Blocks."""
    reason = _find_database_fault()
    checks = {"database": reason != _NO_DATABASE, "schema": reason is None, **checks}
    ready = all(checks.values())
    if maintenance := WATCH.current:
        return _describe_maintenance(maintenance, checks)
    document = {"ready": ready, "status": "ready" if ready else "not ready", "version": VERSION, "checks": checks}
    if ready:
        return Readiness(200, document, {})
    return Readiness(503, document | {"reason": reason or "a check failed"}, {"Retry-After": "1"})


def _describe_maintenance(maintenance: Maintenance, checks: dict[str, bool]) -> Readiness:
    """Answers 200: if the proxy removed the program, people would see the proxy's error instead of the sentence."""
    until = maintenance.until and maintenance.until.isoformat()
    about = {"message": maintenance.sentence, "since": maintenance.since.isoformat(), "until": until}
    document = {"ready": all(checks.values()), "status": "maintenance", "version": VERSION, "checks": checks}
    return Readiness(200, document | {"maintenance": about}, {"Cache-Control": "no-store"})


_NO_DATABASE = "the database does not answer"


def _find_database_fault() -> str | None:
    try:
        with engine().connect() as connection:
            connection.exec_driver_sql("select 1")
        _check_schema()
    except (SQLAlchemyError, OSError):
        return _NO_DATABASE
    except _OtherSchema as fault:
        return str(fault)
    return None


@lru_cache(maxsize=1)
def _check_schema() -> None:
    """Checks the schema; cached once right, as migrations only go forward."""
    schema = read_schema(settings().database_url)
    if schema.is_usable:
        return
    if schema.is_newer:
        raise _OtherSchema("the database has the schema of a newer release; start that release")
    raise _OtherSchema("the database has an older schema; run `award-travel migrate`")
