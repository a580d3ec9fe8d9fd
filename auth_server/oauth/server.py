"""The authorization server of authlib over one unit of work: built for each request, so that nothing is shared."""

import re
import secrets
from typing import Any

from authlib.oauth2 import AuthorizationServer, OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError, InvalidScopeError
from authlib.oauth2.rfc6749 import grants as authlib_grants
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from sqlalchemy import select, update

from auth_server.oauth import openid, resource_indicators, tokens
from auth_server.oauth.clients import AUTH_METHODS, Application, find_client
from auth_server.oauth.identity_assertion import AssertionGrant
from auth_server.oauth.refresh import RefreshGrant
from auth_server.oauth.requests import Choices, GrantServer, ProtocolRequest
from auth_server.oauth.responses import redirect_error, redirect_to_client, to_error_response
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, AuthorizationCode, Family, RefreshToken, store_tokens
from shared.secrets import digest, mint, well_formed

# Authorization code grant (RFC 6749 4.1) with PKCE (RFC 7636) and resource indicators (RFC 8707).

_CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


class S256(CodeChallenge):
    """PKCE for every client at both endpoints; authlib's `required` checks only public clients' verifiers."""

    DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant: Any, redirect_uri: Any) -> None:  # noqa: ARG002 - authlib's signature
        data = grant.request.payload.data
        if not data.get("code_challenge"):
            raise InvalidRequestError("Missing 'code_challenge'.")
        if data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("Only code_challenge_method=S256 is accepted.")
        if not _CHALLENGE.fullmatch(data["code_challenge"]):
            raise InvalidRequestError("Invalid 'code_challenge'.")

    def validate_code_verifier(self, grant: Any, result: Any) -> None:
        verifier = grant.request.form.get("code_verifier")
        if not verifier:
            raise InvalidRequestError("Missing 'code_verifier'.")
        if not _VERIFIER.fullmatch(verifier):
            raise InvalidRequestError("Invalid 'code_verifier'.")
        super().validate_code_verifier(grant, result)

    def get_authorization_code_challenge_method(self, authorization_code: Any) -> str:  # noqa: ARG002
        return "S256"


def bind_resource(grant: Any) -> None:
    """Checks the resource named at authorization and binds it to the code."""

    def check_resource(_: Any, redirect_uri: Any) -> None:  # noqa: ARG001 - authlib's signature
        grant.request.resource = resource_indicators.resolve(grant.request.payload.datalist.get("resource", []))

    grant.register_hook("after_validate_authorization_request_payload", check_resource)


class CodeGrant(authlib_grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    server: GrantServer
    request: ProtocolRequest

    def create_authorization_response(self, redirect_uri: str, grant_user: Account) -> tuple[int, FlowResult, Any]:
        """Answers as authlib does, but keeps the registered redirect URI byte for byte."""
        self.request.user = grant_user
        code = mint(tokens.CODE)
        self.save_authorization_code(code, self.request)
        return 302, redirect_to_client(redirect_uri, self.request.payload.state, [("code", code)]), []

    def save_authorization_code(self, code: str, request: ProtocolRequest) -> None:
        data = request.payload.data
        self._end_suspected(request)
        family = Family(
            id=secrets.token_hex(16),
            account_id=request.user.id,
            client_id=request.client.client_id,
            read_only=self.server.choices.read_only,
            administer=self.server.choices.administer,
        )
        self.server.uow.db.add(family)
        self.server.uow.db.flush()
        self.server.uow.db.add(
            AuthorizationCode(
                code_hash=digest(code),
                family_id=family.id,
                client_id=request.client.client_id,
                redirect_uri=data["redirect_uri"],
                scope=tokens.grant_scope(request.payload.scope),
                resource=request.resource,
                code_challenge=data["code_challenge"],
                nonce=data.get("nonce"),
                authenticated_at=self.server.authenticated_at,
                expires_at=clock.now() + tokens.choose_code_life(data["redirect_uri"]),
            )
        )

    def _end_suspected(self, request: ProtocolRequest) -> None:
        """Ends what the person allowed this client before and where a retired refresh token was refused recently.

        A thief who refreshed first looks like a second program of the same installation. The owner's program had to
        come back to the person; the second program reads the token that is stored now.
        """
        now, db = clock.now(), self.server.uow.db
        late = (RefreshToken.retries == tokens.SHOWN_LATE, RefreshToken.rotated_at > now - tokens.SUSPICION)
        same = (Family.account_id == request.user.id, Family.client_id == request.client.client_id)
        suspected = (*same, Family.revoked_at.is_(None), Family.id.in_(select(RefreshToken.family_id).where(*late)))
        ended = update(Family).where(*suspected).values(revoked_at=now, reason="refresh_replay").returning(Family.id)
        self.server.uow.events += [{"family": family_id} for family_id in db.scalars(ended)]

    def query_authorization_code(self, code: str, client: Application) -> AuthorizationCode | None:
        """Consumes the code in the statement that reads it, so that only one of several redemptions succeeds.

        A second presentation by the same client means that someone else has the code, so the whole family is revoked
        (RFC 9700 4.5).
        """
        if not well_formed(code, tokens.CODE):
            return None
        same_code = (AuthorizationCode.code_hash == digest(code), AuthorizationCode.client_id == client.client_id)
        db, now = self.server.uow.db, clock.now()
        row = db.scalar(
            update(AuthorizationCode)
            .where(*same_code, AuthorizationCode.consumed_at.is_(None))
            .values(consumed_at=now)
            .returning(AuthorizationCode)
        )
        if row is not None:
            # Compared only when sent (OAuth 2.1 10.2): the verifier binds the code to its requester.
            fields = self.request.payload.data
            fields["redirect_uri"] = fields.get("redirect_uri") or row.redirect_uri
            return row if row.expires_at >= now else None
        spent_code = db.scalar(select(AuthorizationCode).where(*same_code))
        if spent_code is not None:
            self.server.uow.revoke_family(spent_code.family_id, "code_replay")
        return None

    def validate_token_request(self) -> None:
        super().validate_token_request()
        code, resources = self.request.authorization_code, self.request.payload.datalist.get("resource", [])
        self.request.resource = resource_indicators.resolve(resources, within=code.resource)
        self.request.family_id = code.family_id

    def authenticate_user(self, authorization_code: AuthorizationCode) -> Account | None:
        return self.server.uow.account_of(authorization_code.family_id)

    def delete_authorization_code(self, authorization_code: AuthorizationCode) -> None:
        """Marks the code as used instead of deleting it, so that a replay is recognised."""


class Server(AuthorizationServer):
    def __init__(self, uow: UnitOfWork) -> None:
        super().__init__()
        self.uow = uow
        self.authenticated_at = clock.now()  # of the person who consents; set by the authorization endpoint
        self.choices = Choices()  # that person's; set there too
        generator = BearerTokenGenerator(tokens.mint_access_token, tokens.mint_refresh_token, tokens.ACCESS_SECONDS)
        self.register_token_generator("default", generator)
        extensions = [S256(required=True), bind_resource, openid.add_id_token]
        self.register_grant(CodeGrant, extensions)
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
        if isinstance(body, JsonResponse | Page):  # an authorization response, already complete
            return body
        extra = {name: value for name, value in headers if name != "Content-Type"}
        return JsonResponse(status, body or None, NO_STORE | extra)

    def handle_error_response(self, request: Any, error: OAuth2Error) -> FlowResult:  # noqa: ARG002
        return redirect_error(error) if error.redirect_uri else to_error_response(error)

    def send_signal(self, name: str, *args: Any, **more: Any) -> None:
        """A hook of authlib for framework signals; not used."""
