"""The outermost middleware: host, bearer token, origin, method, areas and media type are checked before /mcp.

Each rule stands where the specification, real clients and the SDK disagree; all of them hold for /mcp/ too.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.toolkit.areas import UnknownArea, parse_areas
from mcp_server.toolkit.context import Caller
from mcp_server.transport.json_responses import Headers, JsonResponse, oauth_error, rpc_error
from mcp_server.transport.token_verifier import (
    AuthServerUnavailable,
    Problem,
    RateLimited,
    TokenRejected,
    TokenVerifier,
)
from shared.asgi import add_headers, security_headers
from shared.settings import SCOPE, settings

METADATA = "/.well-known/oauth-protected-resource"
PROBES = frozenset({"/healthz", "/readyz"})
RETRY_AFTER = b"2"
ACCEPT = (b"accept", b"application/json, text/event-stream")


class Reject(Exception):
    """The request ends here, with this response."""

    def __init__(self, response: JsonResponse) -> None:
        super().__init__(response.status)
        self.response = response


class Host(NamedTuple):
    """One served Host: the resource tokens are for, and where that resource is described."""

    resource: str
    metadata_url: str


class RequestGate:
    """The ASGI application: /mcp behind its rules, everything else to the open pages."""

    def __init__(self, bearers: TokenVerifier, mcp: ASGIApp, pages: ASGIApp) -> None:
        self.token_verifier, self.mcp, self.pages = bearers, mcp, pages
        self.hosts = {urlsplit(r).netloc.lower().encode(): _host(r) for r in settings().resources}
        self.origins = {f"{urlsplit(r).scheme}://{urlsplit(r).netloc}".encode() for r in settings().resources}
        self.security_headers = security_headers(https=settings().secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.pages(scope, receive, send)

        return await self._answer(scope, receive, add_headers(send, self.security_headers))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            return await self.pages(scope, receive, send)
        # httptools keeps the blanks around values
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        host = self.hosts.get(dict(headers).get(b"host", b"").lower())
        if host is None:
            return await rpc_error(421, INVALID_REQUEST, "This host name is not served here.")(send)
        if scope["path"] not in ("/mcp", "/mcp/"):
            scope["resource"] = host.resource
            return await self.pages(scope, receive, send)
        try:
            inner = await self._check_request(scope, headers, host)
        except Reject as rejected:
            return await rejected.response(send)
        return await self.mcp(inner, receive, send)

    async def _check_request(self, scope: Scope, headers: list[tuple[bytes, bytes]], host: Host) -> Scope:
        """The scope for /mcp: one path, trimmed headers, the caller and the areas. Raises Reject."""
        caller = await self._caller(scope, headers, host)  # first of all checks: clients rely on the 401
        by_name = dict(headers)
        origin = by_name.get(b"origin")
        if origin is not None and origin not in self.origins:
            raise Reject(rpc_error(403, INVALID_REQUEST, "Requests from pages of this origin are not served."))
        if scope["method"] != "POST":
            # Stateless: the SDK would hold a GET open for ever without sending a byte.
            allow = ((b"allow", b"POST"),)
            raise Reject(rpc_error(405, INVALID_REQUEST, "Only POST is answered here.", allow))
        try:
            areas = parse_areas(scope["query_string"])
        except UnknownArea as error:
            raise Reject(rpc_error(400, INVALID_PARAMS, str(error), areas=error.areas)) from None
        if by_name.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
            raise Reject(rpc_error(415, INVALID_REQUEST, "Content-Type must be application/json."))
        if b"accept" not in by_name:
            headers.append(ACCEPT)  # RFC 9110: absent means anything; the SDK reads it as nothing
        return {
            **scope,
            "path": "/mcp",
            "raw_path": b"/mcp",
            "headers": headers,
            "caller": caller,
            "areas": areas,
        }

    async def _caller(self, scope: Scope, headers: list[tuple[bytes, bytes]], host: Host) -> Caller:
        try:
            return await self.token_verifier.check(_token(headers), (scope.get("client") or ("",))[0])
        except TokenRejected as rejected:
            error, words = rejected.problem.value
            status = 403 if rejected.problem is Problem.SCOPE else 401
            raise Reject(oauth_error(status, error, words, _challenge(host, error, words))) from None
        except RateLimited as limited:
            words = "Too many bad tokens came from this address; this one was not looked at."
            retry_headers = _retry_headers(str(limited.seconds).encode())
            raise Reject(oauth_error(429, "temporarily_unavailable", words, retry_headers)) from None
        except AuthServerUnavailable:
            words = "The authorization server does not answer; the token was not judged. Try again shortly."
            retry_headers = _retry_headers(RETRY_AFTER)
            raise Reject(oauth_error(503, "temporarily_unavailable", words, retry_headers)) from None


def _retry_headers(seconds: bytes) -> Headers:
    return ((b"retry-after", seconds), (b"cache-control", b"no-store"))


def _host(resource: str) -> Host:
    parts = urlsplit(resource)
    return Host(resource, f"{parts.scheme}://{parts.netloc}{METADATA}/mcp")


def _token(headers: list[tuple[bytes, bytes]]) -> str:
    """The one bearer token sent. Requests that carry an API key too are refused: they would have two identities."""
    credentials = [value for name, value in headers if name == b"authorization"]
    if len(credentials) != 1 or any(name == b"x-api-key" for name, _ in headers):
        raise TokenRejected(Problem.INVALID)
    scheme, _, token = credentials[0].partition(b" ")
    if scheme.lower() != b"bearer":
        raise TokenRejected(Problem.INVALID)
    return token.rstrip(b" \t").decode("latin-1")  # RFC 6750 2.1: one blank; with two the token is malformed


def _challenge(host: Host, error: str, words: str) -> Headers:
    """RFC 6750 3 and RFC 9728 5.1: an absolute, path-inserted metadata URL. Clients expect an error always."""
    challenge = (
        f'Bearer error="{error}", error_description="{words}", resource_metadata="{host.metadata_url}", scope="{SCOPE}"'
    )
    return ((b"www-authenticate", challenge.encode()), (b"cache-control", b"no-store"))
