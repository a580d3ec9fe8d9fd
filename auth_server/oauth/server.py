"""The authorization server of authlib over one unit of work: built for one request, so that nothing is shared."""

from typing import Any

from authlib.oauth2 import AuthorizationServer, OAuth2Error
from authlib.oauth2.rfc6749 import InvalidScopeError
from authlib.oauth2.rfc6750 import BearerTokenGenerator

from auth_server.oauth import grants, openid, tokens
from auth_server.oauth.clients import Application, find_client
from auth_server.oauth.identity_assertion import AssertionGrant
from auth_server.oauth.refresh import RefreshGrant
from auth_server.oauth.requests import Choices, ProtocolRequest
from auth_server.oauth.responses import redirect_error, to_error_response
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.oauth import AccessToken, store_tokens
from shared.secrets import digest


class Server(AuthorizationServer):
    def __init__(self, uow: UnitOfWork) -> None:
        super().__init__()
        self.uow = uow
        self.authenticated_at = clock.now()  # of the person who consents; set by the authorization endpoint
        self.choices = Choices()  # that person's; set there too
        generator = BearerTokenGenerator(tokens.mint_access_token, tokens.mint_refresh_token, tokens.ACCESS_SECONDS)
        self.register_token_generator("default", generator)
        extensions = [grants.S256(required=True), grants.bind_resource, openid.add_id_token]
        self.register_grant(grants.CodeGrant, extensions)
        self.register_grant(RefreshGrant)
        self.register_grant(AssertionGrant)

    def query_client(self, client_id: str) -> Application | None:
        return find_client(self.uow.db, client_id)

    def save_token(self, token: dict[str, Any], request: ProtocolRequest) -> None:
        now = clock.now()
        common = {
            "client_id": request.client.client_id,
            "family_id": request.family_id,
            "scope": token["scope"],
            "resource": request.resource,
        }
        access, expires = digest(token["access_token"]), now + tokens.ACCESS_LIFE
        if request.retry_of is not None or "refresh_token" not in token:
            self.uow.db.add(AccessToken(token_hash=access, issued_at=now, expires_at=expires, **common))
            return
        old, sealed = request.rotated or (None, None)
        fresh = {"access": access, "expires": expires, "refresh": digest(token["refresh_token"])}
        store_tokens(self.uow.db, now=now, old=old, sealed=sealed, **fresh, **common)

    def validate_requested_scope(self, scope: str | None) -> None:
        if scope and not tokens.SCOPE_SYNTAX.fullmatch(scope):
            raise InvalidScopeError

    def create_oauth2_request(self, request: RequestData | ProtocolRequest) -> ProtocolRequest:
        return request if isinstance(request, ProtocolRequest) else ProtocolRequest(request)

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> FlowResult:
        if isinstance(body, JsonResponse | Page):  # an authorization response, complete already
            return body
        extra = {name: value for name, value in headers if name != "Content-Type"}
        return JsonResponse(status, body or None, NO_STORE | extra)

    def handle_error_response(self, request: Any, error: OAuth2Error) -> FlowResult:  # noqa: ARG002
        return redirect_error(error) if error.redirect_uri else to_error_response(error)

    def send_signal(self, name: str, *args: Any, **more: Any) -> None:
        """A hook of authlib for framework signals; not used."""
