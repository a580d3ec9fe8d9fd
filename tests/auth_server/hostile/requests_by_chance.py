"""Requests no one would send in good faith, by chance from a seed, to every route of the web host."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlencode

from auth_server.app import ROUTES
from auth_server.web import sessions
from shared.db.base import transaction
from tests.auth_server.in_process_browser import BASIC, CALLBACK, FORM
from tests.auth_server.test_fuzz import HOSTILE, NAMES

NAMES_OF_FORMS = ["name", "key_id", "session", "claim_code", "redirect_uris", "setup", "passkey_id", "identity_id"]
NAMES_OF_FORMS += ["document_id", "keys", "applications", "everything", "credential", "timezone", "email", "do", "id"]
WORDS = [*HOSTILE, "0", "1", "-1", "9" * 25, "' or 1=1 --", "<script>alert(1)</script>", "https://evil.example/cb"]
WORDS += ["/\\evil.example", "https://evil.example@127.0.0.1/", "nobody@example.test", "allow", "deny", "all", "{}"]
HEADERS: list[tuple[bytes, bytes]] = [
    (b"authorization", BASIC.encode()),
    (b"authorization", b"Basic \xff"),
    (b"authorization", b"Bearer x"),
    (b"authorization", b"Bearer awt_at_\xff"),
    (b"origin", b"https://evil.example"),
    (b"origin", b"null"),
    (b"sec-fetch-site", b"cross-site"),
    (b"cookie", b"award=\xff\x00"),
    (b"cookie", b"award-browser=" + b"x" * 4000),
    (b"x-forwarded-host", b"evil.example"),
    (b"forwarded", b"host=evil.example;proto=https"),
    (b"accept-language", b"\xff" * 50),
    (b"user-agent", b"\xff<script>" * 50),
    (b"referer", b"https://evil.example/"),
    (b"content-length", b"99999999999999999999"),
    (b"x-forwarded-for", b"\xff, ,"),
]
KINDS = [b"", b"application/json", b"text/plain", b"multipart/form-data", b"multipart/form-data; boundary=x", b"\xff"]
METHODS = ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]


@dataclass
class Hostile:
    """A caller with its own session, who knows the ids of someone else's rows."""

    random: Random
    account_id: int
    foreign_ids: list[str]

    def make_requests(self, times: int) -> Iterator[tuple[str, str, bytes, list[tuple[bytes, bytes]]]]:
        """Method, target, body and headers; each sixty of one session."""
        for number in range(times):
            if number % 60 == 0:
                with transaction() as session:
                    row, cookie = sessions.open_session(session, self.account_id)
            yield self._make_request(row, cookie)

    def _make_request(self, row: Any, cookie: str) -> tuple[str, str, bytes, list[tuple[bytes, bytes]]]:
        route = self.random.choice(ROUTES)
        path = re.sub(r"{\w+(:\w+)?}", self.random.choice(["acme", "x", "%00", "..%2f"]), route.path)
        method = self._choose_method(route.methods)
        headers, query = list[tuple[bytes, bytes]](), list[tuple[str, str]]()
        fields = self._choose_fields()
        if self.random.random() < 0.6:
            headers.append((b"cookie", f"award={cookie}".encode()))
            fields.append(("csrf", sessions.make_csrf_token(row, path)))
        if method == "GET" or self.random.random() < 0.1:
            query = self._choose_fields()
        headers += self.random.sample(HEADERS, self.random.choice([0, 0, 1, 2]))
        body, kind = self._write_body(fields)
        target = f"{path}?{_encode(query)}" if query else path
        return method, target, body if method not in ("GET", "HEAD") else b"", [*headers, (b"content-type", kind)]

    def _choose_method(self, fit: set[str] | None) -> str:
        return self.random.choice(sorted(fit or METHODS) if self.random.random() < 0.9 else METHODS)

    def _choose_fields(self) -> list[tuple[str, str]]:
        names = [*NAMES, *NAMES_OF_FORMS]
        return [(self.random.choice(names), self._choose_word()) for _ in range(self.random.choice([0, 2, 5, 9]))]

    def _choose_word(self) -> str:
        way = self.random.random()
        if way < 0.2:
            return self.random.choice(self.foreign_ids)
        if way < 0.3:
            return "".join(chr(self.random.choice([10, 34, 60, 0x2028, 0xFF, 0x1F600])) for _ in range(9))
        return CALLBACK if way < 0.35 else self.random.choice(WORDS)

    def _write_body(self, fields: list[tuple[str, str]]) -> tuple[bytes, bytes]:
        way = self.random.random()
        if way < 0.65:
            return _encode(fields).encode(), FORM["content-type"].encode()
        if way < 0.8:
            nested: Any = {
                name: self.random.choice([value, [value], {value: 1}, 7, None, 1e308]) for name, value in fields
            }
            return json.dumps(self.random.choice([nested, [nested], 5, None])).encode(), b"application/json"
        if way < 0.85:
            return b"[" * 3000, b"application/json"
        return self.random.randbytes(self.random.choice([1, 200, 5000])), self.random.choice(KINDS)


def _encode(fields: list[tuple[str, str]]) -> str:
    return urlencode([(k.encode("utf-8", "replace"), v.encode("utf-8", "replace")) for k, v in fields])
