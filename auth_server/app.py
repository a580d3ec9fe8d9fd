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

from auth_server.accounts import agents
from auth_server.oauth import authorize, client_metadata, internal_api, openid, token_endpoint
from auth_server.oauth.fast_refresh import rotations, token
from auth_server.oauth.introspection import introspect, lookups
from auth_server.oauth.metadata import metadata
from auth_server.pages.routes import SITE
from auth_server.sweep import keep_sweeping
from auth_server.web import error_handlers
from auth_server.web.handlers import form, machine, page, register, resource
from auth_server.web.health import healthz, readyz
from auth_server.web.middleware import EdgeMiddleware
from auth_server.web.rate_limit import RateLimited
from auth_server.web.rendering import TEMPLATES
from auth_server.web.request_data import TooLarge, TooSlow
from auth_server.web.reverse_proxy import Passthrough
from shared.settings import settings

_CACHED = {"Cache-Control": "public, max-age=300"}
_TALKATIVE = ("authlib", "httpx", "httpcore")  # below WARNING they log tokens, headers and whole addresses


async def well_known(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(metadata(), headers=_CACHED)


async def stylesheet(request: Request) -> Response:  # noqa: ARG001
    return FileResponse(TEMPLATES / "site.css", media_type="text/css", headers=_CACHED)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    TooLarge: error_handlers.too_large,
    TooSlow: error_handlers.too_slow,
    RateLimited: error_handlers.crowded,
    OperationalError: error_handlers.no_database,
    InterfaceError: error_handlers.no_database,
    PoolTimeout: error_handlers.no_database,
    HTTPException: error_handlers.by_router,
    Exception: error_handlers.crashed,
}

ROUTES = [
    Route("/oauth/introspect", introspect, methods=["POST"]),  # first: asked far more often than all others together
    Route("/oauth/token", token, methods=["POST"]),
    Route("/internal/api-key", internal_api.answering(internal_api.api_key), methods=["POST"]),
    Route("/internal/session", internal_api.answering(internal_api.session), methods=["POST"]),
    Route("/internal/run-token", internal_api.answering(internal_api.run_token), methods=["POST"]),
    Route("/internal/run-end", internal_api.answering(internal_api.run_end), methods=["POST"]),
    Route(agents.PATH, agents.register, methods=["POST"]),
    Route("/.well-known/agent.json", agents.document, methods=["GET"]),
    Route("/static/site.css", stylesheet, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/.well-known/oauth-authorization-server", well_known, methods=["GET"]),
    Route("/.well-known/openid-configuration", well_known, methods=["GET"]),
    Route("/oauth/register", register, methods=["POST"]),
    Route("/oauth/authorize", page(authorize.authorize, before=client_metadata.look_up, text=True), methods=["GET"]),
    Route("/oauth/consent", form(authorize.decide), methods=["POST"]),
    Route("/oauth/revoke", machine(token_endpoint.revoke), methods=["POST"]),
    Route("/oauth/userinfo", resource(openid.userinfo), methods=["GET", "POST"]),
    Route("/oauth/jwks", resource(openid.jwks), methods=["GET"]),
    *SITE,
]


@lru_cache(maxsize=1)
def _settle_memory() -> None:
    """Once in a process: what was built until now stays, and the collector need not walk it again in every pause."""
    gc.collect()
    gc.freeze()


def create_app() -> EdgeMiddleware:
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
    return EdgeMiddleware(app, passing)
