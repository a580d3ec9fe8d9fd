"""Request handlers of pages and forms: each reads a request, runs a flow and renders its result."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from auth_server.web.flows import Flow, is_hashing_full, run, run_counted
from auth_server.web.middleware import normalize_host
from auth_server.web.outcomes import FlowResult, Page, PageResult, WaitingStep, show_problem
from auth_server.web.rendering import to_response
from auth_server.web.request_data import (
    MAX_BODY_BYTES,
    RequestData,
    parse_pairs,
    read_form,
    read_upload,
    to_request_data,
)
from shared.asgi import BodyTooLarge
from shared.settings import settings

Handler = Callable[[Request], Awaitable[Response]]
_CROSS_SITE = show_problem("This form came from another site", "Please open the page here and try again.", 403)


async def finish(request: Request, result: PageResult) -> FlowResult:
    """The result, or the one that follows once the tools or service it waits for have answered."""
    return await result.go_on(request.app.state.tool_server) if isinstance(result, WaitingStep) else result


def handle_page(
    flow: Flow[PageResult],
    before: Callable[[RequestData], Awaitable[FlowResult | None]] | None = None,
    *,
    text: bool = False,
    method: str = "GET",
) -> Handler:
    """`before` may fetch what the flow needs from elsewhere, and answer itself if it cannot.

    With another method it is a button whose address says everything: its body is ignored.
    """

    async def handler(request: Request) -> Response:
        if request.method != method:  # a page may set a cookie or grant a code, which HEAD must not
            return Response(status_code=405, headers={"Allow": method})
        try:
            query = parse_pairs(request.url.query, text=text)
        except OAuth2Error as error:
            return to_response(show_problem("This request cannot be completed", error.get_error_description()))
        data = to_request_data(request, query=query)
        refusal = await before(data) if before is not None else None
        return to_response(await finish(request, refusal if refusal is not None else await run(flow, data)))

    return handler


def _is_cross_site(request: Request) -> bool:
    """Whether it is from elsewhere: a form must come from a page of the host it is sent to."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = request.headers.get("origin")
    if origin is None:
        return False
    scheme = urlsplit(settings().web_url).scheme
    return origin.lower() != f"{scheme}://{normalize_host(request.headers.get('host', ''))}"


def handle_form(flow: Flow[PageResult], *, hashes: bool = False, max_bytes: int = MAX_BODY_BYTES) -> Handler:
    """With `hashes` the flow computes password hashes, and runs on the few threads for that."""

    async def handler(request: Request) -> Response:
        if _is_cross_site(request):
            return to_response(_CROSS_SITE)
        try:
            form = await read_form(request, text=True, max_bytes=max_bytes)
        except OAuth2Error as error:
            return to_response(show_problem("This form cannot be read", error.get_error_description()))
        except BodyTooLarge:
            text = "Please shorten what you entered and try again."
            return to_response(show_problem("This form is too long", text, 413))
        if hashes and is_hashing_full():
            text = "Too many people are signing in; please try again in a moment."
            return to_response(show_problem("Very busy", text, 429, 5))
        data = to_request_data(request, form=form)
        result = await finish(request, await run(flow, data, hashes=hashes))
        response = to_response(result)
        if isinstance(result, Page) and result.afterwards is not None:
            response.background = BackgroundTask(run_counted, result.afterwards, data, hashes=True)
        return response

    return handler


async def read_upload_form(
    request: Request, max_bytes: int, show_too_large: Flow[PageResult]
) -> RequestData | FlowResult:
    """A form with a file of at most that many bytes, or the refusal.

    One that is too large is not read, so `show_too_large` changes nothing and needs no token.
    """
    if _is_cross_site(request):
        return _CROSS_SITE
    try:
        form, content = await read_upload(request, max_bytes)
    except OAuth2Error as error:
        return show_problem("This form cannot be read", error.get_error_description())
    except BodyTooLarge:
        return await finish(request, await run(show_too_large, to_request_data(request)))
    return to_request_data(request, form=form, file=content)


def handle_upload(flow: Flow[PageResult], max_bytes: int, show_too_large: Flow[PageResult]) -> Handler:
    async def handler(request: Request) -> Response:
        data = await read_upload_form(request, max_bytes, show_too_large)
        result = await run(flow, data) if isinstance(data, RequestData) else data
        return to_response(await finish(request, result))

    return handler
