"""Request data: an HTTP request as plain values, within limits of size, time, repetition and characters."""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from anyio.lowlevel import checkpoint
from authlib.oauth2.rfc6749 import InvalidRequestError
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from shared.asgi import read_body
from shared.internal_api import browser_cookie_name, session_cookie_name

MAX_BODY_BYTES = 16 * 1024
MAX_QUERY_CHARACTERS = 8 * 1024
MAX_FIELDS = 40
MAX_VALUE_CHARACTERS = 4096
MAX_NUMBER_DIGITS = 18  # of a number that fits a bigint
BODY_SECONDS = 15
# The first two hold whole authorization requests, the third a passkey's signature.
_LONG_VALUES = {"query": MAX_QUERY_CHARACTERS + 256, "return_to": MAX_QUERY_CHARACTERS + 256, "credential": 8 * 1024}
_LONG_VALUES |= {"sheet": 200_000, "notes": 8 * 1024, "preferences": 16 * 1024, "balances": 16 * 1024}
_MULTILINE = frozenset({"sheet", "redirect_uris", "notes", "preferences", "balances", "prompt"})  # of several lines
_ASCII_ONLY = frozenset({"client_id", "redirect_uri", "state"})  # printable ASCII even where any language is allowed
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_TEXT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]*")
_CHUNK_BYTES = 64 * 1024
_MAY_REPEAT = frozenset({"resource"})
Pairs = list[tuple[str, str]]


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
    browser_cookie: str | None = None  # by which the browser is known when no one is signed in
    user_agent: str = ""
    file: bytes = b""  # the content of the uploaded file
    path_values: Mapping[str, str] = field(default_factory=dict)  # the parts of the path, by their names in the route

    def form_value(self, name: str) -> str:
        """A field of the form, empty when absent."""
        return next((v for k, v in self.form if k == name), "")

    def query_value(self, name: str) -> str | None:
        """A parameter of the query."""
        return next((v for k, v in self.query if k == name), None)

    def path_number(self, name: str) -> int | None:
        """A row's number in the path; None for anything else."""
        text = self.path_values.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS else None


def reject_request(text: str) -> NoReturn:
    raise InvalidRequestError(text)


async def _read_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    return await read_body(request.scope, request.receive, max_bytes=max_bytes, max_seconds=BODY_SECONDS)


def parse_pairs(raw: str, *, text: bool = False) -> Pairs:
    """Decoded parameters. `text` allows any written language."""
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        reject_request("The parameters could not be read.")
    return _check_pairs(pairs, text=text)


def _check_pairs(pairs: Pairs, *, text: bool) -> Pairs:
    """Checks the length and characters of the pairs; one without a value counts as absent (RFC 6749 3.1)."""
    for name, value in pairs:
        allowed = _TEXT if text and name not in _ASCII_ONLY else _PRINTABLE
        max_characters = _LONG_VALUES.get(name, MAX_VALUE_CHARACTERS)
        if len(name) > 64 or len(value) > max_characters or not _PRINTABLE.fullmatch(name):
            reject_request("A parameter is too long or has an unreadable name.")
        if not allowed.fullmatch(" ".join(value.split()) if name in _MULTILINE else value):
            reject_request("A parameter contains characters that are not allowed.")
    # Browsers end lines with CRLF (HTML, form submission); stored texts end them with LF, as elsewhere.
    return [(name, value.replace("\r\n", "\n")) for name, value in pairs if value]


def refuse_repeats(pairs: Pairs) -> None:
    names = [name for name, _ in pairs if name not in _MAY_REPEAT]
    if len(names) != len(set(names)):
        reject_request("A parameter was sent more than once.")


def _has_content_type(request: Request, media_type: str) -> bool:
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == media_type


async def read_form(request: Request, *, text: bool = False, max_bytes: int = MAX_BODY_BYTES) -> Pairs:
    body = await _read_body(request, max_bytes)
    if not _has_content_type(request, "application/x-www-form-urlencoded"):
        reject_request("The body must be application/x-www-form-urlencoded.")
    if not body.isascii():
        reject_request("The parameters could not be read.")
    pairs = parse_pairs(body.decode("ascii"), text=text)
    refuse_repeats(pairs)
    return pairs


class _InMemoryParser(MultiPartParser):
    spool_max_size = 0  # never to disk: bank statements must leave no trace there, and the body is in memory anyway


async def _replay(body: bytes) -> AsyncGenerator[bytes, None]:
    """Replays it in chunks, to let other requests run: parsing takes about 30 ms a megabyte."""
    for start in range(0, len(body), _CHUNK_BYTES):
        yield body[start : start + _CHUNK_BYTES]
        await checkpoint()


async def read_upload(request: Request, max_bytes: int) -> tuple[Pairs, bytes]:
    """A form with one file (RFC 7578): the other fields, and the file's content, empty without a file."""
    if not _has_content_type(request, "multipart/form-data"):
        reject_request("The body must be multipart/form-data.")
    body = await _read_body(request, max_bytes + MAX_BODY_BYTES)
    limits = {"max_files": 1, "max_fields": MAX_FIELDS, "max_part_size": 4 * MAX_VALUE_CHARACTERS}
    try:
        form = await _InMemoryParser(request.headers, _replay(body), **limits).parse()
    except MultiPartException:
        reject_request("The form cannot be read, or has too many or too long fields.")
    fields: Pairs = []
    content = b""
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.append((name, value))
        else:
            content = await value.read()
    await form.close()
    refuse_repeats(fields)
    return _check_pairs(fields, text=True), content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def parse_json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        reject_request("The body is not valid JSON.")


async def read_json(request: Request) -> bytes:
    body = await _read_body(request)
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
        cookie=request.cookies.get(session_cookie_name()),
        browser_cookie=request.cookies.get(browser_cookie_name(), "")[:128],
        user_agent=request.headers.get("user-agent", "")[:400],
        file=file,
        path_values=request.path_params,
    )
