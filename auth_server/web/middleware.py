"""The outermost layer: refuses other hosts, passes tool paths on, answers preflights, adds headers, catches all."""

from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth_server.web.reverse_proxy import Passthrough
from shared.settings import PASSED_PATHS, settings

# Asked by address instead of by name: health checks, and our own programs, which prove who they are.
INTERNAL = ("/internal/api-key", "/internal/session", "/internal/run-token", "/internal/run-end")
ANY_HOST = frozenset({"/healthz", "/readyz", "/oauth/introspect", *INTERNAL})
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
CORS = frozenset(
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
_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, mcp-protocol-version",
    "Access-Control-Max-Age": "86400",
}


def site(host: str) -> str:
    """A Host value in the form origins use: lower case, without the default port."""
    default = ":443" if settings().secure else ":80"
    return host.lower().removesuffix(default)


def _our_sites() -> frozenset[str]:
    return frozenset(site(known) for known in (*settings().hosts, urlsplit(settings().web_url).netloc))


def is_passed(path: str) -> bool:
    """One of the tool server's paths, or below it."""
    names = (*PASSED_PATHS, RESOURCE_METADATA)
    return any(path == name or path.startswith(name.rstrip("/") + "/") for name in names)


def _host(scope: Scope) -> str:
    found = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    return found[0] if len(found) == 1 else ""


class EdgeMiddleware:
    def __init__(self, app: ASGIApp, passing: Passthrough | None) -> None:
        self.app, self.passing, self.sites = app, passing, _our_sites()
        more = [(b"x-content-type-options", b"nosniff")]
        if settings().secure:
            more.append((b"strict-transport-security", b"max-age=31536000; includeSubDomains"))
        self.plain, self.cors = more, [*more, (b"access-control-allow-origin", b"*")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if path not in ANY_HOST and site(_host(scope)) not in self.sites:
            refusal = JSONResponse({"error": "misdirected_request"}, 421)
            await refusal(scope, receive, send)
        elif self.passing is not None and is_passed(path):
            await self.passing(scope, receive, send)
        elif scope["method"] == "OPTIONS" and path in CORS:
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, send)
        else:
            await self._answer(scope, receive, send, self.cors if path in CORS else self.plain)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, more: list[tuple[bytes, bytes]]) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self.app(scope, receive, with_headers)
