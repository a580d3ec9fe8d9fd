"""Client ID Metadata Documents: the document behind an https client_id is fetched, checked and stored.

Fetched only at the authorization endpoint: token requests use what is stored, so that a vendor's outage ends no
connection. A document that cannot be fetched is replaced by the copy shipped in `pinned/`, where there is one.
Documents of any host are read, unless CLIENT_DOCUMENT_HOSTS says otherwise: the consent page names the host (CIMD
draft, 6).
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

from auth_server.oauth.clients import MAX_CLIENT_ID_CHARACTERS
from auth_server.oauth.redirect_uris import LOOPBACK, check_registration, is_host_name, list_known_hosts
from auth_server.oauth.registration import client_metadata_from
from auth_server.oauth.responses import redirect_to_client
from auth_server.web.flows import limiter
from auth_server.web.outcomes import FlowResult, JsonResponse, Page, show_problem
from auth_server.web.request_data import RequestData, parse_json
from shared import clock
from shared.db.base import transaction
from shared.db.oauth import Client, remember_document
from shared.http import Refused, public_client, read_capped
from shared.limits import address_key, hit
from shared.settings import settings

log = logging.getLogger(__name__)
FETCH_SECONDS, MAX_BYTES = 4, 5 * 1024
MIN_CACHE_SECONDS, MAX_CACHE_SECONDS = 60, 3600
MAX_FETCHES = 32  # at once, of all addresses together: anyone can name a host that answers slowly
FETCHES_PER_HOUR = 120  # by requests of one address; above that the pinned copies are used
PINNED = Path(__file__).with_name("pinned")
_ADDRESS = re.compile(r"https://[a-z0-9.\-]+(:443)?/[A-Za-z0-9\-._~/!$&'()*+,;=:@%?]+")
_JSON = re.compile(r"application/([a-z0-9.\-]+\+)?json")
_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*(\d{1,9})", re.I)
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}
_SHARED_SECRETS = {"client_secret_basic", "client_secret_post", "client_secret_jwt"}
_pending: "dict[str, asyncio.Task[None]]" = {}


class InvalidDocument(Exception):
    """Raised where there is no such document, or it breaks a rule; the text says which, as a sentence."""


class FetchFailed(Exception):
    """The document could not be fetched; `gone` when its host said that it is not there."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone = gone


@dataclass(frozen=True)
class Document:
    name: str
    redirect_uris: list[str]
    cache_time: timedelta


def is_address(client_id: str) -> bool:
    """True for a client_id that may be the address of a document: https, a whole name, and a path."""
    if len(client_id) > MAX_CLIENT_ID_CHARACTERS or not _ADDRESS.fullmatch(client_id):
        return False
    parts = urlsplit(client_id)
    dots = any(unquote(segment) in (".", "..") for segment in parts.path.split("/"))
    return "@" not in parts.netloc and not dots and is_host_name(parts.hostname or "")


def parse_document(client_id: str, body: bytes, cache_time: timedelta) -> Document:
    """Parses it by the rules of registration; always a public client, whatever the document says."""
    try:
        data = parse_json(body)
        if not isinstance(data, dict) or data.get("client_id") != client_id:
            raise InvalidDocument("Its client_id is not its own address.")
        method = str(data.get("token_endpoint_auth_method"))  # JSON of any kind
        if {"client_secret", "client_secret_expires_at"} & set(data) or method in _SHARED_SECRETS:
            raise InvalidDocument("It holds a secret or asks for one, and everyone can read it.")
        metadata = client_metadata_from(data, own_host=urlsplit(client_id).hostname or "")
    except OAuth2Error as error:
        raise InvalidDocument(error.get_error_description()) from None
    return Document(metadata["client_name"], metadata["redirect_uris"], cache_time)


@lru_cache(maxsize=1)
def _load_pinned() -> dict[str, bytes]:
    bodies = [path.read_bytes() for path in sorted(PINNED.glob("*.json"))]
    return {json.loads(body)["client_id"]: body for body in bodies}


async def _fetch(client_id: str) -> Document:
    try:
        with anyio.fail_after(FETCH_SECONDS):
            async with public_client() as http, http.stream("GET", client_id, headers=_HEADERS) as response:
                if response.status_code != 200:
                    raise FetchFailed(gone=response.status_code < 500 and response.status_code != 429)
                if not _JSON.fullmatch(response.headers.get("content-type", "").split(";")[0].strip().lower()):
                    raise FetchFailed(gone=True)
                if response.headers.get("content-encoding", "identity") != "identity":
                    # a small compressed body can unpack to a very large one
                    raise InvalidDocument("It is compressed.")
                body = await read_capped(response, MAX_BYTES)
    except Refused:
        raise InvalidDocument(f"It is larger than {MAX_BYTES} bytes.") from None
    except (httpx.HTTPError, OSError, TimeoutError):
        raise FetchFailed from None
    match = _MAX_AGE.search(response.headers.get("cache-control", ""))
    return parse_document(
        client_id,
        body,
        timedelta(seconds=min(max(int(match[1]) if match else 0, MIN_CACHE_SECONDS), MAX_CACHE_SECONDS)),
    )


def _is_fresh(client_id: str) -> bool:
    with transaction() as session:
        fresh_until = session.scalar(select(Client.fresh_until).where(Client.client_id == client_id))
    return fresh_until is not None and fresh_until > clock.now()


def _remember(client_id: str, document: Document) -> None:
    with transaction() as session:
        fresh_until = clock.now() + document.cache_time
        remember_document(session, client_id, document.name, document.redirect_uris, fresh_until)


async def _run_on_thread(function: Any, *args: Any) -> Any:
    return await anyio.to_thread.run_sync(function, *args, limiter=limiter())


async def _refresh_document(client_id: str, peer: str) -> None:
    """Fetches and stores it. A failure is never stored: the pinned copy is valid for this one request."""
    try:
        if not settings().client_document_fetch:
            raise FetchFailed(gone=True)
        if not (await _run_on_thread(hit, f"documents:{address_key(peer)}", FETCHES_PER_HOUR, 3600)).allowed:
            raise FetchFailed
        document = await _fetch(client_id)
    except FetchFailed as error:
        log.warning("client document could not be fetched from %s", urlsplit(client_id).hostname)
        if client_id not in _load_pinned():
            raise (InvalidDocument("It is not there, or is no JSON.") if error.gone else error) from None
        document = parse_document(client_id, _load_pinned()[client_id], timedelta())
    await _run_on_thread(_remember, client_id, document)


async def _ensure_fresh(client_id: str, peer: str) -> None:
    """Refreshes a stale one; concurrent requests for one document share one fetch."""
    if await _run_on_thread(_is_fresh, client_id):
        return
    task = _pending.get(client_id)
    if task is None and len(_pending) >= MAX_FETCHES:
        raise FetchFailed
    if task is None:
        task = _pending[client_id] = asyncio.create_task(_refresh_document(client_id, peer))
        task.add_done_callback(lambda _: _pending.pop(client_id, None))
    await asyncio.shield(task)


def _find_way_back(data: RequestData, reason: str) -> str | None:
    """The error at a loopback address, as a link: nothing is sent there by itself, since it is not verified (RFC 6749
    4.1.2.1)."""
    uri = data.query_value("redirect_uri") or ""
    try:
        if urlsplit(uri).hostname not in LOOPBACK or check_registration(uri) != uri:
            return None
    except ValueError:  # no URI, or BadRedirect
        return None
    params = [("error", "unauthorized_client"), ("error_description", f"{reason} Register the client (RFC 7591).")]
    result = redirect_to_client(uri, data.query_value("state"), params)
    return result.location if isinstance(result, JsonResponse) else None


def reads_any_host() -> bool:
    """Whether documents of any host are read."""
    return settings().client_document_fetch and settings().client_document_hosts == "any"


async def ensure_document(data: RequestData) -> FlowResult | None:
    """Runs before an authorization request is validated: None when the flow may go on."""
    client_id = data.query_value("client_id") or ""
    if not client_id.lower().startswith("https:"):
        return None
    try:
        if not is_address(client_id):
            raise InvalidDocument("Its address is not https with a whole host name, no port and a path.")
        host = urlsplit(client_id).hostname
        if settings().client_document_hosts == "known" and host not in list_known_hosts():
            log.warning("client document of a host that is not known: %s", host)
            raise InvalidDocument("Documents of hosts that are not known here are not read.")
        await _ensure_fresh(client_id, data.peer)
    except InvalidDocument as invalid:
        context = {"reason": str(invalid), "way_back": _find_way_back(data, str(invalid))}
        return Page("application_refused.html", context, 400)
    except FetchFailed:
        text = "The application's own description cannot be read right now. Please try again in a moment."
        return show_problem("Please try again", text, 503, 30)
    return None
