"""Health endpoints of the web host: liveness (`/healthz`) and readiness (`/readyz`)."""

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse

from auth_server.web.flows import limiter
from shared.db.health import check_readiness, describe_health


async def healthz(request: Request) -> JSONResponse:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(describe_health())


async def readyz(request: Request) -> JSONResponse:  # noqa: ARG001
    readiness = await anyio.to_thread.run_sync(check_readiness, limiter=limiter())
    return JSONResponse(readiness.document, readiness.status, readiness.headers)
