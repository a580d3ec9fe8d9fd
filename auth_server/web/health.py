"""Health: is the program up, and can it work: its database answers and has the schema this code wants."""

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


class _Behind(Exception):
    """The schema is not the one this code wants; not remembered, since a migration may be running."""


@lru_cache(maxsize=1)
def _schema_is_current() -> bool:
    have, want = versions(settings().database_url)
    if have != want:
        raise _Behind
    return True


def _fault() -> str | None:
    try:
        with engine().connect() as connection:
            connection.execute(select(1))
        _schema_is_current()
    except SQLAlchemyError:
        return "the database does not answer"
    except _Behind:
        return "the database has another schema; run `award-travel migrate`"
    return None


async def readyz(request: Request) -> JSONResponse:  # noqa: ARG001
    fault = await anyio.to_thread.run_sync(_fault, limiter=limiter())
    if fault is not None:
        return JSONResponse({"status": "not ready", "reason": fault}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", "version": VERSION})
