"""Outermost middleware: checks the host, forwards tool paths, answers CORS preflights and adds security headers."""

from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from auth_server.web.maintenance import find_refusal
from auth_server.web.reverse_proxy import STATES, ReverseProxy, serve_absence
from shared.asgi import add_headers, is_browser, security_headers
from shared.settings import PASSED_PATHS, settings
from shared.telemetry.call_context import label_work, new_id
from shared.telemetry.http_counts import count_response
from shared.telemetry.traces import name_request, read_traceparent, span

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
_PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, mcp-protocol-version",
    "Access-Control-Max-Age": "86400",
}


def normalize_host(host: str) -> str:
    """A Host value in the form origins use: lower case, without the default port."""
    default = ":443" if settings().secure else ":80"
    return host.lower().removesuffix(default)


def _load_hosts() -> frozenset[str]:
    return frozenset(normalize_host(host) for host in (*settings().hosts, urlsplit(settings().web_url).netloc))


def is_forwarded(path: str) -> bool:
    """One of the tool server's paths, or below it."""
    names = (*PASSED_PATHS, RESOURCE_METADATA)
    return any(path == name or path.startswith(name.rstrip("/") + "/") for name in names)


def _read_host(scope: Scope) -> str:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    return hosts[0] if len(hosts) == 1 else ""


class EdgeMiddleware:
    def __init__(self, app: ASGIApp, proxy: ReverseProxy | None) -> None:
        self.app, self.proxy, self.hosts = app, proxy, _load_hosts()
        headers = security_headers(https=settings().secure)
        self.headers, self.cors_headers = headers, [*headers, (b"access-control-allow-origin", b"*")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name, parent = name_request("auth_server", scope), read_traceparent(scope["headers"])
        with label_work(new_id()), span(name, parent):
            await self._answer(scope, receive, count_response(send, "auth_server"))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in ANY_HOST and normalize_host(_read_host(scope)) not in self.hosts:
            refusal = JSONResponse({"error": "misdirected_request"}, 421)
            await refusal(scope, receive, send)
        elif self.proxy is not None and is_forwarded(path):
            await self.proxy(scope, receive, send)
        elif path == STATES or (is_forwarded(path) and is_browser(scope)):
            # The proxy in front sends these here while the tool server does not answer.
            await serve_absence(scope, receive, add_headers(send, self.headers))
        elif scope["method"] == "OPTIONS" and path in CORS_PATHS:
            await Response(status_code=204, headers=_PREFLIGHT_HEADERS)(scope, receive, send)
        else:
            headers = self.cors_headers if path in CORS_PATHS else self.headers
            answer = None if path in ANY_HOST else await find_refusal(scope)
            await (answer or self.app)(scope, receive, add_headers(send, headers))
