"""The public documents of the MCP host: resource metadata (RFC 9728), the auth server's metadata (RFC 8414), health."""

import time
from typing import Any

import anyio.to_thread
import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.middleware import METADATA
from shared.db.health import check_readiness, describe_health
from shared.domain.mcp_addresses import ADDRESSES, PARTS, describe_fault, find_address
from shared.internal_api import AuthServerClient
from shared.reference.load import reference
from shared.settings import SCOPE, settings

AUTH_METADATA = "/.well-known/oauth-authorization-server"
# The bare one has the origin, which the auth server reads as the whole endpoint.
METADATA_PATHS = (METADATA, *(METADATA + path for path in ADDRESSES), METADATA + PARTS + "{areas}")
CACHE_SECONDS = 60.0
PUBLIC_HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
RETRY_HEADERS = {"Retry-After": "2", "Cache-Control": "no-store"}


async def resource_metadata(request: Request) -> Response:
    """RFC 9728, for the requested host: the resource is the address from which this one was derived (3.3).

    So areas keep the client's order: a client compares it with the address that it asked.
    """
    path = request.scope["path"].removeprefix(METADATA)
    if path and find_address(path) is None:
        return JSONResponse({"error": "not_found", "error_description": describe_fault(path)}, 404)
    document = {
        "resource": request.scope["origin"] + path,
        "authorization_servers": [settings().web_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": settings().service_name,
    }
    return JSONResponse(document, headers=PUBLIC_HEADERS)


class AuthMetadata:
    """The auth server's own document, for older clients that request it from the resource's host."""

    def __init__(self, auth_server: AuthServerClient) -> None:
        self.auth_server = auth_server
        self.document: dict[str, Any] | None = None
        self.expires = 0.0

    async def answer(self, request: Request) -> Response:  # noqa: ARG002
        if self.document is None or time.monotonic() >= self.expires:
            try:
                response = await self.auth_server.get(AUTH_METADATA)
                self.document = response.raise_for_status().json()
                self.expires = time.monotonic() + CACHE_SECONDS
            except (httpx.HTTPError, ValueError):
                error = {"error": "temporarily_unavailable", "error_description": "The auth server does not answer."}
                return JSONResponse(error, 503, RETRY_HEADERS)
        return JSONResponse(self.document, headers={"Access-Control-Allow-Origin": "*"})


async def healthz(request: Request) -> Response:  # noqa: ARG001
    return JSONResponse(describe_health())


async def readyz(request: Request) -> Response:  # noqa: ARG001
    readiness = await anyio.to_thread.run_sync(lambda: check_readiness(reference=bool(reference())), limiter=limiter())
    return JSONResponse(readiness.document, readiness.status, readiness.headers)


async def challenge(request: Request) -> Response:  # noqa: ARG001
    """The token by which a plugin portal verifies the domain, when the operator has set it."""
    text = settings().openai_apps_challenge
    return PlainTextResponse(text, headers=PUBLIC_HEADERS) if text else Response(status_code=404)


def routes(auth_server: AuthServerClient) -> list[Route]:
    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        *(Route(path, resource_metadata) for path in METADATA_PATHS),
        Route(AUTH_METADATA, AuthMetadata(auth_server).answer),
        Route("/.well-known/openai-apps-challenge", challenge),
    ]
