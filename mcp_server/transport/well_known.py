"""The open pages of the MCP host: what protects /mcp, who signs people in, and whether this server is well."""

import logging
import time
from typing import Any

import anyio.to_thread
import httpx
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.middleware import METADATA
from mcp_server.transport.token_verifier import TokenVerifier
from shared.db.base import engine
from shared.reference.load import reference
from shared.settings import SCOPE, STATUS, VERSION, settings

log = logging.getLogger(__name__)
AUTH_METADATA = "/.well-known/oauth-authorization-server"
KEPT_SECONDS = 60.0
OPEN = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
# A page that runs an MCP client names the protocol's version in a header, so its browser asks first.
PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, mcp-protocol-version",
    "Access-Control-Max-Age": "86400",
}
LATE = {"Retry-After": "2", "Cache-Control": "no-store"}


async def resource_metadata(request: Request) -> Response:
    """RFC 9728, of the host that was asked."""
    document = {
        "resource": request.scope["resource"],
        "authorization_servers": [settings().web_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Award Travel",
    }
    return JSONResponse(document, headers=OPEN)


class AuthMetadata:
    """The auth server's own document, for old clients that ask the resource's host for it."""

    def __init__(self, bearers: TokenVerifier) -> None:
        self.bearers = bearers
        self.document: dict[str, Any] | None = None
        self.until = 0.0

    async def answer(self, request: Request) -> Response:  # noqa: ARG002
        if self.document is None or time.monotonic() >= self.until:
            try:
                answer = await self.bearers.http.get(self.bearers.address + AUTH_METADATA, headers=self.bearers.host)
                self.document = answer.raise_for_status().json()
                self.until = time.monotonic() + KEPT_SECONDS
            except (httpx.HTTPError, ValueError):
                words = {"error": "temporarily_unavailable", "error_description": "The auth server does not answer."}
                return JSONResponse(words, 503, LATE)
        return JSONResponse(self.document, headers={"Access-Control-Allow-Origin": "*"})


async def preflight(request: Request) -> Response:  # noqa: ARG001
    return Response(status_code=204, headers=PREFLIGHT)


async def healthz(request: Request) -> Response:  # noqa: ARG001
    return JSONResponse({"status": STATUS, "version": VERSION, "data_mode": settings().data_mode})


async def readyz(request: Request) -> Response:  # noqa: ARG001
    checks = await anyio.to_thread.run_sync(_checks, limiter=limiter())
    return JSONResponse({"ready": all(checks.values()), "checks": checks}, 200 if all(checks.values()) else 503)


async def challenge(request: Request) -> Response:  # noqa: ARG001
    """What a plugin portal asks either host to show, when the operator has set it."""
    text = settings().openai_apps_challenge
    return PlainTextResponse(text, headers=OPEN) if text else Response(status_code=404)


_at_head = False


def _checks() -> dict[str, bool]:
    try:
        with engine().connect() as connection:
            connection.exec_driver_sql("select 1")
        database, schema = True, _schema_at_head()
    except (SQLAlchemyError, OSError):
        database = schema = False
    return {"database": database, "schema": schema, "reference": reference() is not None}


def _schema_at_head() -> bool:
    """Looked up until it is so, then believed: migrations only go forward."""
    global _at_head
    if not _at_head:
        from shared.db.schema import versions  # brings Alembic along, which nothing else here needs

        have, want = versions(settings().database_url)
        _at_head = have == want
    return _at_head


def routes(bearers: TokenVerifier) -> list[Route]:
    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route(METADATA, resource_metadata),
        Route(f"{METADATA}/mcp", resource_metadata),
        Route(AUTH_METADATA, AuthMetadata(bearers).answer),
        *(Route(path, preflight, methods=["OPTIONS"]) for path in (METADATA, f"{METADATA}/mcp", AUTH_METADATA)),
        Route("/.well-known/openai-apps-challenge", challenge),
    ]
