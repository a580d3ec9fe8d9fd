"""The two grants: a consent becomes a code, a code becomes tokens, a refresh token becomes its one successor."""

import re
import secrets
from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc6749 import grants as authlib_grants
from authlib.oauth2.rfc7636 import CodeChallenge
from sqlalchemy import select, update

from auth_server.oauth import resource_indicators, tokens
from auth_server.web.outcomes import FlowResult, sent_back
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AuthorizationCode, Family, RefreshToken
from shared.secrets import digest, mint, seal, unseal, well_formed

if TYPE_CHECKING:
    from auth_server.oauth.server import Application, ProtocolRequest, Server

AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
_CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


class S256(CodeChallenge):
    """PKCE for every client at both endpoints; authlib's own `required` covers neither half of that."""

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


def audience(grant: Any) -> None:
    """An extension: the resource named at authorization is checked and kept for the code."""

    def check(_: Any, redirect_uri: Any) -> None:  # noqa: ARG001 - authlib's signature
        grant.request.resource = resource_indicators.resolve(grant.request.payload.datalist.get("resource", []))

    grant.register_hook("after_validate_authorization_request_payload", check)


class CodeGrant(authlib_grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    server: "Server"
    request: "ProtocolRequest"

    def create_authorization_response(self, redirect_uri: str, grant_user: Account) -> tuple[int, FlowResult, Any]:
        """As authlib's, but the registered redirect URI is not encoded anew."""
        self.request.user = grant_user
        code = mint(tokens.CODE)
        self.save_authorization_code(code, self.request)
        return 302, sent_back(redirect_uri, self.request.payload.state, [("code", code)]), []

    def save_authorization_code(self, code: str, request: "ProtocolRequest") -> None:
        data = request.payload.data
        family = Family(id=secrets.token_hex(16), account_id=request.user.id, client_id=request.client.client_id)
        self.server.db.add(family)
        self.server.db.flush()
        self.server.db.add(
            AuthorizationCode(
                code_hash=digest(code),
                family_id=family.id,
                client_id=request.client.client_id,
                redirect_uri=data["redirect_uri"],
                scope=request.scope,
                resource=request.resource,
                code_challenge=data["code_challenge"],
                nonce=data.get("nonce"),
                authenticated_at=self.server.authenticated_at,
                expires_at=clock.now() + tokens.code_life(data["redirect_uri"]),
            )
        )

    def query_authorization_code(self, code: str, client: "Application") -> AuthorizationCode | None:
        """Spends the code in the statement that reads it: of many redemptions at once, one can win.

        A second presentation by the same client means that somebody else has the code: the whole family dies.
        """
        if not well_formed(code, tokens.CODE):
            return None
        theirs = (AuthorizationCode.code_hash == digest(code), AuthorizationCode.client_id == client.client_id)
        db, now = self.server.db, clock.now()
        row = db.scalar(
            update(AuthorizationCode)
            .where(*theirs, AuthorizationCode.consumed_at.is_(None))
            .values(consumed_at=now)
            .returning(AuthorizationCode)
        )
        if row is not None:
            return row if row.expires_at >= now else None
        spent = db.scalar(select(AuthorizationCode).where(*theirs))
        if spent is not None:
            self.server.revoke_family(spent.family_id, "code_replay")
        return None

    def validate_token_request(self) -> None:
        super().validate_token_request()
        code, named = self.request.authorization_code, self.request.payload.datalist.get("resource", [])
        self.request.resource = resource_indicators.resolve(named, within=code.resource)
        self.request.family_id = code.family_id

    def authenticate_user(self, authorization_code: AuthorizationCode) -> Account | None:
        return self.server.account_of(authorization_code.family_id)

    def delete_authorization_code(self, authorization_code: AuthorizationCode) -> None:
        """Kept and marked as consumed, so that a replay is recognised."""


class RefreshGrant(authlib_grants.RefreshTokenGrant):
    """Rotation at every use. A retry inside the window gets the same successor, so that lost answers and concurrent
    refreshes converge on one line; a replay after the window revokes the whole family.

    Here comes what the one statement of `shared.db.oauth.rotate` left alone, and whoever has a secret to show.
    """

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: "Server"
    request: "ProtocolRequest"

    def authenticate_refresh_token(self, refresh_token: str) -> RefreshToken | None:
        if not well_formed(refresh_token, tokens.REFRESH):
            return None
        row = self.server.db.scalar(
            select(RefreshToken).where(RefreshToken.token_hash == digest(refresh_token)).with_for_update()
        )
        if row is None or row.client_id != self.request.client.client_id or row.revoked_at is not None:
            return None
        if row.rotated_at is None:
            return row
        if clock.now() - row.rotated_at > tokens.RETRY_WINDOW:
            self.server.revoke_family(row.family_id, "refresh_replay")
            return None
        return self._again(row, refresh_token)

    def _again(self, row: RefreshToken, presented: str) -> RefreshToken | None:
        """Refused without consequence when the successor was used already: inside the window that is no proof."""
        successor = unseal([presented], row.successor_sealed or "")
        known = self.server.db.get(RefreshToken, digest(successor)) if successor else None
        if known is None or known.rotated_at is not None or row.retries >= tokens.RETRIES:
            return None
        row.retries += 1
        self.request.retry_of = successor
        return row

    def _validate_token_scope(self, token: RefreshToken) -> None:  # noqa: ARG002 - the grant's scope is the scope
        self.server.validate_requested_scope(self.request.payload.scope)

    def validate_token_request(self) -> None:
        super().validate_token_request()
        row, named = self.request.refresh_token, self.request.payload.datalist.get("resource", [])
        self.request.resource = resource_indicators.resolve(named, within=row.resource)
        self.request.family_id = row.family_id

    def authenticate_user(self, refresh_token: RefreshToken) -> Account:
        account = self.server.account_of(refresh_token.family_id)
        if account is None:
            raise InvalidGrantError
        return account

    def issue_token(self, user: Account, refresh_token: RefreshToken) -> dict[str, Any]:
        token: dict[str, Any] = self.generate_token(user=user, scope=refresh_token.scope)
        if self.request.retry_of is not None:
            token["refresh_token"] = self.request.retry_of
        else:
            sealed = seal(self.request.form["refresh_token"], token["refresh_token"])
            self.request.rotated = (refresh_token.token_hash, sealed)
        return token

    def revoke_old_credential(self, refresh_token: RefreshToken) -> None:
        """Done as the new one is kept, in the same statement."""
