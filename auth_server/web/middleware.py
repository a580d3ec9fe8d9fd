"""Outermost middleware: checks the host, forwards tool paths, answers CORS preflights and adds security headers."""

from urllib.parse import urlsplit

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from auth_server.web import sessions
from auth_server.web.error_handlers import respond_maintenance
from auth_server.web.flows import limiter
from auth_server.web.reverse_proxy import STATES, ReverseProxy, serve_absence
from shared.asgi import ANY_ORIGIN, add_headers, answer_preflight, is_browser, security_headers, share_with
from shared.db.base import transaction
from shared.db.maintenance import WATCH
from shared.internal_api import session_cookie_name
from shared.settings import PASSED_PATHS, settings
from shared.telemetry.call_context import label_work, new_id
from shared.telemetry.served_requests import find_route, note_request
from shared.telemetry.traces import name_request, read_traceparent, span

# Maintenance mode on the web host: what stays open, who may pass, and the answer for everyone else.

# Documents that need no database, files that pages need, and the sign-in for administrators.
_OPEN_FOLDERS = ("/.well-known/", "/static/", "/signin/")
_OPEN_PATHS = frozenset({"/signin", "/signout", "/favicon.ico", "/robots.txt"})


async def find_refusal(scope: Scope) -> Response | None:
    """The answer in place of the path; None without maintenance, and for paths that it leaves open."""
    maintenance, path = WATCH.current, scope["path"]
    if maintenance is None or path in _OPEN_PATHS or path.startswith(_OPEN_FOLDERS):
        return None
    request = Request(scope)
    cookie = request.cookies.get(session_cookie_name(), "")
    if await anyio.to_thread.run_sync(_is_administrator, cookie, limiter=limiter()):
        return None
    return respond_maintenance(request, maintenance)


def _is_administrator(cookie: str) -> bool:
    """Whether it is an administrator; no one is while the database is down or of another version."""
    try:
        with transaction() as session:
            account = sessions.find_account(session, sessions.load(session, cookie))
            return account is not None and account.is_admin
    except SQLAlchemyError:
        return False


# Called by IP address instead of by name: health checks, and our own programs, which authenticate.
INTERNAL_PATHS = ("/internal/api-key", "/internal/session", "/internal/run-token", "/internal/run-end")
ANY_HOST = frozenset({"/healthz", "/readyz", "/oauth/introspect", *INTERNAL_PATHS})
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
CORS_PATHS = frozenset(
    {
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/.well-known/agent.json",
        "/oauth/register",
        "/oauth/token",
        "/oauth/revoke",
        "/oauth/userinfo",
        "/oauth/jwks",
    }
)


def normalize_host(host: str) -> str:
    """A Host value in the form origins use: lower case, without the default port."""
    default = ":443" if settings().secure else ":80"
    return host.lower().removesuffix(default)


def find_forwarded(path: str) -> str | None:
    """The name of the tool server's path that this is, or is below."""
    names = (*PASSED_PATHS, RESOURCE_METADATA)
    return next((name for name in names if path == name or path.startswith(name.rstrip("/") + "/")), None)


def _read_host(scope: Scope) -> str:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    return hosts[0] if len(hosts) == 1 else ""


class EdgeMiddleware:
    def __init__(self, app: ASGIApp, proxy: ReverseProxy | None) -> None:
        hosts = frozenset(normalize_host(host) for host in (*settings().hosts, urlsplit(settings().web_url).netloc))
        self.app, self.proxy, self.hosts = app, proxy, hosts
        headers = security_headers(https=settings().secure)
        self.headers, self.cors_headers = headers, [*headers, *share_with(ANY_ORIGIN)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name, parent = name_request("auth_server", scope), read_traceparent(scope["headers"])
        request_note = note_request(
            "auth_server", scope, send, lambda scope: find_route(scope) or find_forwarded(scope["path"])
        )
        with label_work(new_id()), span(name, parent), request_note as sending:
            await self._answer(scope, receive, sending)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in ANY_HOST and normalize_host(_read_host(scope)) not in self.hosts:
            refusal = JSONResponse({"error": "misdirected_request"}, 421)
            await refusal(scope, receive, send)
        elif self.proxy is not None and find_forwarded(path):
            await self.proxy(scope, receive, send)
        elif path == STATES or (find_forwarded(path) and is_browser(scope)):
            # A proxy in front sends these here while the tool server does not answer.
            await serve_absence(scope, receive, add_headers(send, self.headers))
        elif scope["method"] == "OPTIONS" and path in CORS_PATHS:
            await answer_preflight(send, ANY_ORIGIN)
        else:
            headers = self.cors_headers if path in CORS_PATHS else self.headers
            answer = None if path in ANY_HOST else await find_refusal(scope)
            await (answer or self.app)(scope, receive, add_headers(send, headers))
