"""A person on the way to another provider and back, step by step."""

from typing import Any
from urllib.parse import urlsplit

import httpx
from sqlalchemy import select

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.linked_identities import LinkedIdentity
from tests.auth_server.in_process_browser import Browser, hidden

METHODS = "/dashboard/sign-in-methods"


def press(browser: Browser, name: str = "acme", page: str = "/signin", **changed: str) -> Any:
    """The answer to the button "Sign in with ..."."""
    content = browser.get(page).text
    form = content.split(f'action="/signin/with/{name}"')[1]
    fields = {"csrf": hidden(form, "csrf"), "return_to": hidden(form, "return_to")}
    return browser.post(f"/signin/with/{name}", fields | changed)


def allow(answer: Any) -> str:
    """What the provider sends the browser back to: path and query."""
    assert answer.status_code == 303, answer.text
    page = httpx.get(answer.headers["location"], trust_env=False).text
    parts = urlsplit(page.split("id=allow href=")[1].split('"')[1])
    return f"{parts.path}?{parts.query}"


def come_back(browser: Browser, name: str = "acme", **changed: str) -> Any:
    return browser.get(allow(press(browser, name, **changed)))


def is_in(browser: Browser) -> bool:
    return bool(browser.get("/dashboard").status_code == 200)


def accounts() -> list[str | None]:
    with transaction() as session:
        return list(session.scalars(select(Account.email).order_by(Account.id)))


def identities() -> list[tuple[str, str, str]]:
    with transaction() as session:
        rows = session.scalars(select(LinkedIdentity).order_by(LinkedIdentity.id))
        return [(row.issuer, row.subject, row.address) for row in rows]


def answer_link_page(browser: Browser, password: str) -> Any:
    page = browser.get("/signin/link").text
    return browser.post("/signin/link", {"csrf": hidden(page, "csrf"), "password": password})
