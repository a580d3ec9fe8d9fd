"""Token revocation (RFC 7009): a client ends its own access token, or the whole authorization of a refresh token."""

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint

from auth_server.oauth import tokens
from auth_server.oauth.client_auth import check_credentials
from auth_server.oauth.clients import AUTH_METHODS, Application
from auth_server.oauth.requests import GrantServer, ProtocolRequest
from auth_server.oauth.responses import to_error_response
from auth_server.oauth.server import Server
from auth_server.web.outcomes import FlowResult, JsonResponse
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.oauth import AccessToken, RefreshToken
from shared.secrets import digest, well_formed


def revoke(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Answers 200 without a body, also for unknown tokens (RFC 7009 2.2)."""
    server = Server(uow)
    server.register_endpoint(Revocation)
    try:
        data = check_credentials(data)
        result: FlowResult = server.create_endpoint_response(Revocation.ENDPOINT_NAME, data)
    except OAuth2Error as error:
        return to_error_response(error)
    if isinstance(result, JsonResponse) and result.status == 200:
        result.body = None
    return result


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = AUTH_METHODS
    server: GrantServer

    def check_params(self, request: ProtocolRequest, client: Application) -> None:  # noqa: ARG002
        """Ignores an unknown token_type_hint (RFC 7009 2.2)."""
        if not request.form.get("token"):
            raise InvalidRequestError("Missing 'token'.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> AccessToken | RefreshToken | None:  # noqa: ARG002
        if well_formed(token_string, tokens.ACCESS):
            return self.server.uow.db.get(AccessToken, digest(token_string))
        if well_formed(token_string, tokens.REFRESH):
            return self.server.uow.db.get(RefreshToken, digest(token_string))
        return None

    def revoke_token(self, token: AccessToken | RefreshToken, request: ProtocolRequest) -> None:  # noqa: ARG002
        """Revokes one access token; a refresh token, also a rotated one, with its family (RFC 7009 2.1)."""
        if isinstance(token, RefreshToken):
            self.server.uow.revoke_family(token.family_id, "revoked_by_client")
        elif token.revoked_at is None:
            token.revoked_at = clock.now()
            self.server.uow.events.append({"token": token.token_hash})
