"""The machine endpoints: token and revocation requests go in, JSON answers of the protocol come out."""

from authlib.oauth2 import OAuth2Error

from auth_server.oauth.server import Server
from auth_server.web.outcomes import FlowResult, JsonResponse, failed
from auth_server.web.request_data import RequestData, check_credentials, invalid

GRANT_TYPES = ("authorization_code", "refresh_token")


def token(server: Server, inc: RequestData) -> FlowResult:
    try:
        check_credentials(inc)
        if not inc.form_value("grant_type"):
            invalid("Missing 'grant_type'.")
        if inc.form_value("grant_type") not in GRANT_TYPES:
            raise OAuth2Error("This grant type is not supported.", error="unsupported_grant_type")
        outcome: FlowResult = server.create_token_response(inc)
        return outcome
    except OAuth2Error as error:
        return failed(error)


def revoke(server: Server, inc: RequestData) -> FlowResult:
    """200 without a body, also for tokens nobody knows (RFC 7009 2.2)."""
    try:
        check_credentials(inc)
        outcome: FlowResult = server.create_endpoint_response("revocation", inc)
    except OAuth2Error as error:
        return failed(error)
    if isinstance(outcome, JsonResponse) and outcome.status == 200:
        outcome.body = None
    return outcome
