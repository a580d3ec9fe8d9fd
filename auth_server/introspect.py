"""Introspection (RFC 7662) for the service's own programs: an access token goes in, what it is good for comes out."""

from typing import Any

import anyio.to_thread
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError
from pydantic_core import to_json
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import Response

from auth_server import tokens
from auth_server.incoming import basic, invalid, read_form
from auth_server.render import write
from auth_server.replies import failed
from auth_server.threads import limiter
from shared import clock
from shared.db.oauth import live_token
from shared.secrets import digest, same, well_formed
from shared.settings import settings

_INACTIVE: dict[str, Any] = {"active": False}


def _is_ours(headers: list[str]) -> bool:
    """Basic authentication of the one client from the settings; no other method and no other client will do."""
    if len(headers) != 1:
        return False
    name, secret = basic(headers[0])
    known = same(name, settings().service_client_id)
    return same(secret, settings().service_client_secret.get_secret_value()) and known


def _claims(row: Row[Any] | None) -> dict[str, Any]:
    if row is None:
        return _INACTIVE
    client_id, client_name, subject, scope, resource, issued_at, expires_at, family = tuple(row)
    return {
        "active": True,
        "iss": settings().web_url,
        "sub": subject,
        "aud": resource,
        "client_id": client_id,
        "client_name": client_name,
        "scope": scope,
        "token_type": "Bearer",
        "iat": int(issued_at.timestamp()),
        "exp": int(expires_at.timestamp()),
        "family": family,
    }


async def introspect(request: Request) -> Response:
    """Asked for every token a tool server sees anew, so it takes the short way: one statement, no session."""
    try:
        if not _is_ours(request.headers.getlist("authorization")):
            raise InvalidClientError
        if request.url.query:
            invalid("Parameters belong in the request body.")
        token = next((value for name, value in await read_form(request) if name == "token"), None)
        if token is None:
            invalid("Missing 'token'.")
    except OAuth2Error as error:
        return write(failed(error))
    row = None
    if well_formed(token, tokens.ACCESS):
        row = await anyio.to_thread.run_sync(live_token, digest(token), clock.now(), limiter=limiter())
    return Response(to_json(_claims(row)), media_type="application/json", headers={"Cache-Control": "no-store"})
