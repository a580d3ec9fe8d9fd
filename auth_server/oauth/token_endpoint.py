"""Token endpoint (RFC 6749 3.2): codes, refresh tokens and assertions of enterprises are exchanged for tokens."""

from authlib.oauth2 import OAuth2Error
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth import identity_assertion
from auth_server.oauth.client_auth import check_credentials
from auth_server.oauth.clients import JWT_BEARER
from auth_server.oauth.handlers import read_client_form
from auth_server.oauth.responses import to_error_response
from auth_server.oauth.server import Server
from auth_server.web.flows import count_request, run_counted
from auth_server.web.outcomes import FlowResult
from auth_server.web.rendering import to_response
from auth_server.web.request_data import RequestData, reject_request
from auth_server.web.unit_of_work import UnitOfWork


async def exchange(request: Request) -> Response:
    try:
        data = await read_client_form(request)
    except OAuth2Error as error:
        return to_response(to_error_response(error))
    await count_request(data.peer)
    if data.form_value("grant_type") == JWT_BEARER:
        await identity_assertion.ensure_keys(data)
    # A refresh run twice gives the same successor.
    again = data.form_value("grant_type") == "refresh_token"
    return to_response(await run_counted(_exchange_grant, data, again=again))


def _exchange_grant(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Runs every grant through authlib."""
    try:
        data = check_credentials(data)
        if not data.form_value("grant_type"):
            reject_request("Missing 'grant_type'.")
        if data.form_value("grant_type") not in identity_assertion.list_grant_types():
            raise OAuth2Error("This grant type is not supported.", error="unsupported_grant_type")
        result: FlowResult = Server(uow).create_token_response(data)
        return result
    except OAuth2Error as error:
        return to_error_response(error)
