"""From an HTTP request to plain data within limits: what is too large, repeated or unprintable goes no further."""

import asyncio
import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import parse_qsl, unquote_plus

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError
from starlette.requests import ClientDisconnect, Request

MAX_BODY = 16 * 1024
MAX_QUERY = 8 * 1024
MAX_FIELDS = 40
MAX_VALUE = 4096
BODY_SECONDS = 15
_LONG = {"query": MAX_QUERY + 256, "return_to": MAX_QUERY + 256}  # whole authorization requests travel in these
_LINES = frozenset({"redirect_uris"})  # written one on each line
_PLAIN = frozenset({"client_id", "redirect_uri", "state"})  # printable ASCII even where any language is allowed
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_TEXT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]*")
_MAY_REPEAT = frozenset({"resource"})
Pairs = list[tuple[str, str]]


class TooLarge(Exception):
    """The body exceeds the limit."""


class TooSlow(Exception):
    """The body did not arrive in time, or its sender went away."""


@dataclass(frozen=True)
class RequestData:
    """A request reduced to plain data, so that everything after it can run on a worker thread."""

    method: str
    path: str
    peer: str
    raw_query: str = ""
    query: Pairs = field(default_factory=list)
    form: Pairs = field(default_factory=list)
    authorization: str | None = None
    cookie: str | None = None
    host: str = ""
    agent: str = ""  # what the browser calls itself
    file: bytes = b""  # what a form uploaded

    def form_value(self, name: str) -> str:
        """A field of the form, empty when absent."""
        return next((v for k, v in self.form if k == name), "")

    def query_value(self, name: str) -> str | None:
        """A parameter of the query."""
        return next((v for k, v in self.query if k == name), None)


def invalid(text: str) -> NoReturn:
    raise InvalidRequestError(text)


async def read_body(request: Request, most: int = MAX_BODY) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared[:12]) > most:
        raise TooLarge
    chunks, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise TooLarge
                chunks.append(chunk)
    except (TimeoutError, ClientDisconnect):
        raise TooSlow from None
    return b"".join(chunks)


def pairs(raw: str, *, text: bool = False) -> Pairs:
    """Decoded parameters; one without a value counts as absent (RFC 6749 3.1). `text` allows any written language."""
    try:
        found = parse_qsl(raw, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        invalid("The parameters could not be read.")
    for name, value in found:
        allowed = _TEXT if text and name not in _PLAIN else _PRINTABLE
        if len(name) > 64 or len(value) > _LONG.get(name, MAX_VALUE) or not _PRINTABLE.fullmatch(name):
            invalid("A parameter is too long or has an unreadable name.")
        if not allowed.fullmatch(" ".join(value.split()) if name in _LINES else value):
            invalid("A parameter contains characters that are not allowed.")
    return [(name, value) for name, value in found if value]


def once(found: Pairs) -> None:
    names = [name for name, _ in found if name not in _MAY_REPEAT]
    if len(names) != len(set(names)):
        invalid("A parameter was sent more than once.")


def _is_type(request: Request, wanted: str) -> bool:
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == wanted


async def read_form(request: Request, *, text: bool = False) -> Pairs:
    body = await read_body(request)
    if not _is_type(request, "application/x-www-form-urlencoded"):
        invalid("The body must be application/x-www-form-urlencoded.")
    if not body.isascii():
        invalid("The parameters could not be read.")
    found = pairs(body.decode("ascii"), text=text)
    once(found)
    return found


async def read_upload(request: Request, most: int) -> tuple[Pairs, bytes]:
    """A form with one file: the other fields, and what the file holds."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    boundary = re.fullmatch(r'\s*boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?\s*', rest)
    if kind.strip().lower() != "multipart/form-data" or boundary is None:
        invalid("The body must be multipart/form-data.")
    body = b"\r\n" + await read_body(request, most + MAX_BODY)
    fields: Pairs = []
    content = b""
    for part in body.split(b"\r\n--" + boundary[1].encode())[1:-1][:MAX_FIELDS]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([a-z_]{1,64})"', head)
        if name is None:
            invalid("A field has no name.")
        if b"filename=" in head:
            content = value
        elif len(value) <= MAX_VALUE and value.isascii():
            fields.append((name[1].decode(), value.decode()))
    once(fields)
    return fields, content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def parse_json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        invalid("The body is not valid JSON.")


async def read_json(request: Request) -> bytes:
    body = await read_body(request)
    if not _is_type(request, "application/json"):
        invalid("The body must be application/json.")
    return body


def peer_of(request: Request) -> str:
    return request.client.host if request.client else ""


def check_credentials(inc: RequestData) -> None:
    """One client authentication per request, well formed, telling one story (RFC 6749 2.3)."""
    if inc.authorization is None:
        return
    name, secret = basic(inc.authorization)
    if not name or not secret:
        raise InvalidClientError(description="Malformed client credentials.", status_code=401)
    if inc.form_value("client_secret") or inc.form_value("client_assertion"):
        invalid("More than one client authentication method was used.")
    if inc.form_value("client_id") not in ("", name):
        invalid("The client_id does not match the authenticated client.")


def basic(header: str) -> tuple[str, str]:
    """Name and secret of a Basic header; empty strings when it is not one."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        decoded = base64.b64decode(value.strip().encode("ascii"), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return "", ""
    name, _, secret = decoded.partition(":")
    return unquote_plus(name), unquote_plus(secret)
