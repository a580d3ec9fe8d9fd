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

from auth_server import agents, cimd, consent, endpoints, identity, internal, mishaps
from auth_server.crowds import Crowded
from auth_server.doors import form, machine, page, register, resource
from auth_server.edge import Edge
from auth_server.health import healthz, readyz
from auth_server.incoming import TooLarge, TooSlow
from auth_server.introspect import introspect, lookups
from auth_server.metadata import metadata
from auth_server.passthrough import Passthrough
from auth_server.refresh import rotations, token
from auth_server.render import PAGES
from auth_server.site import SITE
from auth_server.sweep import keep_sweeping
from shared.settings import settings

_CACHED = {"Cache-Control": "public, max-age=300"}
_TALKATIVE = ("authlib", "httpx", "httpcore")  # below WARNING they log tokens, headers and whole addresses


async def well_known(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(metadata(), headers=_CACHED)


async def stylesheet(request: Request) -> Response:  # noqa: ARG001
    return FileResponse(PAGES / "site.css", media_type="text/css", headers=_CACHED)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    TooLarge: mishaps.too_large,
    TooSlow: mishaps.too_slow,
    Crowded: mishaps.crowded,
    OperationalError: mishaps.no_database,
    InterfaceError: mishaps.no_database,
    PoolTimeout: mishaps.no_database,
    HTTPException: mishaps.by_router,
    Exception: mishaps.crashed,
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
