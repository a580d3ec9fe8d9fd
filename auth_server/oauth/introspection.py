"""Token introspection (RFC 7662), open to the service's own programs alone."""

from collections.abc import Sequence
from typing import Any

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
from shared.db.oauth import live_sessions, live_tokens
from shared.limits.concurrency import Batcher
from shared.secrets import digest, is_one_of, is_same_secret, well_formed
from shared.settings import settings


class Lookups:
    """The look-ups of one application: a token's row by its hash, and who is signed in with a browser session.

    None for what is not active.
    """

    def __init__(self) -> None:
        self.find_token: Batcher[str, Row[Any] | None] = Batcher(_find_live_tokens)
        self.find_signed_in: Batcher[str, str | None] = Batcher(_find_live_sessions)


def _find_live_tokens(hashes: Sequence[str]) -> list[Row[Any] | None]:
    rows = live_tokens(list(set(hashes)), clock.now())
    return [rows.get(token_hash) for token_hash in hashes]


def _find_live_sessions(hashes: Sequence[str]) -> list[str | None]:
    now = clock.now()
    accounts = live_sessions(list(set(hashes)), now, now - MAX_IDLE)
    return [accounts.get(session_hash) for session_hash in hashes]


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
    claims = await _find_claims(request.app.state.lookups, token)
    return Response(to_json(claims), media_type="application/json", headers={"Cache-Control": "no-store"})


async def _find_claims(lookups: Lookups, token: str) -> dict[str, Any]:
    if page_token := page_tokens.read(token):
        public_id = await lookups.find_signed_in(page_token.session_hash)
        return page_tokens.describe(page_token, public_id) if public_id else {"active": False}
    return _claims_from_row(await lookups.find_token(digest(token)) if well_formed(token, tokens.ACCESS) else None)
