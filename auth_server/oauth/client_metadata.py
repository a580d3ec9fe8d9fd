"""Client ID Metadata Documents: an https client_id goes in; its document is read and kept, or the reason against it
comes out.

Asked for at the authorization endpoint alone: tokens and refreshes live on what is stored, so that a vendor's outage
ends no connection. A document that cannot be read is replaced by the copy shipped here, where there is one.
"""

import asyncio
import json
import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread
import httpx
from authlib.oauth2 import OAuth2Error
from sqlalchemy import select

from auth_server.oauth.redirect_uris import document_hosts
from auth_server.oauth.registration import described
from auth_server.oauth.server import CLIENT_ID_MAX
from auth_server.web.flows import limiter
from auth_server.web.outcomes import FlowResult, problem
from auth_server.web.request_data import RequestData, parse_json
from shared import clock
from shared.db.base import transaction
from shared.db.oauth import Client, remember_document
from shared.http import Refused, public_client, read_capped
from shared.limits import address_key, hit
from shared.settings import settings

log = logging.getLogger(__name__)
SECONDS, MAX_BYTES = 4, 5 * 1024
KEPT_LEAST, KEPT_MOST = 60, 3600
FETCHES_PER_HOUR = 120  # of one address; above that the stored copies have to do
PINNED = Path(__file__).with_name("pinned")
_ADDRESS = re.compile(r"https://[a-z0-9.\-]+(:443)?/[A-Za-z0-9\-._~/!$&'()*+,;=:@%?]+")
_JSON = re.compile(r"application/([a-z0-9.\-]+\+)?json")
_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*(\d{1,9})", re.I)
_SHARED_SECRETS = {"client_secret_basic", "client_secret_post", "client_secret_jwt"}
_under_way: "dict[str, asyncio.Task[None]]" = {}


class Wrong(Exception):
    """There is no such document, or it breaks a rule."""


class Unreadable(Exception):
    """The document could not be read; `gone` when its host said that it is not there."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone = gone


@dataclass(frozen=True)
class Document:
    name: str
    redirect_uris: list[str]
    kept: timedelta


def is_address(client_id: str) -> bool:
    """True for a client_id whose document may be asked for: nothing is ever fetched from another host."""
    if len(client_id) > CLIENT_ID_MAX or not _ADDRESS.fullmatch(client_id):
        return False
    parts = urlsplit(client_id)
    dots = any(unquote(segment) in (".", "..") for segment in parts.path.split("/"))
    return "@" not in parts.netloc and not dots and parts.hostname in document_hosts()


def parse(client_id: str, body: bytes, kept: timedelta) -> Document:
    """Held against the same rules as a registration; always a public client, whatever it would prefer."""
    try:
        data = parse_json(body)
        if not isinstance(data, dict) or data.get("client_id") != client_id:
            raise Wrong
        if {"client_secret", "client_secret_expires_at"} & set(data) or _method(data) in _SHARED_SECRETS:
            raise Wrong
        known = described(data)
    except OAuth2Error:
        raise Wrong from None
    return Document(known["client_name"], known["redirect_uris"], kept)


def _method(data: dict[str, Any]) -> str | None:
    method = data.get("token_endpoint_auth_method")
    return method if isinstance(method, str) else None


@lru_cache(maxsize=1)
def _pinned() -> dict[str, bytes]:
    bodies = [path.read_bytes() for path in sorted(PINNED.glob("*.json"))]
    return {json.loads(body)["client_id"]: body for body in bodies}


def _kept(headers: httpx.Headers) -> timedelta:
    found = _AGE.search(headers.get("cache-control", ""))
    return timedelta(seconds=min(max(int(found[1]) if found else 0, KEPT_LEAST), KEPT_MOST))


async def _fetched(client_id: str) -> Document:
    try:
        with anyio.fail_after(SECONDS):
            async with public_client() as http, http.stream("GET", client_id, headers=_ASKED) as answer:
                if answer.status_code != 200:
                    raise Unreadable(gone=answer.status_code < 500 and answer.status_code != 429)
                if not _JSON.fullmatch(answer.headers.get("content-type", "").split(";")[0].strip().lower()):
                    raise Unreadable(gone=True)
                if answer.headers.get("content-encoding", "identity") != "identity":
                    raise Wrong  # what unpacks can be far larger than what came
                body = await read_capped(answer, MAX_BYTES)
    except Refused:
        raise Wrong from None
    except (httpx.HTTPError, OSError, TimeoutError):
        raise Unreadable from None
    return parse(client_id, body, _kept(answer.headers))


_ASKED = {"Accept": "application/json", "Accept-Encoding": "identity"}


def _is_fresh(client_id: str) -> bool:
    with transaction() as session:
        until = session.scalar(select(Client.fresh_until).where(Client.client_id == client_id))
    return until is not None and until > clock.now()


def _remember(client_id: str, document: Document) -> None:
    with transaction() as session:
        until = clock.now() + document.kept
        remember_document(session, client_id, document.name, document.redirect_uris, until)


async def _on_a_thread(work: Any, *args: Any) -> Any:
    return await anyio.to_thread.run_sync(work, *args, limiter=limiter())


async def _read_anew(client_id: str, peer: str) -> None:
    """A failure is never remembered: the shipped copy is good for this one request."""
    try:
        if not settings().client_document_fetch:
            raise Unreadable(gone=True)
        if not (await _on_a_thread(hit, f"documents:{address_key(peer)}", FETCHES_PER_HOUR, 3600)).allowed:
            raise Unreadable
        document = await _fetched(client_id)
    except Unreadable as error:
        log.warning("client document unreadable at %s", urlsplit(client_id).hostname)
        if client_id not in _pinned():
            raise (Wrong() if error.gone else error) from None
        document = parse(client_id, _pinned()[client_id], timedelta())
    await _on_a_thread(_remember, client_id, document)


async def _known(client_id: str, peer: str) -> None:
    """Many who ask for one document at once wait for one answer."""
    if await _on_a_thread(_is_fresh, client_id):
        return
    task = _under_way.get(client_id)
    if task is None:
        task = _under_way[client_id] = asyncio.create_task(_read_anew(client_id, peer))
        task.add_done_callback(lambda _: _under_way.pop(client_id, None))
    await asyncio.shield(task)


async def look_up(inc: RequestData) -> FlowResult | None:
    """Before an authorization request is judged: None when the flow may go on."""
    client_id = inc.query_value("client_id") or ""
    if not client_id.lower().startswith("https:"):
        return None
    try:
        if not is_address(client_id):
            raise Wrong
        await _known(client_id, inc.peer)
    except Wrong:
        text = "The application is described by a document that this service does not accept (invalid_client)."
        return problem("This request cannot be completed", text)
    except Unreadable:
        text = "The application's own description cannot be read right now. Please try again in a moment."
        return problem("Please try again", text, 503, 30)
    return None
