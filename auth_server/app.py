"""The web host as an ASGI application: settings go in; pages, OAuth endpoints and passed tool paths come out."""

import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

import anyio
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ExceptionHandler

from auth_server import agents, cimd, consent, endpoints, identity, internal
from auth_server.crowds import Crowded
from auth_server.doors import form, machine, page, register, resource
from auth_server.edge import Edge
from auth_server.health import healthz, readyz
from auth_server.incoming import TooLarge, TooSlow
from auth_server.introspect import introspect, lookups
from auth_server.metadata import metadata
from auth_server.passthrough import Passthrough
from auth_server.refresh import rotations, token
from auth_server.render import PAGES, html
from auth_server.site import SITE
from auth_server.sweep import keep_sweeping
from shared.errors import problem
from shared.settings import settings

log = logging.getLogger(__name__)
_CACHED = {"Cache-Control": "public, max-age=300"}
_TALKATIVE = ("authlib", "httpx", "httpcore")  # below WARNING they log tokens, headers and whole addresses


async def well_known(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(metadata(), headers=_CACHED)


async def stylesheet(request: Request) -> Response:  # noqa: ARG001
    return FileResponse(PAGES / "site.css", media_type="text/css", headers=_CACHED)


async def _too_large(request: Request, error: Exception) -> Response:  # noqa: ARG001
    text = {"error": "invalid_request", "error_description": "The body is too large."}
    return JSONResponse(text, 413, {"Cache-Control": "no-store", "Connection": "close"})


async def _too_slow(request: Request, error: Exception) -> Response:  # noqa: ARG001
    text = {"error": "invalid_request", "error_description": "The body did not arrive in time."}
    return JSONResponse(text, 408, {"Cache-Control": "no-store", "Connection": "close"})


async def _crowded(request: Request, error: Exception) -> Response:
    words, wait = "Too many requests from this address.", str(getattr(error, "retry_after", 60))
    headers = {"Cache-Control": "no-store", "Retry-After": wait}
    if request.url.path.startswith("/api/"):
        about = problem(settings().web_url, "too_many_requests", words)
        return JSONResponse(about, 429, headers, media_type="application/problem+json")
    return JSONResponse({"error": "temporarily_unavailable", "error_description": words}, 429, headers)


async def _no_database(request: Request, error: Exception) -> Response:  # noqa: ARG001
    log.error("the database does not answer: %s", type(error).__name__)
    text = {"error": "temporarily_unavailable", "error_description": "Please try again in a moment."}
    return JSONResponse(text, 503, {"Cache-Control": "no-store", "Retry-After": "2"})


async def _http_problem(request: Request, error: Exception) -> Response:  # noqa: ARG001
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    if status != 404:
        return Response(status_code=status, headers=headers)
    text = {"title": "Nothing is here", "text": "The address may be mistyped, or the page has moved."}
    return html("problem.html", text, 404)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    TooLarge: _too_large,
    TooSlow: _too_slow,
    Crowded: _crowded,
    OperationalError: _no_database,
    InterfaceError: _no_database,
    PoolTimeout: _no_database,
    HTTPException: _http_problem,
}

ROUTES = [
    Route("/oauth/introspect", introspect, methods=["POST"]),  # first: asked far more often than all others together
    Route("/oauth/token", token, methods=["POST"]),
    Route("/internal/api-key", internal.answering(internal.api_key), methods=["POST"]),
    Route("/internal/session", internal.answering(internal.session), methods=["POST"]),
    Route("/internal/run-token", internal.answering(internal.run_token), methods=["POST"]),
    Route("/internal/run-end", internal.answering(internal.run_end), methods=["POST"]),
    Route(agents.PATH, agents.register, methods=["POST"]),
    Route("/.well-known/agent.json", agents.document, methods=["GET"]),
    Route("/static/site.css", stylesheet, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/.well-known/oauth-authorization-server", well_known, methods=["GET"]),
    Route("/.well-known/openid-configuration", well_known, methods=["GET"]),
    Route("/oauth/register", register, methods=["POST"]),
    Route("/oauth/authorize", page(consent.authorize, before=cimd.look_up, text=True), methods=["GET"]),
    Route("/oauth/consent", form(consent.decide), methods=["POST"]),
    Route("/oauth/revoke", machine(endpoints.revoke), methods=["POST"]),
    Route("/oauth/userinfo", resource(identity.userinfo), methods=["GET", "POST"]),
    Route("/oauth/jwks", resource(identity.jwks), methods=["GET"]),
    *SITE,
]


@lru_cache(maxsize=1)
def _settle_memory() -> None:
    """Once in a process: what was built until now stays, and the collector need not walk it again in every pause."""
    gc.collect()
    gc.freeze()


def create_app() -> Edge:
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    upstream = settings().mcp_upstream_url
    passing = Passthrough(upstream) if upstream else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        _settle_memory()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sweeping)
            yield
            tasks.cancel_scope.cancel()
        if passing is not None:
            await passing.close()

    app = Starlette(routes=ROUTES, exception_handlers=_HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.lookups, app.state.rotations = lookups(), rotations()
    return Edge(app, passing)
