"""Request handlers of the endpoints that programs call: forms, bearer requests and client registration."""

from authlib.oauth2 import OAuth2Error
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth.registration import register_client
from auth_server.oauth.responses import to_error_response
from auth_server.web.flows import Flow, run
from auth_server.web.handlers import Handler
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse
from auth_server.web.rendering import to_response
from auth_server.web.request_data import RequestData, read_form, read_json, reject_request, to_request_data


async def read_client_form(request: Request) -> RequestData:
    """Reads a form without a query and with at most one Authorization header. Raises the protocol's error."""
    form = await read_form(request, text=True)  # a token in any script is a wrong token, not a malformed request
    if request.url.query:
        reject_request("Parameters belong in the request body.")
    if len(request.headers.getlist("authorization")) > 1:
        reject_request("More than one Authorization header was sent.")
    return to_request_data(request, form=form)


def handle_client_form(flow: Flow[FlowResult]) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            data = await read_client_form(request)
        except OAuth2Error as error:
            return to_response(to_error_response(error))
        return to_response(await run(flow, data))

    return handler


def handle_bearer_request(flow: Flow[FlowResult]) -> Handler:
    """Handles a request that carries at most a bearer token; its body and query are ignored."""

    async def handler(request: Request) -> Response:
        if len(request.headers.getlist("authorization")) > 1:
            return to_response(JsonResponse(400, {"error": "invalid_request"}, dict(NO_STORE)))
        return to_response(await run(flow, to_request_data(request)))

    return handler


async def register(request: Request) -> Response:
    try:
        body = await read_json(request)
    except OAuth2Error as error:
        error.error = "invalid_client_metadata"
        return to_response(to_error_response(error))
    return to_response(await run(register_client(body), to_request_data(request)))
