"""Introspection (RFC 7662) for the service's own programs: an access token goes in, what it is good for comes out."""

from collections.abc import Sequence
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError
from pydantic_core import to_json
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth import tokens
from auth_server.web.outcomes import failed
from auth_server.web.rendering import write
from auth_server.web.request_data import Pairs, basic, invalid, read_form
from shared import clock
from shared.concurrency import Batcher
from shared.db.oauth import live_tokens
from shared.secrets import digest, same, well_formed
from shared.settings import settings

Lookups = Batcher[str, Row[Any] | None]


def lookups() -> Lookups:
    """The look-ups of one application: hashes of tokens go in, the rows of those that are good come out."""
    return Batcher(_good)


def _good(hashes: Sequence[str]) -> list[Row[Any] | None]:
    rows = live_tokens(list(set(hashes)), clock.now())
    return [rows.get(name) for name in hashes]


def _is_ours(headers: list[str]) -> bool:
    """Basic authentication of the one client from the settings; no other method and no other client will do."""
    if len(headers) != 1:
        return False
    name, secret = basic(headers[0])
    known = same(name, settings().service_client_id)
    return same(secret, settings().service_client_secret.get_secret_value()) and known


def _claims(row: Row[Any] | None) -> dict[str, Any]:
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


async def form_from_ours(request: Request) -> Pairs:
    """The form of a question only our own client may ask; raises the protocol's error otherwise."""
    if not _is_ours(request.headers.getlist("authorization")):
        raise InvalidClientError
    if request.scope["query_string"]:
        invalid("Parameters belong in the request body.")
    return await read_form(request, text=True)


async def introspect(request: Request) -> Response:
    try:
        token = next((value for name, value in await form_from_ours(request) if name == "token"), None)
        if token is None:
            invalid("Missing 'token'.")
    except OAuth2Error as error:
        return write(failed(error))
    known: Lookups = request.app.state.lookups
    row = await known(digest(token)) if well_formed(token, tokens.ACCESS) else None
    return Response(to_json(_claims(row)), media_type="application/json", headers={"Cache-Control": "no-store"})
