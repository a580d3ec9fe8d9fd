"""The web host as an ASGI application: pages and OAuth endpoints, and locally a proxy to the tool server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ExceptionHandler

from auth_server.accounts import agents, billing_events
from auth_server.oauth import authorize, client_metadata, consent, internal_api, openid, revocation, token_endpoint
from auth_server.oauth.handlers import handle_bearer_request, handle_client_form, register
from auth_server.oauth.introspection import Lookups, introspect
from auth_server.oauth.metadata import build_metadata
from auth_server.oauth.refresh import create_rotations
from auth_server.pages.routes import SITE
from auth_server.sweep import keep_sweeping
from auth_server.web import error_handlers
from auth_server.web.handlers import handle_form, handle_page
from auth_server.web.health import healthz, readyz
from auth_server.web.middleware import EdgeMiddleware
from auth_server.web.rate_limit import RateLimited
from auth_server.web.reverse_proxy import ReverseProxy
from auth_server.web.static_files import STYLESHEET_PATH, serve_stylesheet
from auth_server.web.tool_server import ToolServer
from shared.asgi import BodyIncomplete, BodyTooLarge
from shared.db.base import engine, statements
from shared.db.maintenance import WATCH
from shared.db.metrics import count_connections, count_statement_connections
from shared.db.outages import OUTAGE_ERRORS
from shared.db.traces import trace_statements
from shared.garbage_collection import freeze_startup_objects
from shared.settings import settings
from shared.telemetry.logs import configure_logging
from shared.telemetry.traces import start_tracing

_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}


async def serve_metadata(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(build_metadata(), headers=_CACHE_HEADERS)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    BodyTooLarge: error_handlers.respond_too_large,
    BodyIncomplete: error_handlers.respond_too_slow,
    RateLimited: error_handlers.respond_rate_limited,
    **dict.fromkeys(OUTAGE_ERRORS, error_handlers.respond_database_unavailable),
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
    Route(billing_events.PATH, billing_events.take_event, methods=["POST"]),
    Route("/.well-known/agent.json", agents.serve_document, methods=["GET"]),
    Route(STYLESHEET_PATH, serve_stylesheet, methods=["GET"]),
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
    Route("/oauth/consent", handle_form(consent.decide), methods=["POST"]),
    Route("/oauth/revoke", handle_client_form(revocation.revoke), methods=["POST"]),
    Route("/oauth/userinfo", handle_bearer_request(openid.serve_userinfo), methods=["GET", "POST"]),
    Route("/oauth/jwks", handle_bearer_request(openid.serve_jwks), methods=["GET"]),
    *SITE,
]


def create_app() -> EdgeMiddleware:
    configure_logging()
    count_connections("auth_server")
    count_statement_connections("auth_server")
    start_tracing("auth_server")
    trace_statements(engine())
    trace_statements(statements())
    upstream = settings().mcp_upstream_url
    proxy, tool_server = ReverseProxy(upstream) if upstream else None, ToolServer()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        freeze_startup_objects()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sweeping)
            tasks.start_soon(WATCH.keep_reading)
            yield
            tasks.cancel_scope.cancel()
        await tool_server.close()
        if proxy is not None:
            await proxy.close()

    app = Starlette(routes=ROUTES, exception_handlers=_HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.lookups, app.state.rotations = Lookups(), create_rotations()
    app.state.tool_server = tool_server
    return EdgeMiddleware(app, proxy)
