"""Token introspection (RFC 7662), open only to the service's own programs."""

from functools import lru_cache
from typing import Any

import anyio
import anyio.to_thread
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError
from pydantic_core import to_json
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth import page_tokens, tokens
from auth_server.oauth.client_auth import parse_basic
from auth_server.oauth.responses import to_error_response
from auth_server.web.rendering import to_response
from auth_server.web.request_data import Pairs, read_form, reject_request
from auth_server.web.sessions import MAX_IDLE
from shared import clock
from shared.db.oauth import find_live_session, find_live_token
from shared.secrets import digest, is_one_of, is_same_secret, well_formed
from shared.settings import settings


@lru_cache(maxsize=1)
def _limiter() -> anyio.CapacityLimiter:
    """Separate threads, as many as the pool of single statements has connections: pages delay no look-up."""
    return anyio.CapacityLimiter(2)


def _is_service_client(headers: list[str]) -> bool:
    """Basic authentication of the one client from the settings; no other method and no other client will do."""
    if len(headers) != 1:
        return False
    name, secret = parse_basic(headers[0])
    same_name = is_same_secret(name, settings().service_client_id)
    return is_one_of(secret, settings().service_client_secret.get_secret_value()) and same_name


def _claims_from_row(row: Row[Any] | None) -> dict[str, Any]:
    if row is None:
        return {"active": False}
    claims = {
        "active": True,
        "iss": settings().web_url,
        "sub": row.public_id,
        "aud": row.resource,
        "client_id": row.client_id,
        "client_name": row.name,
        "scope": row.scope,
        "token_type": "Bearer",
        "iat": int(row.issued_at.timestamp()),
        "exp": int(row.expires_at.timestamp()),
        "family": row.family_id,
    }
    return claims | {name: True for name in ("read_only", "administer") if getattr(row, name)}


async def read_service_form(request: Request) -> Pairs:
    """The form of a request that only our own client may send; raises the protocol's error otherwise."""
    if not _is_service_client(request.headers.getlist("authorization")):
        raise InvalidClientError
    if request.scope["query_string"]:
        reject_request("Parameters belong in the request body.")
    return await read_form(request, text=True)


async def introspect(request: Request) -> Response:
    try:
        token = next((value for name, value in await read_service_form(request) if name == "token"), None)
        if token is None:
            reject_request("Missing 'token'.")
    except OAuth2Error as error:
        return to_response(to_error_response(error))
    claims = await anyio.to_thread.run_sync(_find_claims, token, limiter=_limiter())
    return Response(to_json(claims), media_type="application/json", headers={"Cache-Control": "no-store"})


def _find_claims(token: str) -> dict[str, Any]:
    now = clock.now()
    if page_token := page_tokens.read(token):
        public_id = find_live_session(page_token.session_hash, now, now - MAX_IDLE)
        return page_tokens.describe(page_token, public_id) if public_id else {"active": False}
    return _claims_from_row(find_live_token(digest(token), now) if well_formed(token, tokens.ACCESS) else None)
