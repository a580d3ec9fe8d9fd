"""Health of a program that works with the database: the documents of /healthz and /readyz, alike on both servers."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from shared.db.base import engine
from shared.settings import STATUS, VERSION, settings


class Readiness(NamedTuple):
    status: int  # of HTTP
    document: dict[str, Any]
    headers: dict[str, str]


class _OtherSchema(Exception):
    """The schema is not the one this code needs; not cached, since a migration may be running."""


def describe_health() -> dict[str, Any]:
    """Liveness: the program answers."""
    return {"status": STATUS, "version": VERSION, "data_mode": settings().data_mode}


def check_readiness(**checks: bool) -> Readiness:
    """Whether the program can work: the database, its schema, and the program's own `checks`. Blocks."""
    reason = _find_database_fault()
    checks = {"database": reason != _NO_DATABASE, "schema": reason is None, **checks}
    ready = all(checks.values())
    document = {"ready": ready, "status": "ready" if ready else "not ready", "version": VERSION, "checks": checks}
    if ready:
        return Readiness(200, document, {})
    return Readiness(503, document | {"reason": reason or "a check failed"}, {"Retry-After": "1"})


_NO_DATABASE = "the database does not answer"


def _find_database_fault() -> str | None:
    try:
        with engine().connect() as connection:
            connection.exec_driver_sql("select 1")
        _check_schema()
    except (SQLAlchemyError, OSError):
        return _NO_DATABASE
    except _OtherSchema:
        return "the database has another schema; run `award-travel migrate`"
    return None


@lru_cache(maxsize=1)
def _check_schema() -> None:
    """Cached once it is right: migrations only go forward."""
    from shared.db.schema import versions  # imports Alembic, which servers need for nothing else

    current, expected = versions(settings().database_url)
    if current != expected:
        raise _OtherSchema
