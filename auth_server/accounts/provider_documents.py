"""Documents of identity providers (discovery, public keys): read within bounds, cached an hour, or a day if down."""

import asyncio
import json
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx

from shared import clock
from shared.http import Refused, check_url, client, read_capped
from shared.tls import explain_tls_fault

log = logging.getLogger(__name__)
FETCH_SECONDS, MAX_BYTES = 5, 64 * 1024
MAX_AGE, MAX_AGE_IN_NEED = timedelta(hours=1), timedelta(days=1)
PAUSE = timedelta(seconds=10)  # between two attempts, whatever the first one's result
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Unavailable(Exception):
    """A provider gives no answer or an invalid one; the text is the TLS fault, if any."""


@dataclass
class _Document:
    content: dict[str, Any] | None = None
    fetched_at: datetime | None = None
    tried_at: datetime | None = None
    fault: str = ""  # of TLS, when it was last tried

    def is_due(self, max_age: timedelta) -> bool:
        now = clock.now()
        if self.tried_at is not None and now - self.tried_at < PAUSE:
            return False
        return self.fetched_at is None or now - self.fetched_at >= max_age

    def require(self) -> dict[str, Any]:
        if self.content is None or self.fetched_at is None or clock.now() - self.fetched_at > MAX_AGE_IN_NEED:
            raise Unavailable(self.fault)
        return self.content


# By address. Only addresses from the settings, and those their documents name, get here.
_documents: dict[str, _Document] = {}
_pending: "dict[str, asyncio.Task[None]]" = {}


async def load_document(url: str, *, max_age: timedelta = MAX_AGE) -> dict[str, Any]:
    """The JSON object at an address. Callers at once share one request. Raises Unavailable."""
    document, task = _documents.setdefault(url, _Document()), _pending.get(url)
    if task is None and document.is_due(max_age):
        task = _pending[url] = asyncio.create_task(_renew(url, document))
        task.add_done_callback(lambda _: _pending.pop(url, None))
    if task is not None:
        await asyncio.shield(task)
    return document.require()


def find_document(url: str) -> dict[str, Any] | None:
    """The document if it is in memory, for code that cannot wait."""
    document = _documents.get(url)
    return document.content if document is not None else None


def forget_documents() -> None:
    _documents.clear()


async def _renew(url: str, document: _Document) -> None:
    """Reads it again; the earlier document stays if this fails."""
    document.tried_at = clock.now()
    try:
        document.content = await _fetch(url)
        document.fetched_at, document.fault = clock.now(), ""
    except (Refused, httpx.HTTPError, OSError, TimeoutError, ValueError, RecursionError) as error:
        document.fault = explain_tls_fault(error) or ""
        log.warning("%s could not be read: %s", urlsplit(url).hostname, document.fault or type(error).__name__)


async def _fetch(url: str) -> dict[str, Any]:
    with anyio.fail_after(FETCH_SECONDS):
        async with client() as http, http.stream("GET", check_url(url), headers=_HEADERS) as response:
            if response.status_code != httpx.codes.OK or "content-encoding" in response.headers:
                raise Refused("no document")
            content = json.loads(await read_capped(response, MAX_BYTES))
    if not isinstance(content, dict):
        raise Refused("not an object")
    return content
