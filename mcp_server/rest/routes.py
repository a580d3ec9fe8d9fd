"""REST over the same tools: POST /api/v1/tools/NAME with JSON arguments and an API key; lists and documents by GET."""

import difflib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio.to_thread
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.calls.dispatch import Answer, dispatch
from mcp_server.calls.pace import PACE, TooManyCalls
from mcp_server.calls.problem_details import RETRY_LATER, ProblemResponse, render_refusal
from mcp_server.calls.quota import api_calls_left
from mcp_server.rest import openapi
from mcp_server.toolkit import ANONYMOUS, TOOLS, Caller, UnknownArea, parse_areas
from mcp_server.toolkit.json_bodies import MAX_VALUES, TooManyValues, parse_json
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.token_verifier import AuthServerUnavailable, RateLimited, TokenRejected, TokenVerifier
from shared import clock
from shared.asgi import BodyIncomplete, BodyTooLarge, read_body
from shared.errors import Busy
from shared.limits import Verdict, address_key, hit
from shared.limits.heavy_work import run_heavy
from shared.settings import settings

PATH = "/api/v1/tools"
MAX_BODY_BYTES, MAX_BODY_SECONDS = 4 * 1024 * 1024, 15.0
READS_PER_MINUTE = 120  # lists and documents, of one address
OK_STATUSES = frozenset({"ok", "partial", "no_data", "candidates", "confirmation_required"})
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="award-travel"'}
Handler = Callable[[Request], Awaitable[Response]]


class Rest:
    """The routes of /api/v1/tools and of the document that describes them."""

    def __init__(self, keys: TokenVerifier) -> None:
        self.keys = keys

    def routes(self) -> list[Route]:
        return [
            Route(PATH, self.listing),
            Route(PATH + "/{name}", self.tool, methods=["GET", "POST"]),
            Route("/.well-known/openapi.yaml", self.document),
        ]

    async def listing(self, request: Request) -> Response:
        await self._check_reader(request)
        return _document(request, openapi.list_tools(_areas(request)), "application/json")

    async def tool(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._call(request)
        await self._check_reader(request)
        return _document(
            request,
            await _build(openapi.describe_tool, _find_tool(request.path_params["name"]).name),
            "application/json",
        )

    async def document(self, request: Request) -> Response:
        """Pages of any origin may read it: it has no personal data."""
        await _count_request(f"rest:read:{_address(request)}", READS_PER_MINUTE, 60)
        response = _document(request, await _build(openapi.document, _find_part(request)), "application/yaml")
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    async def _check_reader(self, request: Request) -> None:
        """Lists are public; a key that is sent is still checked, so that a program can test its key."""
        await _count_request(f"rest:read:{_address(request)}", READS_PER_MINUTE, 60)
        if (key := _read_key(request)) is not None:
            await self._find_owner(request, key)

    async def _call(self, request: Request) -> Response:
        name, key = request.path_params["name"], _read_key(request)
        if key is not None:
            caller = await self._find_owner(request, key)
            try:
                async with PACE.keep(caller.account_id, request.scope["headers"]):
                    arguments = await _read_arguments(request, name)
                    answer = await dispatch(name, arguments, caller, "rest", request.receive)
            except TooManyCalls as many:
                raise ProblemResponse("too_many_requests", str(many), {"Retry-After": str(many.retry_after)}) from None
            return _render(answer, await _monthly_headers(caller, answer))
        if name not in TOOLS or not TOOLS[name].anonymous:
            words = "This call needs an API key: Authorization: Bearer KEY, or X-API-Key: KEY."
            raise ProblemResponse("unauthorized", words, CHALLENGE)
        cap = settings().anonymous_calls_per_hour
        verdict = await _count_request(f"rest:anonymous:{_address(request)}", cap, 3600)
        answer = await dispatch(name, await _read_arguments(request, name), ANONYMOUS, "rest", request.receive)
        return _render(answer, _rate_limit_headers("anonymous", cap, cap - verdict.count, verdict.retry_after))

    async def _find_owner(self, request: Request, key: str) -> Caller:
        """The owner of the key. Raises ProblemResponse."""
        try:
            return await self.keys.check(key, request.client.host if request.client else "")
        except RateLimited as limited:
            words = "Too many bad keys came from this address; this one was not looked at."
            raise ProblemResponse("too_many_requests", words, {"Retry-After": str(limited.seconds)}) from None
        except TokenRejected:
            words = "The API key is unknown or was revoked. OAuth access tokens are for /mcp and are not accepted here."
            raise ProblemResponse("unauthorized", words, {"WWW-Authenticate": INVALID_TOKEN_CHALLENGE}) from None
        except AuthServerUnavailable:
            words = "The authorization server does not answer; the key was not judged."
            raise ProblemResponse("temporarily_unavailable", words, {"Retry-After": RETRY_LATER}) from None


INVALID_TOKEN_CHALLENGE = f'{CHALLENGE["WWW-Authenticate"]}, error="invalid_token"'


def _read_key(request: Request) -> str | None:
    """The one key sent, in either header; None when there is none. Raises ProblemResponse."""
    keys = [("X-API-Key", value.strip()) for value in request.headers.getlist("x-api-key")]
    for value in request.headers.getlist("authorization"):
        scheme, _, rest = value.strip().partition(" ")
        keys.append((scheme.lower(), rest.strip()))
    if not keys:
        return None
    if len({key for _, key in keys}) != 1 or any(scheme not in ("X-API-Key", "bearer") for scheme, _ in keys):
        raise ProblemResponse("unauthorized", "Send one API key, as a bearer token or in X-API-Key.", CHALLENGE)
    return keys[0][1]


async def _build(document: Callable[[str], openapi.Document], name: str) -> openapi.Document:
    """Raises ProblemResponse."""
    if (built := openapi.find_built(document, name)) is not None:
        return built
    try:
        return await run_heavy(openapi.build_once, document, name)
    except Busy as busy:
        raise ProblemResponse("busy", busy.message, {"Retry-After": str(busy.facts["retry_after"])}) from None


def _address(request: Request) -> str:
    return address_key(request.client.host if request.client else "")


async def _count_request(name: str, limit: int, window: int) -> Verdict:
    """Counts one more; raises ProblemResponse over the limit."""
    verdict = await anyio.to_thread.run_sync(hit, name, limit, window, limiter=limiter())
    if not verdict.allowed:
        words = f"More than {limit} such requests in {'an hour' if window == 3600 else 'a minute'}."
        raise ProblemResponse("too_many_requests", words, {"Retry-After": str(verdict.retry_after)})
    return verdict


def _find_tool(name: str) -> Any:
    if name in TOOLS:
        return TOOLS[name]
    nearest = difflib.get_close_matches(name[:64], TOOLS, 3)
    raise ProblemResponse("unknown_tool", f"There is no tool of this name; {PATH} lists them.", nearest=nearest)


async def _read_arguments(request: Request, name: str) -> dict[str, Any]:
    """The arguments of a call of a known tool; an empty body means none. Raises ProblemResponse."""
    _find_tool(name)
    body = await _read_body(request)
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if body and kind != "application/json":
        raise ProblemResponse("unsupported_media_type", "Send the arguments as application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemResponse("unsupported_media_type", "Send the body uncompressed.")
    try:
        arguments = parse_json(body) if body else {}
    except TooManyValues:
        raise ProblemResponse("too_large", f"The arguments hold more than {MAX_VALUES:,} values.") from None
    except ValueError:
        raise ProblemResponse("unreadable", "The body is not JSON.") from None
    if not isinstance(arguments, dict):
        raise ProblemResponse("unreadable", "The body must be one JSON object: the tool's arguments by name.")
    return arguments


async def _read_body(request: Request) -> bytes:
    try:
        return await read_body(request.scope, request.receive, max_bytes=MAX_BODY_BYTES, max_seconds=MAX_BODY_SECONDS)
    except BodyTooLarge:
        words = f"The body is larger than {MAX_BODY_BYTES >> 20} MiB."
        raise ProblemResponse("too_large", words) from None
    except BodyIncomplete:
        raise ProblemResponse("too_slow", "The body did not arrive in time.") from None


def _areas(request: Request) -> frozenset[str]:
    """Reads the areas of ?areas=; empty for all. Raises ProblemResponse."""
    try:
        return parse_areas(request.scope["query_string"])
    except UnknownArea as error:
        raise ProblemResponse("unreadable", str(error), areas=error.areas) from None


def _find_part(request: Request) -> str:
    """The area or the profile of ?areas=. Raises ProblemResponse."""
    part = request.query_params.get("areas", openapi.WHOLE).strip()
    if part in (openapi.WHOLE, *openapi.PARTS):
        return part
    words = f"areas takes one area or one profile: {', '.join(openapi.PARTS)}. Without it all tools are described."
    raise ProblemResponse("unreadable", words, areas=list(openapi.PARTS))


async def _monthly_headers(caller: Caller, answer: Answer) -> dict[str, str]:
    """The account's calls left this month, as headers; looked up if the call itself used none."""
    remaining = answer.calls_left
    if remaining is None and answer.status == "temporarily_unavailable":
        return {}  # the count is unavailable now
    if remaining is None:
        remaining = await anyio.to_thread.run_sync(partial(api_calls_left, caller), limiter=limiter())
    seconds = int((clock.next_month() - clock.now()).total_seconds())
    return _rate_limit_headers("month", caller.api_tier_limit, remaining, seconds)


def _rate_limit_headers(policy: str, cap: int, remaining: int, seconds: int) -> dict[str, str]:
    """The header fields of the IETF draft, in the current form and the older one that most programs read."""
    return {
        "RateLimit-Policy": f'"{policy}";q={cap}',
        "RateLimit": f'"{policy}";r={remaining};t={seconds}',
        "RateLimit-Limit": str(cap),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(seconds),
    }


def _render(answer: Answer, headers: dict[str, str]) -> Response:
    if settings().data_mode == "sandbox":
        headers = {"X-Data-Mode": "sandbox", **headers}
    if answer.status not in OK_STATUSES:
        return render_refusal(answer, headers)
    return Response(to_json(answer.data), 200, {"Cache-Control": "no-store", **headers}, "application/json")


def _document(request: Request, document: openapi.Document, media_type: str) -> Response:
    """Sends a document built beforehand, or 304 if the client already has it."""
    headers = {"ETag": document.tag, "Cache-Control": "public, max-age=300"}
    if document.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(document.body, 200, headers, media_type)
