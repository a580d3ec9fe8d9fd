"""Token introspection (RFC 7662), open to the service's own programs alone."""

from collections.abc import Sequence
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError
from pydantic_core import to_json
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth import tokens
from auth_server.oauth.client_auth import parse_basic
from auth_server.oauth.responses import to_error_response
from auth_server.web.rendering import to_response
from auth_server.web.request_data import Pairs, read_form, reject_request
from shared import clock
from shared.concurrency import Batcher
from shared.db.oauth import live_tokens
from shared.secrets import digest, is_same_secret, well_formed
from shared.settings import settings

Lookups = Batcher[str, Row[Any] | None]


def create_lookups() -> Lookups:
    """The look-ups of one application: from the hash of a token to its row, None when it is not active."""
    return Batcher(_find_live_tokens)


def _find_live_tokens(hashes: Sequence[str]) -> list[Row[Any] | None]:
    rows = live_tokens(list(set(hashes)), clock.now())
    return [rows.get(token_hash) for token_hash in hashes]


def _is_service_client(headers: list[str]) -> bool:
    """Basic authentication of the one client from the settings; no other method and no other client will do."""
    if len(headers) != 1:
        return False
    name, secret = parse_basic(headers[0])
    same_name = is_same_secret(name, settings().service_client_id)
    return is_same_secret(secret, settings().service_client_secret.get_secret_value()) and same_name


def _claims_from_row(row: Row[Any] | None) -> dict[str, Any]:
    if row is None:
        return {"active": False}
    return {
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
    } | ({"read_only": True} if row.read_only else {})


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
    lookups: Lookups = request.app.state.lookups
    row = await lookups(digest(token)) if well_formed(token, tokens.ACCESS) else None
    return Response(
        to_json(_claims_from_row(row)), media_type="application/json", headers={"Cache-Control": "no-store"}
    )
