"""The machine endpoints: token and revocation requests go in, JSON answers of the protocol come out."""

from authlib.oauth2 import OAuth2Error

from auth_server.oauth.server import Server
from auth_server.web.outcomes import Outcome, Reply, failed
from auth_server.web.request_data import Incoming, check_credentials, invalid

GRANT_TYPES = ("authorization_code", "refresh_token")


def token(server: Server, inc: Incoming) -> Outcome:
    try:
        check_credentials(inc)
        if not inc.value("grant_type"):
            invalid("Missing 'grant_type'.")
        if inc.value("grant_type") not in GRANT_TYPES:
            raise OAuth2Error("This grant type is not supported.", error="unsupported_grant_type")
        outcome: Outcome = server.create_token_response(inc)
        return outcome
    except OAuth2Error as error:
        return failed(error)


def revoke(server: Server, inc: Incoming) -> Outcome:
    """200 without a body, also for tokens nobody knows (RFC 7009 2.2)."""
    try:
        check_credentials(inc)
        outcome: Outcome = server.create_endpoint_response("revocation", inc)
    except OAuth2Error as error:
        return failed(error)
    if isinstance(outcome, Reply) and outcome.status == 200:
        outcome.body = None
    return outcome
