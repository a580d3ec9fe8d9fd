"""The outermost middleware: host, bearer token, origin, method, areas and media type are checked before /mcp.

Each rule is there because the specification, real clients and the SDK disagree; all apply to /mcp/ and to the
narrower addresses below it too.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.calls.pace import PACE, TooManyCalls
from mcp_server.toolkit import Caller, UnknownArea, parse_areas
from mcp_server.transport.json_responses import Headers, JsonResponse, oauth_error, rpc_error
from mcp_server.transport.token_verifier import (
    AuthServerUnavailable,
    Problem,
    RateLimited,
    TokenRejected,
    TokenVerifier,
)
from shared.asgi import (
    ANY_ORIGIN,
    add_headers,
    answer_preflight,
    is_browser,
    is_page_served,
    is_preflight,
    read_origin,
    security_headers,
    share_with,
)
from shared.domain.mcp_addresses import WHOLE, McpAddress, describe_fault, find_address
from shared.settings import SCOPE, settings
from shared.telemetry.call_context import label_work, new_id
from shared.telemetry.metrics import GATE_REFUSALS, count
from shared.telemetry.served_requests import find_route, note_request
from shared.telemetry.traces import name_request, read_traceparent, span

METADATA = "/.well-known/oauth-protected-resource"
REST, DOCUMENTS = "/api/v1/", "/.well-known/"
OTHER_PAGES = "Requests from pages of this origin are not served; the operator adds origins with CORS_ORIGINS."
PROBES = frozenset({"/healthz", "/readyz"})
RETRY_AFTER = b"2"
ACCEPT = (b"accept", b"application/json, text/event-stream")
Explain = Callable[[Scope, JsonResponse], ASGIApp]
FindAnswer = Callable[[Scope], ASGIApp | None]


class Reject(Exception):
    """Ends the request with this response."""

    def __init__(self, response: JsonResponse) -> None:
        super().__init__(response.status)
        self.response = response


class Endpoint(NamedTuple):
    """One address of the tool endpoint on one served host, and where it is described (RFC 9728 3)."""

    origin: str
    address: McpAddress
    path: str  # as the client wrote it: areas may be in another order

    @property
    def metadata_url(self) -> str:
        return f"{self.origin}{METADATA}{self.path}"


class RequestGate:
    """The ASGI application: the tool endpoint's addresses behind their rules, everything else to the open pages."""

    def __init__(
        self, bearers: TokenVerifier, mcp: ASGIApp, pages: ASGIApp, explain: Explain, find_maintenance: FindAnswer
    ) -> None:
        """`explain` is the page for a person who opens the endpoint, instead of a refusal.

        `find_maintenance` gives a page's answer while the service is under maintenance.
        """
        self.token_verifier, self.mcp, self.pages, self.explain = bearers, mcp, pages, explain
        self.find_maintenance = find_maintenance
        self.hosts = {urlsplit(r).netloc.lower().encode(): r.removesuffix(WHOLE.path) for r in settings().resources}
        self.security_headers = security_headers(https=settings().secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.pages(scope, receive, send)

        name, parent = name_request("mcp_server", scope), read_traceparent(scope["headers"])
        request_note = note_request("mcp_server", scope, send, _find_template)
        with label_work(new_id()), span(name, parent), request_note as sending:
            return await self._answer(scope, receive, add_headers(sending, self.security_headers))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            return await self.pages(scope, receive, send)
        # httptools keeps the blanks around values
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        origin = self.hosts.get(dict(headers).get(b"host", b"").lower())
        if origin is None:
            return await rpc_error(421, INVALID_REQUEST, "This host name is not served here.")(send)
        scope["origin"] = origin
        address, fault = find_address(scope["path"]), describe_fault(scope["path"])
        page, is_call = read_origin(headers), bool(address or fault or scope["path"].startswith(REST))
        if page is not None and is_preflight(scope) and (is_call or scope["path"].startswith(DOCUMENTS)):
            # It has no token. Open documents are for pages of any origin.
            if is_call and not is_page_served(page, settings().page_origins):
                return await rpc_error(403, INVALID_REQUEST, OTHER_PAGES)(send)
            return await answer_preflight(send, page if is_call else ANY_ORIGIN)
        if page is not None and is_call and is_page_served(page, settings().page_origins):
            send = add_headers(send, share_with(page))
        if not (address or fault):
            return await (self.find_maintenance(scope) or self.pages)(scope, receive, send)
        endpoint = Endpoint(origin, address, scope["path"].rstrip("/")) if address else None
        return await self._answer_call(scope, receive, send, headers, endpoint, fault or "")

    async def _answer_call(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: list[tuple[bytes, bytes]],
        endpoint: Endpoint | None,
        fault: str,
    ) -> None:
        try:
            if endpoint is None:
                raise Reject(rpc_error(404, INVALID_REQUEST, fault))
            inner = await self._check_request(scope, headers, endpoint)
            async with PACE.keep(inner["caller"].account_id, headers):
                return await self.mcp(inner, receive, send)
        except TooManyCalls as many:
            count(GATE_REFUSALS, "429")
            retry_headers = _retry_headers(str(many.retry_after).encode())
            return await rpc_error(429, INVALID_REQUEST, str(many), retry_headers)(send)
        except Reject as rejected:
            count(GATE_REFUSALS, str(rejected.response.status))
            if is_browser(scope):
                return await self.explain(scope, rejected.response)(scope, receive, send)
            return await rejected.response(send)

    async def _check_request(self, scope: Scope, headers: list[tuple[bytes, bytes]], endpoint: Endpoint) -> Scope:
        """Returns the scope for the SDK: one path, trimmed headers, the caller, address and areas. Raises Reject."""
        caller = await self._caller(scope, headers, endpoint)  # first: clients rely on the 401
        by_name = dict(headers)
        page = read_origin(headers)
        if page is not None and not is_page_served(page, settings().page_origins):
            raise Reject(rpc_error(403, INVALID_REQUEST, OTHER_PAGES))
        if scope["method"] != "POST":
            # Stateless: the SDK would keep a GET open for ever without sending a byte.
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
            "caller": replace(caller, read_only=True) if endpoint.address.read_only else caller,
            "address": endpoint.address,
            "areas": areas,
        }

    async def _caller(self, scope: Scope, headers: list[tuple[bytes, bytes]], endpoint: Endpoint) -> Caller:
        try:
            peer = (scope.get("client") or ("",))[0]
            return await self.token_verifier.check(_token(headers), peer, endpoint.address)
        except TokenRejected as rejected:
            error, words = rejected.problem.value
            status = 403 if rejected.problem is Problem.SCOPE else 401
            challenge = _challenge(endpoint, rejected.problem)
            raise Reject(oauth_error(status, error, words, challenge)) from None
        except RateLimited as limited:
            words = "Too many bad tokens came from this address; this one was not looked at."
            retry_headers = _retry_headers(str(limited.seconds).encode())
            raise Reject(oauth_error(429, "temporarily_unavailable", words, retry_headers)) from None
        except AuthServerUnavailable:
            words = "The authorization server does not answer; the token was not judged. Try again shortly."
            retry_headers = _retry_headers(RETRY_AFTER)
            raise Reject(oauth_error(503, "temporarily_unavailable", words, retry_headers)) from None


def _find_template(scope: Scope) -> str | None:
    address = find_address(scope["path"])
    return address.path if address else find_route(scope)


def _retry_headers(seconds: bytes) -> Headers:
    return ((b"retry-after", seconds), (b"cache-control", b"no-store"))


def _token(headers: list[tuple[bytes, bytes]]) -> str:
    """The one bearer token sent. Refuses requests that also have an API key: they would have two identities."""
    credentials = [value for name, value in headers if name == b"authorization"]
    has_key = any(name == b"x-api-key" for name, _ in headers)
    if len(credentials) != 1 or has_key:
        raise TokenRejected(Problem.INVALID if credentials or has_key else Problem.MISSING)
    scheme, _, token = credentials[0].partition(b" ")
    if scheme.lower() != b"bearer":
        raise TokenRejected(Problem.INVALID)
    return token.rstrip(b" \t").decode("latin-1")  # RFC 6750 2.1: one blank; with two the token is malformed


def _challenge(endpoint: Endpoint, problem: Problem) -> Headers:
    """RFC 9728 5.1: an absolute, path-inserted metadata URL. Without credentials there is no error (RFC 6750 3.1)."""
    error, words = problem.value
    fault = "" if problem is Problem.MISSING else f'error="{error}", error_description="{words}", '
    challenge = f'Bearer {fault}resource_metadata="{endpoint.metadata_url}", scope="{SCOPE}"'
    return ((b"www-authenticate", challenge.encode()), (b"cache-control", b"no-store"))
