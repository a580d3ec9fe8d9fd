"""What takes the servers longest: the slowest input known for each tool, page and file, sent by who may send it."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

import httpx
from PIL import Image

from auth_server.app import ROUTES
from mcp_server.toolkit.registry import TOOLS
from shared import clock
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.mcp_server.tools.test_answer_sizes import typical_arguments
from tests.mcp_server.tools.test_spending import twenty_thousand_lines
from tests.performance.other_callers import Person, ask
from tests.support.oauth_browser import forms

BILL = "2026-05-01|Resort fee|1.00\n2026-05-01|Adjustment|-3.00\n"
FLIGHT = {"airline": "VS", "program": "flying-blue", "origin": "LHR", "destination": "JFK", "cabin": "business"}
SCANS = 20  # of a picture, as many as are read
JSON_KIND = {"Content-Type": "application/json"}
Act = Callable[[], int]


def slow_arguments() -> dict[str, dict[str, Any]]:
    """By tool, where plausible arguments are not the slowest."""
    day = (clock.today() + timedelta(days=90)).isoformat()
    rows = [FLIGHT | {"date": day, "points": 50_000 + n, "flight_numbers": [f"VS{n}"]} for n in range(50)]
    return typical_arguments() | {
        "audit_hotel_folio": {"chain": "hyatt", "folio_text": BILL * 1000},
        "audit_marriott_folio": {"folio_text": BILL * 1000},
        "import_spending_statement": {"statement_text": twenty_thousand_lines(), "dry_run": True},
        "generate_branded_pdf": {"summary": "All of it, in many words. " * 300, "flights": rows},
    }


def draw_slow_picture() -> bytes:
    """A progressive JPEG whose last scan stands in it again and again."""
    content = io.BytesIO()
    Image.new("L", (4000, 4000), 128).save(content, "JPEG", progressive=True, quality=20)
    file = content.getvalue()
    last = file[file.rindex(b"\xff\xda") : -2]
    return file[:-2] + last * (SCANS - file.count(b"\xff\xda")) + file[-2:]


@dataclass
class SlowCaller:
    """One person with an account of a plan that may do most."""

    person: Person
    tokens: dict[str, str] = field(default_factory=dict)  # of forms, by their path

    def call(self, name: str, arguments: Mapping[str, Any]) -> int:
        params = {"name": name, "arguments": arguments}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        return ask(self.person.service.mcp_url, "POST", message, JSON_KIND | self._bearer())[0]

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.person.access}"}

    def open_page(self, path: str) -> int:
        return ask(f"{self.person.service.web_url}{path}", headers={"Cookie": self.person.cookie})[0]

    def find_token(self, page: str, path: str) -> None:
        web = self.person.service.web_url
        there = httpx.get(f"{web}{page}", headers={"Cookie": self.person.cookie}, timeout=30)
        self.tokens[path] = next(f.fields["csrf"] for f in forms(there) if f.action.endswith(path))

    def upload(self, path: str, content: bytes) -> int:
        parts = [("csrf", self.tokens[path].encode()), ('file"; filename="a', content)]
        head = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
        body = b"".join(head % (name.encode(), value) for name, value in parts) + b"--x--\r\n"
        return self._send(path, body, "multipart/form-data; boundary=x")

    def submit(self, path: str) -> int:
        return self._send(path, urlencode({"csrf": self.tokens[path]}).encode(), "application/x-www-form-urlencoded")

    def _send(self, path: str, body: bytes, kind: str) -> int:
        web = self.person.service.web_url
        headers = {"Cookie": self.person.cookie, "Content-Type": kind, "Origin": web}
        return ask(f"{web}{path}", "POST", body, headers)[0]


def list_files(caller: SlowCaller) -> dict[str, Act]:
    """What is read, drawn or written at length, and documents for anyone."""
    picture, statement = draw_slow_picture(), twenty_thousand_lines().encode()
    for page, path in (
        ("/dashboard/settings", "/dashboard/logo"),
        ("/dashboard/spending", "/dashboard/spending"),
        ("/dashboard/account", "/dashboard/account/export"),
    ):
        caller.find_token(page, path)
    slow, mcp = slow_arguments(), caller.person.service.mcp_url
    whole = f"{caller.person.service.web_url}/.well-known/openapi.yaml"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"a": "x" * (4_000_000)}}).encode()
    return {
        **{
            name: partial(caller.call, name, slow[name])
            for name in ("audit_hotel_folio", "import_spending_statement", "generate_branded_pdf")
        },
        "logo": partial(caller.upload, "/dashboard/logo", picture),
        "statement": partial(caller.upload, "/dashboard/spending", statement),
        "copy": partial(caller.submit, "/dashboard/account/export"),
        "openapi": lambda: ask(whole)[0],
        "4 MB": lambda: ask(mcp, "POST", body, JSON_KIND | {"Authorization": f"Bearer {caller.person.access}"})[0],
    }


def list_tools(caller: SlowCaller) -> dict[str, Act]:
    slow = slow_arguments()
    return {name: partial(caller.call, name, slow.get(name) or sample_arguments(TOOLS[name])) for name in sorted(TOOLS)}


def list_pages(caller: SlowCaller) -> dict[str, Act]:
    """All pages that are opened by their address alone."""
    paths = {r.path for r in ROUTES if "GET" in (r.methods or ()) and "{" not in r.path}
    return {path: partial(caller.open_page, path) for path in sorted(paths - {"/signout"})}


GROUPS: dict[str, Callable[[SlowCaller], dict[str, Act]]] = {
    "files": list_files,
    "tools": list_tools,
    "pages": list_pages,
}
