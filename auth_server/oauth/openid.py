"""OpenID Connect: a redeemed code or an access token goes in; an identity token or the person's claims come out."""

from typing import TYPE_CHECKING, Any

from authlib.oidc.core.util import create_half_hash
from joserfc import jwt
from sqlalchemy import select

from auth_server.oauth import signing_keys, tokens
from auth_server.web.outcomes import NO_STORE, JsonResponse
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Client, Family
from shared.secrets import digest, well_formed
from shared.settings import settings

if TYPE_CHECKING:
    from auth_server.oauth.grants import CodeGrant
    from auth_server.oauth.server import Server

LIFE_SECONDS = 3600
_CACHED = {"Cache-Control": "public, max-age=300"}


def about(account: Account) -> dict[str, Any]:
    """The claims of the scope: the random subject and, where there is one, the address."""
    if account.email is None:
        return {"sub": account.public_id}
    return {
        "sub": account.public_id,
        "email": account.email,
        "email_verified": account.email_confirmed_at is not None,
    }


def id_token(grant: "CodeGrant", access_token: str) -> str:
    code, now = grant.request.authorization_code, int(clock.now().timestamp())
    claims = about(grant.request.user) | {
        "iss": settings().web_url,
        "aud": grant.request.client.client_id,
        "iat": now,
        "exp": now + LIFE_SECONDS,
        "auth_time": int(code.authenticated_at.timestamp()),
        "at_hash": create_half_hash(access_token, signing_keys.ALGORITHM).decode(),
    }
    if code.nonce is not None:
        claims["nonce"] = code.nonce
    key = signing_keys.signing(grant.server.db)
    return jwt.encode({"alg": signing_keys.ALGORITHM, "kid": key.kid}, claims, key, [signing_keys.ALGORITHM])


def signed(grant: "CodeGrant") -> None:
    """An extension of the code grant alone: a refresh gives no identity token."""

    def add(_: Any, response: tuple[int, dict[str, Any], Any]) -> None:
        response[1]["id_token"] = id_token(grant, response[1]["access_token"])

    grant.register_hook("after_create_token_response", add)


def _challenge(status: int, error: str | None = None) -> JsonResponse:
    told = f', error="{error}"' if error else ""
    headers = NO_STORE | {"WWW-Authenticate": f'Bearer realm="award-travel"{told}'}
    return JsonResponse(status, {"error": error or "invalid_token"}, headers)


def userinfo(server: "Server", inc: RequestData) -> JsonResponse:
    scheme, _, token = (inc.authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return _challenge(401)
    row = server.db.get(AccessToken, digest(token)) if well_formed(token, tokens.ACCESS) else None
    if row is None or row.revoked_at is not None or row.expires_at <= clock.now():
        return _challenge(401, "invalid_token")
    account, alive = server.account_of(row.family_id), _registered(server, row.family_id)
    if account is None or not alive:
        return _challenge(401, "invalid_token")
    if "openid" not in row.scope.split():
        return _challenge(403, "insufficient_scope")
    return JsonResponse(200, about(account), dict(NO_STORE))


def _registered(server: "Server", family_id: str) -> bool:
    theirs = select(Client.client_id).join(Family, Family.client_id == Client.client_id).where(Family.id == family_id)
    return server.db.scalar(theirs.where(Client.disabled_at.is_(None))) is not None


def jwks(server: "Server", _: RequestData) -> JsonResponse:
    return JsonResponse(200, signing_keys.public_set(server.db), dict(_CACHED))
