"""The ways in: a machine's form, a bearer, a page, and a page's form; each reads a request and runs a flow for it."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth.registration import register as registering
from auth_server.pages.tool_calls import ToolCall, call_tool
from auth_server.web.flows import Flow, hashing_is_full, run
from auth_server.web.middleware import site
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, Page, failed, problem
from auth_server.web.rendering import write
from auth_server.web.request_data import (
    Pairs,
    RequestData,
    TooLarge,
    invalid,
    pairs,
    peer_of,
    read_form,
    read_json,
    read_upload,
)
from auth_server.web.sessions import cookie_name
from shared.settings import settings

Handler = Callable[[Request], Awaitable[Response]]


def _plain(
    request: Request, *, query: Pairs | None = None, form: Pairs | None = None, file: bytes = b""
) -> RequestData:
    return RequestData(
        request.method,
        request.url.path,
        peer_of(request),
        raw_query=request.url.query,
        query=query or [],
        form=form or [],
        authorization=request.headers.get("authorization"),
        cookie=request.cookies.get(cookie_name()),
        agent=request.headers.get("user-agent", "")[:400],
        file=file,
    )


async def program(request: Request) -> RequestData:
    """A form from a program: nothing in the query, one Authorization header at most. Raises the protocol's error."""
    form = await read_form(request, text=True)  # a token in any script is a wrong token, not a fault
    if request.url.query:
        invalid("Parameters belong in the request body.")
    if len(request.headers.getlist("authorization")) > 1:
        invalid("More than one Authorization header was sent.")
    return _plain(request, form=form)


def machine(flow: Flow[FlowResult]) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            inc = await program(request)
        except OAuth2Error as error:
            return write(failed(error))
        return write(await run(flow, inc))

    return handler


def resource(flow: Flow[FlowResult]) -> Handler:
    """A request that carries a bearer token at most; its body and query are not looked at."""

    async def handler(request: Request) -> Response:
        if len(request.headers.getlist("authorization")) > 1:
            return write(JsonResponse(400, {"error": "invalid_request"}, dict(NO_STORE)))
        return write(await run(flow, _plain(request)))

    return handler


async def register(request: Request) -> Response:
    try:
        body = await read_json(request)
    except OAuth2Error as error:
        error.error = "invalid_client_metadata"
        return write(failed(error))
    return write(await run(registering(body), _plain(request)))


def page(
    flow: Flow[FlowResult],
    before: Callable[[RequestData], Awaitable[FlowResult | None]] | None = None,
    *,
    text: bool = False,
    method: str = "GET",
) -> Handler:
    """`before` may ask elsewhere what the flow needs to know, and answer itself when it cannot.

    With another method it is a button whose address says everything: whatever body comes with it is not looked at.
    """

    async def handler(request: Request) -> Response:
        if request.method != method:  # a page may set a cookie or grant a code, which HEAD must not
            return Response(status_code=405, headers={"Allow": method})
        try:
            query = pairs(request.url.query, text=text)
        except OAuth2Error as error:
            return write(problem("This request cannot be completed", error.get_error_description()))
        inc = _plain(request, query=query)
        refusal = await before(inc) if before is not None else None
        return write(refusal if refusal is not None else await run(flow, inc))

    return handler


def _from_elsewhere(request: Request) -> bool:
    """A form must come from a page of the very host it is sent to."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = request.headers.get("origin")
    if origin is None:
        return False
    scheme = urlsplit(settings().web_url).scheme
    return origin.lower() != f"{scheme}://{site(request.headers.get('host', ''))}"


async def _answered(flow: Flow[FlowResult], inc: RequestData, *, hashes: bool = False) -> Response:
    outcome = await run(flow, inc, hashes=hashes)
    response = write(outcome)
    if isinstance(outcome, Page) and outcome.afterwards is not None:
        response.background = BackgroundTask(run, outcome.afterwards, inc, hashes=True)
    return response


def form(flow: Flow[FlowResult], *, hashes: bool = False) -> Handler:
    async def handler(request: Request) -> Response:
        if _from_elsewhere(request):
            return write(problem("This form came from another site", "Please open the page here and try again.", 403))
        try:
            given = await read_form(request, text=True)
        except OAuth2Error as error:
            return write(problem("This form cannot be read", error.get_error_description()))
        except TooLarge:
            return write(problem("This form is too long", "Please shorten what you entered and try again.", 413))
        if hashes and hashing_is_full():
            return write(problem("Very busy", "Too many people are signing in; please try again in a moment.", 429, 5))
        return await _answered(flow, _plain(request, form=given), hashes=hashes)

    return handler


async def _uploaded(request: Request, most: int) -> RequestData | Page:
    """A form with a file of at most so many bytes, or why there is none."""
    if _from_elsewhere(request):
        return problem("This form came from another site", "Please open the page here and try again.", 403)
    try:
        given, content = await read_upload(request, most)
    except OAuth2Error as error:
        return problem("This form cannot be read", error.get_error_description())
    except TooLarge:
        return problem("The file is too large", f"It may have {most // 1024} KiB at most.", 413)
    return _plain(request, form=given, file=content)


def upload(flow: Flow[FlowResult], most: int) -> Handler:
    async def handler(request: Request) -> Response:
        inc = await _uploaded(request, most)
        return write(inc if isinstance(inc, Page) else await run(flow, inc))

    return handler


def upload_for_tool(
    flow: Flow[FlowResult | ToolCall], most: int, after: Callable[[ToolCall], Flow[FlowResult]]
) -> Handler:
    """A form with a file that a tool is to have: the flow before says which, the flow after shows the answer."""

    async def handler(request: Request) -> Response:
        inc = await _uploaded(request, most)
        if isinstance(inc, Page):
            return write(inc)
        begun = await run(flow, inc)
        if not isinstance(begun, ToolCall):
            return write(begun)
        begun.answer = await call_tool(begun)
        return write(await run(after(begun), inc))

    return handler
