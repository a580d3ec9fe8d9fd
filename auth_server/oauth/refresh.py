"""Refresh tokens (RFC 6749 6): rotated at every use (RFC 9700 4.14).

A live token of this client, account and authorization gets one successor. Sent again within
`tokens.RETRY_WINDOW` it gets the same successor, so that lost responses and concurrent refreshes converge on one line.
Sent again later it is refused; if its successor was used by then, or after `tokens.LATE_WINDOW`, it was stolen, and the
whole family is revoked (RFC 9700 4.14.2).
"""

from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError
from authlib.oauth2.rfc6749 import grants as authlib_grants
from sqlalchemy import select

from auth_server.oauth import resource_indicators, tokens
from auth_server.oauth.clients import AUTH_METHODS
from auth_server.oauth.requests import GrantServer, ProtocolRequest
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import RefreshToken
from shared.secrets import digest, seal, unseal, well_formed


class RefreshGrant(authlib_grants.RefreshTokenGrant):
    """Takes locks, so that one of several simultaneous refreshes rotates and the others are retries."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: GrantServer
    request: ProtocolRequest

    def authenticate_refresh_token(self, refresh_token: str) -> RefreshToken | None:
        if not well_formed(refresh_token, tokens.REFRESH):
            return None
        row = self.server.uow.db.scalar(
            select(RefreshToken).where(RefreshToken.token_hash == digest(refresh_token)).with_for_update()
        )
        if row is None or row.client_id != self.request.client.client_id or row.revoked_at is not None:
            return None
        if row.rotated_at is None:
            return row
        successor = unseal([refresh_token], row.successor_sealed or "")
        successor_row = self.server.uow.db.get(RefreshToken, digest(successor)) if successor else None
        is_unused = successor_row is not None and successor_row.rotated_at is None
        age = clock.now() - row.rotated_at
        if age <= tokens.RETRY_WINDOW:
            return self._accept_retry(row, successor) if is_unused else None  # used within the window proves no theft
        if age > tokens.LATE_WINDOW or not is_unused:
            self.server.uow.revoke_family(row.family_id, "refresh_replay")
            return None
        row.retries = tokens.SHOWN_LATE
        raise InvalidGrantError("This refresh token was replaced. Read the one that is stored now, or sign in again.")

    def _accept_retry(self, row: RefreshToken, successor: str | None) -> RefreshToken | None:
        if row.retries >= tokens.MAX_RETRIES:
            return None
        row.retries += 1
        self.request.retry_of = successor
        return row

    def _validate_token_scope(self, token: RefreshToken) -> None:  # noqa: ARG002 - the grant's scope is the scope
        self.server.validate_requested_scope(self.request.payload.scope)

    def validate_token_request(self) -> None:
        super().validate_token_request()
        row, resources = self.request.refresh_token, self.request.payload.datalist.get("resource", [])
        self.request.resource = resource_indicators.resolve(resources, within=row.resource)
        self.request.family_id = row.family_id

    def authenticate_user(self, refresh_token: RefreshToken) -> Account:
        account = self.server.uow.account_of(refresh_token.family_id)
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
        """Does nothing: `Server.save_token` rotates it in the statement that stores its successor."""
