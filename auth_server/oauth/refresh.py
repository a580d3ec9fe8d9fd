"""Refresh tokens (RFC 6749 6): rotated at every use (RFC 9700 4.14), by one rule that has two ways.

The rule: a live token of this client, account and authorization gets one successor. Presented again within
`tokens.RETRY_WINDOW` it gets the same successor, so that lost responses and concurrent refreshes converge on one line.
Presented again later it is refused; once its successor was used, or after `tokens.LATE_WINDOW`, it was stolen, and the
whole family is revoked (RFC 9700 4.14.2).

The fast way (`rotate_ordinary`) covers the first sentence for public clients, in one statement shared with the other
refreshes of that moment. It never refuses: whatever it leaves alone goes the careful way (`RefreshGrant`). Measured
with `tests.bench`, the fast way serves 0.17 of the requests per second of an echo server; see
deploy/decisions/0008.
"""

from collections.abc import Sequence
from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError
from authlib.oauth2.rfc6749 import grants as authlib_grants
from sqlalchemy import select

from auth_server.oauth import resource_indicators, tokens
from auth_server.oauth.clients import AUTH_METHODS
from auth_server.oauth.requests import GrantServer, ProtocolRequest
from auth_server.web.outcomes import NO_STORE, JsonResponse
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import RefreshToken, Rotation, rotate
from shared.limits.concurrency import Batcher
from shared.secrets import digest, seal, unseal, well_formed

ORDINARY_FIELDS = {"grant_type", "client_id", "refresh_token", "scope", "resource"}
Rotations = Batcher[Rotation, str | None]


def create_rotations() -> Rotations:
    """The rotations of one application: each results in the scope of its tokens, or None when it was left alone."""
    return Batcher(_rotate_batch)


def _rotate_batch(rotations: Sequence[Rotation]) -> list[str | None]:
    now = clock.now()
    scopes = rotate(list(rotations), now, now + tokens.ACCESS_LIFE)
    return [scopes.get(rotation.refresh) for rotation in rotations]


def is_ordinary(data: RequestData) -> bool:
    """A well-formed refresh that shows no client secret and nothing else unusual."""
    return (
        data.authorization is None
        and data.form_value("grant_type") == "refresh_token"
        and ORDINARY_FIELDS.issuperset(name for name, _ in data.form)
        and well_formed(data.form_value("refresh_token"), tokens.REFRESH)
        and tokens.SCOPE_SYNTAX.fullmatch(data.form_value("scope")) is not None
    )


async def rotate_ordinary(rotations: Rotations, data: RequestData) -> JsonResponse | None:
    """The token response, or None when the statement left the token alone (a retry, a replay, a locked row ...)."""
    resources = [value for name, value in data.form if name == "resource"]
    try:
        resource = resource_indicators.resolve(resources) if resources else None
    except resource_indicators.InvalidTarget:
        return None
    old, access, refresh = data.form_value("refresh_token"), tokens.mint_access_token(), tokens.mint_refresh_token()
    sealed = seal(old, refresh)
    scope = await rotations(
        Rotation(digest(old), data.form_value("client_id"), resource, sealed, digest(access), digest(refresh))
    )
    if scope is None:
        return None
    issued = {"access_token": access, "expires_in": tokens.ACCESS_SECONDS, "refresh_token": refresh, "scope": scope}
    return JsonResponse(200, {"token_type": "Bearer"} | issued, dict(NO_STORE))


class RefreshGrant(authlib_grants.RefreshTokenGrant):
    """The careful way: it takes locks, knows what each case means, and serves clients that show a secret."""

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
