"""Callers who do nothing wrong: what they ask for, how long their answers take, and what their servers hold."""

import http.client
import json
import os
import smtplib
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from tests.performance.hostile_callers import draw_address
from tests.shared.domain.confirmations.mails import mail
from tests.support.oauth_browser import forms, tokens
from tests.support.service import PASSWORD, Service

SENDER = "someone@example.test"
Headers = dict[str, str]


def sign_in(service: Service, email: str) -> str:
    """The Cookie header of a browser in which this person is signed in."""
    with httpx.Client(base_url=service.web_url, timeout=20) as browser:
        page = browser.get("/signin")
        form = next(f for f in forms(page) if "password" in f.fields)
        values = form.fields | {"email": email, "password": PASSWORD}
        answer = browser.post(form.action or "/signin", data=values, headers={"Origin": service.web_url})
        assert answer.status_code == 303, answer.text
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def ask(
    url: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Status and body, by its own connection from its own address, as someone new would make it."""
    parts = urlsplit(url)
    line = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30, source_address=(draw_address(), 0))
    try:
        line.request(method, parts.path, body, {"Connection": "close"} | dict(headers or {}))
        answer = line.getresponse()
        return answer.status, answer.read()
    finally:
        line.close()


@dataclass
class Person:
    """Someone with an account, a browser, an application and a mailbox, who uses all of them."""

    service: Service
    email: str
    cookie: str
    token: dict[str, Any]
    access: str  # a token that is never renewed

    def open_page(self) -> None:
        status, body = ask(f"{self.service.web_url}/dashboard", headers={"Cookie": self.cookie})
        assert (status, self.email.encode() in body) == (200, True), (status, body)

    def renew_token(self) -> None:
        form = {"grant_type": "refresh_token", "refresh_token": self.token["refresh_token"]}
        form["client_id"] = self.token["client"]["client_id"]
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, body = ask(f"{self.service.web_url}/oauth/token", "POST", urlencode(form).encode(), kind)
        assert status == 200, body
        self.token |= json.loads(body)

    def open_sign_in(self) -> None:
        status, body = ask(f"{self.service.web_url}/signin")
        assert (status, b"password" in body) == (200, True), (status, body)

    def list_trips(self) -> None:
        self.call(self.service.mcp_url, "list_trips")

    def call(self, url: str, name: str = "get_usage") -> None:
        params = {"name": name, "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Authorization": f"Bearer {self.access}", "Content-Type": "application/json"}
        status, body = ask(url, "POST", json.dumps(message).encode(), headers)
        assert (status, json.loads(body)["result"]["isError"]) == (200, False), body

    def call_directly(self) -> None:
        self.call(self.service.mcp_url)

    def call_by_the_web_address(self) -> None:
        self.call(f"{self.service.web_url}/mcp")


def send_mail(port: int, mailbox: str) -> None:
    """The same mail again and again: it is stored once, and answered with 250 each time."""
    with smtplib.SMTP("127.0.0.1", port, timeout=30) as client:
        assert client.sendmail(SENDER, [mailbox], mail("Grüße")) == {}


def settle(service: Service, name: str, *options: str) -> Person:
    email = service.person(name, *options)
    renewed, lasting = (tokens(service.mcp_url, email, PASSWORD) for _ in range(2))
    return Person(service, email, sign_in(service, email), renewed, lasting["access_token"])


@dataclass
class Timings:
    """Milliseconds of each call, by its name."""

    by_call: dict[str, list[float]] = field(default_factory=dict)

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(values) for name, values in self.by_call.items()}


def time_calls(calls: Mapping[str, Callable[[], None]], rounds: int, timings: Timings | None = None) -> Timings:
    """So many rounds of all calls, one after the other; added to `timings`."""
    timings = timings or Timings({name: [] for name in calls})
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            timings.by_call[name].append((time.perf_counter() - start) * 1000)
    return timings


def count_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_mebibytes(pid: int) -> float:
    (line,) = (x for x in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines() if "VmRSS" in x)
    return int(line.split()[1]) / 1024
