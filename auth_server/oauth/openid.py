"""OpenID Connect Core 1.0: ID tokens (2), the UserInfo endpoint (5.3) and the public signing keys (JWKS)."""

from typing import Any

from authlib.oidc.core.util import create_half_hash
from joserfc import jwt
from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.oauth import signing_keys, tokens
from auth_server.oauth.requests import ProtocolRequest
from auth_server.web.outcomes import NO_STORE, JsonResponse
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Client, Family
from shared.secrets import digest, well_formed
from shared.settings import settings

LIFE_SECONDS = 3600
_CACHED = {"Cache-Control": "public, max-age=300"}


def claims_from_account(account: Account, scope: str) -> dict[str, Any]:
    """The claims of a scope: the random subject and, if in scope and known, the address."""
    if account.email is None or "email" not in scope.split():
        return {"sub": account.public_id}
    return {
        "sub": account.public_id,
        "email": account.email,
        "email_verified": account.email_confirmed_at is not None,
    }


def create_id_token(db: Session, request: ProtocolRequest, access_token: str) -> str:
    code, now = request.authorization_code, int(clock.now().timestamp())
    claims = claims_from_account(request.user, code.scope) | {
        "iss": settings().web_url,
        "aud": request.client.client_id,
        "iat": now,
        "exp": now + LIFE_SECONDS,
        "auth_time": int(code.authenticated_at.timestamp()),
        "at_hash": create_half_hash(access_token, signing_keys.ALGORITHM).decode(),
    }
    if code.nonce is not None:
        claims["nonce"] = code.nonce
    key = signing_keys.get_signing_key(db)
    return jwt.encode({"alg": signing_keys.ALGORITHM, "kid": key.kid}, claims, key, [signing_keys.ALGORITHM])


def add_id_token(grant: Any) -> None:
    """Extends only the code grant, where `openid` is in the scope: a refresh gives no ID token."""

    def extend_response(_: Any, response: tuple[int, dict[str, Any], Any]) -> None:
        access_token = response[1]["access_token"]
        if "openid" in response[1]["scope"].split():
            response[1]["id_token"] = create_id_token(grant.server.uow.db, grant.request, access_token)

    grant.register_hook("after_create_token_response", extend_response)


def _challenge_bearer(status: int, error: str | None = None) -> JsonResponse:
    attribute = f', error="{error}"' if error else ""
    headers = NO_STORE | {"WWW-Authenticate": f'Bearer realm="award-travel"{attribute}'}
    return JsonResponse(status, {"error": error or "invalid_token"}, headers)


def serve_userinfo(uow: UnitOfWork, data: RequestData) -> JsonResponse:
    scheme, _, token = (data.authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return _challenge_bearer(401)
    row = uow.db.get(AccessToken, digest(token)) if well_formed(token, tokens.ACCESS) else None
    if row is None or row.revoked_at is not None or row.expires_at <= clock.now():
        return _challenge_bearer(401, "invalid_token")
    account = uow.account_of(row.family_id)
    if account is None or not _has_active_client(uow.db, row.family_id):
        return _challenge_bearer(401, "invalid_token")
    if "openid" not in row.scope.split():
        return _challenge_bearer(403, "insufficient_scope")
    return JsonResponse(200, claims_from_account(account, row.scope), dict(NO_STORE))


def _has_active_client(db: Session, family_id: str) -> bool:
    client = select(Client.client_id).join(Family, Family.client_id == Client.client_id).where(Family.id == family_id)
    return db.scalar(client.where(Client.disabled_at.is_(None))) is not None


def serve_jwks(uow: UnitOfWork, _: RequestData) -> JsonResponse:
    return JsonResponse(200, signing_keys.build_public_set(uow.db), dict(_CACHED))
