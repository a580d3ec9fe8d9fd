"""Introspection (RFC 7662) for the service's own programs: an access token goes in, what it is good for comes out."""

import asyncio
from typing import Any

import anyio.to_thread
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError
from pydantic_core import to_json
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import Response

from auth_server import tokens
from auth_server.incoming import Pairs, basic, invalid, read_form
from auth_server.render import write
from auth_server.replies import failed
from auth_server.threads import limiter
from shared import clock
from shared.db.oauth import live_tokens
from shared.secrets import digest, same, well_formed
from shared.settings import settings

Found = dict[str, Row[Any]]


class Lookups:
    """Tokens asked for while a statement is under way share the next one: load makes batches, calm makes no delay."""

    def __init__(self) -> None:
        self._hashes: set[str] = set()
        self._next: asyncio.Future[Found] | None = None
        self._work: asyncio.Task[None] | None = None

    async def find(self, token_hash: str) -> Row[Any] | None:
        """The row, read after this was asked; None when the token is not good."""
        self._hashes.add(token_hash)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._work is None:
            self._work = asyncio.create_task(self._run())
        found = await asyncio.shield(self._next)
        return found.get(token_hash)

    async def _run(self) -> None:
        while self._next is not None:
            hashes, answer = list(self._hashes), self._next
            self._hashes, self._next = set(), None
            try:
                answer.set_result(await anyio.to_thread.run_sync(live_tokens, hashes, clock.now(), limiter=limiter()))
            except Exception as error:  # everyone who waits is told, each at its own edge
                answer.set_exception(error)
        self._work = None


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
    lookups: Lookups = request.app.state.lookups
    row = await lookups.find(digest(token)) if well_formed(token, tokens.ACCESS) else None
    return Response(to_json(_claims(row)), media_type="application/json", headers={"Cache-Control": "no-store"})
