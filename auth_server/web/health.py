"""Health endpoints: liveness (`/healthz`) and readiness (`/readyz`: the database answers and has this schema)."""

from functools import lru_cache

import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from auth_server.web.flows import limiter
from shared.db.base import engine
from shared.db.schema import versions
from shared.settings import STATUS, VERSION, settings


async def healthz(request: Request) -> JSONResponse:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse({"status": STATUS, "version": VERSION, "data_mode": settings().data_mode})


class _OtherSchema(Exception):
    """The schema is not the one this code needs; not cached, since a migration may be running."""


@lru_cache(maxsize=1)
def _schema_is_current() -> bool:
    current, expected = versions(settings().database_url)
    if current != expected:
        raise _OtherSchema
    return True


def _find_fault() -> str | None:
    try:
        with engine().connect() as connection:
            connection.execute(select(1))
        _schema_is_current()
    except SQLAlchemyError:
        return "the database does not answer"
    except _OtherSchema:
        return "the database has another schema; run `award-travel migrate`"
    return None


async def readyz(request: Request) -> JSONResponse:  # noqa: ARG001
    fault = await anyio.to_thread.run_sync(_find_fault, limiter=limiter())
    if fault is not None:
        return JSONResponse({"status": "not ready", "reason": fault}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", "version": VERSION})
