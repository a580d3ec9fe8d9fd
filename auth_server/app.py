"""The web host as an ASGI application: pages and OAuth endpoints, and locally a proxy to the tool server."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
from auth_server.oauth import authorize, client_metadata, internal_api, openid, revocation, token_endpoint
from auth_server.oauth.handlers import handle_bearer_request, handle_client_form, register
from auth_server.oauth.introspection import create_lookups, introspect
from auth_server.oauth.metadata import build_metadata
from auth_server.oauth.refresh import create_rotations
from auth_server.pages.routes import SITE
from auth_server.sweep import keep_sweeping
from auth_server.web import error_handlers
from auth_server.web.handlers import handle_form, handle_page
from auth_server.web.health import healthz, readyz
from auth_server.web.middleware import EdgeMiddleware
from auth_server.web.rate_limit import RateLimited
from auth_server.web.rendering import TEMPLATES
from auth_server.web.reverse_proxy import ReverseProxy
from shared.asgi import BodyIncomplete, BodyTooLarge
from shared.garbage_collection import freeze_startup_objects
from shared.settings import settings

_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}
_VERBOSE_LOGGERS = ("authlib", "httpx", "httpcore")  # below WARNING they log tokens, headers and whole addresses


async def serve_metadata(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(build_metadata(), headers=_CACHE_HEADERS)


async def serve_stylesheet(request: Request) -> Response:  # noqa: ARG001
    return FileResponse(TEMPLATES / "site.css", media_type="text/css", headers=_CACHE_HEADERS)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    BodyTooLarge: error_handlers.respond_too_large,
    BodyIncomplete: error_handlers.respond_too_slow,
    RateLimited: error_handlers.respond_rate_limited,
    OperationalError: error_handlers.respond_database_unavailable,
    InterfaceError: error_handlers.respond_database_unavailable,
    PoolTimeout: error_handlers.respond_database_unavailable,
    HTTPException: error_handlers.respond_no_route,
    Exception: error_handlers.respond_internal_error,
}

ROUTES = [
    Route("/oauth/introspect", introspect, methods=["POST"]),  # first: called far more often than all others together
    Route("/oauth/token", token_endpoint.exchange, methods=["POST"]),
    Route("/internal/api-key", internal_api.handle_service_request(internal_api.describe_api_key), methods=["POST"]),
    Route("/internal/session", internal_api.handle_service_request(internal_api.describe_session), methods=["POST"]),
    Route("/internal/run-token", internal_api.handle_service_request(internal_api.issue_run_token), methods=["POST"]),
    Route("/internal/run-end", internal_api.handle_service_request(internal_api.end_run), methods=["POST"]),
    Route(agents.PATH, agents.register, methods=["POST"]),
    Route("/.well-known/agent.json", agents.serve_document, methods=["GET"]),
    Route("/static/site.css", serve_stylesheet, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/.well-known/oauth-authorization-server", serve_metadata, methods=["GET"]),
    Route("/.well-known/openid-configuration", serve_metadata, methods=["GET"]),
    Route("/oauth/register", register, methods=["POST"]),
    Route(
        "/oauth/authorize",
        handle_page(authorize.authorize, client_metadata.ensure_document, text=True),
        methods=["GET"],
    ),
    Route("/oauth/consent", handle_form(authorize.decide), methods=["POST"]),
    Route("/oauth/revoke", handle_client_form(revocation.revoke), methods=["POST"]),
    Route("/oauth/userinfo", handle_bearer_request(openid.serve_userinfo), methods=["GET", "POST"]),
    Route("/oauth/jwks", handle_bearer_request(openid.serve_jwks), methods=["GET"]),
    *SITE,
]


def create_app() -> EdgeMiddleware:
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    upstream = settings().mcp_upstream_url
    proxy = ReverseProxy(upstream) if upstream else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        freeze_startup_objects()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sweeping)
            yield
            tasks.cancel_scope.cancel()
        if proxy is not None:
            await proxy.close()

    app = Starlette(routes=ROUTES, exception_handlers=_HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.lookups, app.state.rotations = create_lookups(), create_rotations()
    return EdgeMiddleware(app, proxy)
