"""Request data: an HTTP request as plain values, within limits of size, time, repetition and characters."""

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from authlib.oauth2.rfc6749 import InvalidRequestError
from starlette.requests import ClientDisconnect, Request

from auth_server.web.sessions import cookie_name

MAX_BODY_BYTES = 16 * 1024
MAX_QUERY_CHARACTERS = 8 * 1024
MAX_FIELDS = 40
MAX_VALUE_CHARACTERS = 4096
BODY_SECONDS = 15
# Whole authorization requests travel in these.
_LONG_VALUES = {"query": MAX_QUERY_CHARACTERS + 256, "return_to": MAX_QUERY_CHARACTERS + 256}
_MULTILINE = frozenset({"redirect_uris"})  # written one on each line
_ASCII_ONLY = frozenset({"client_id", "redirect_uri", "state"})  # printable ASCII even where any language is allowed
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
    user_agent: str = ""
    file: bytes = b""  # the content of the uploaded file

    def form_value(self, name: str) -> str:
        """A field of the form, empty when absent."""
        return next((v for k, v in self.form if k == name), "")

    def query_value(self, name: str) -> str | None:
        """A parameter of the query."""
        return next((v for k, v in self.query if k == name), None)


def reject_request(text: str) -> NoReturn:
    raise InvalidRequestError(text)


async def read_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared[:12]) > max_bytes:
        raise TooLarge
    chunks, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size > max_bytes:
                    raise TooLarge
                chunks.append(chunk)
    except (TimeoutError, ClientDisconnect):
        raise TooSlow from None
    return b"".join(chunks)


def parse_pairs(raw: str, *, text: bool = False) -> Pairs:
    """Decoded parameters; one without a value counts as absent (RFC 6749 3.1). `text` allows any written language."""
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        reject_request("The parameters could not be read.")
    for name, value in pairs:
        allowed = _TEXT if text and name not in _ASCII_ONLY else _PRINTABLE
        max_characters = _LONG_VALUES.get(name, MAX_VALUE_CHARACTERS)
        if len(name) > 64 or len(value) > max_characters or not _PRINTABLE.fullmatch(name):
            reject_request("A parameter is too long or has an unreadable name.")
        if not allowed.fullmatch(" ".join(value.split()) if name in _MULTILINE else value):
            reject_request("A parameter contains characters that are not allowed.")
    return [(name, value) for name, value in pairs if value]


def refuse_repeats(pairs: Pairs) -> None:
    names = [name for name, _ in pairs if name not in _MAY_REPEAT]
    if len(names) != len(set(names)):
        reject_request("A parameter was sent more than once.")


def _has_content_type(request: Request, media_type: str) -> bool:
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == media_type


async def read_form(request: Request, *, text: bool = False) -> Pairs:
    body = await read_body(request)
    if not _has_content_type(request, "application/x-www-form-urlencoded"):
        reject_request("The body must be application/x-www-form-urlencoded.")
    if not body.isascii():
        reject_request("The parameters could not be read.")
    pairs = parse_pairs(body.decode("ascii"), text=text)
    refuse_repeats(pairs)
    return pairs


async def read_upload(request: Request, max_bytes: int) -> tuple[Pairs, bytes]:
    """A form with one file: the other fields, and what the file holds."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    boundary = re.fullmatch(r'\s*boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?\s*', rest)
    if kind.strip().lower() != "multipart/form-data" or boundary is None:
        reject_request("The body must be multipart/form-data.")
    body = b"\r\n" + await read_body(request, max_bytes + MAX_BODY_BYTES)
    fields: Pairs = []
    content = b""
    for part in body.split(b"\r\n--" + boundary[1].encode())[1:-1][:MAX_FIELDS]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([a-z_]{1,64})"', head)
        if name is None:
            reject_request("A field has no name.")
        if b"filename=" in head:
            content = value
        elif len(value) <= MAX_VALUE_CHARACTERS and value.isascii():
            fields.append((name[1].decode(), value.decode()))
    refuse_repeats(fields)
    return fields, content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def parse_json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        reject_request("The body is not valid JSON.")


async def read_json(request: Request) -> bytes:
    body = await read_body(request)
    if not _has_content_type(request, "application/json"):
        reject_request("The body must be application/json.")
    return body


def get_peer(request: Request) -> str:
    return request.client.host if request.client else ""


def to_request_data(
    request: Request, *, query: Pairs | None = None, form: Pairs | None = None, file: bytes = b""
) -> RequestData:
    return RequestData(
        request.method,
        request.url.path,
        get_peer(request),
        raw_query=request.url.query,
        query=query or [],
        form=form or [],
        authorization=request.headers.get("authorization"),
        cookie=request.cookies.get(cookie_name()),
        user_agent=request.headers.get("user-agent", "")[:400],
        file=file,
    )
