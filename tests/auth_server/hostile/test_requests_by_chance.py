"""Requests by chance, of a stranger and of someone signed in: no failure of ours, no way out, no one else's rows."""

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select, update

from auth_server.accounts import api_keys
from auth_server.web import sessions
from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from shared import clock
from shared.db.accounts import Account
from shared.db.base import Base, transaction
from shared.db.clients import BrandedPdf
from shared.db.oauth import Client
from tests.auth_server.hostile.requests_by_chance import Hostile
from tests.auth_server.in_process_browser import BASE, Browser

WORDS_OF_ANN = ("only-of-ann", "ann@example.test")
OWN = {urlsplit(BASE).netloc, "127.0.0.1:18250"}  # this host, and the application whose address was registered
PROVIDER = "/oidc/authorize"  # to where a form leads who wants to sign in by another provider


def own_rows(account_id: int) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in any table that leads to the account."""
    rows = {}
    with transaction() as session:
        for table in Base.metadata.sorted_tables:
            owners = [
                column for column in table.columns for key in column.foreign_keys if key.column.table.name == "accounts"
            ]
            owners += [table.c.id] if table.name == "accounts" else []
            for owner in owners:
                found = session.execute(select(table).where(owner == account_id).order_by(*table.primary_key.columns))
                rows[f"{table.name}.{owner.name}"] = [tuple(row) for row in found]
    return rows


def fill(account_id: int) -> list[str]:
    """Rows of each kind a form can name; their ids."""
    with transaction() as session:
        key, _ = api_keys.issue(session, account_id, "only-of-ann")
        facts = {"content": b"x", "pages": 1, "nonce": "n", "key": "k", "expires_at": clock.now() + timedelta(days=9)}
        pdf = BrandedPdf(account_id=account_id, title="only-of-ann", token_hash="0" * 64, **facts)
        row = {"kind": "manual", "name": "Site", "auth_method": "client_secret", "secret_hash": "0" * 64}
        session.add_all([pdf, Client(client_id="app_of_ann", owner_id=account_id, redirect_uris=[], **row)])
        browser = sessions.open_session(session, account_id)[0]
        session.flush()
        return [str(key.id), str(pdf.id), "app_of_ann", browser.id_hash, str(account_id)]


class Bout:
    def __init__(self, ann: Browser, bob: Browser, seed: int) -> None:
        with transaction() as session:
            session.execute(update(Account).values(plan="pro"))
            ids = {account.email: account.id for account in session.scalars(select(Account))}
        self.host, self.ann = bob.host, ids[ann.email]
        self.hostile = Hostile(Random(seed), ids[bob.email], fill(self.ann))
        self.faults, self.statuses = list[str](), Counter[int]()

    def run(self, times: int) -> None:
        before = own_rows(self.ann)
        for method, target, body, headers in self.hostile.make_requests(times):
            self.host.cookies.clear()
            answer = self.host.request(method, target, content=body, headers=headers)
            self.statuses[answer.status_code] += 1
            if fault := find_fault(answer):
                self.faults.append(f"{fault}: {method} {target[:300]} {body[:300]!r} {headers}")
        if own_rows(self.ann) != before:
            self.faults.append("rows of who sent nothing are changed")


def find_fault(answer: Any) -> str:
    if answer.status_code >= 500 or "Traceback" in answer.text:
        return str(answer.status_code)
    to = urlsplit(answer.headers.get("location", ""))
    if to.netloc and to.netloc not in OWN and to.path != PROVIDER:
        return f"leads to {answer.headers['location']}"
    return next((f"shows {word}" for word in WORDS_OF_ANN if word in answer.text), "")


class _NoRows(Answer):
    """An answer without rows, whatever a tool calls them."""

    def __missing__(self, name: str) -> list[Any]:
        return []


async def _answer(_server: ToolServer, call: ToolCall) -> Answer:
    if call.tool.startswith("list_"):
        paging = {"page": 1, "per_page": 20, "total": 0, "has_more": False}
        return _NoRows(status="ok", message="None.", total_value=_NoRows(amount=None), total=0, paging=paging)
    if call.tool == "get_profile":
        return _NoRows(status="ok", message="None.", profile=_NoRows(email=None))
    return Answer(status="invalid", message="That is not possible.")


@pytest.fixture(autouse=True)
def tool_server_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none here, and a form that needs one says so with 503."""
    monkeypatch.setattr(ToolServer, "call", _answer)


@pytest.mark.slow  # hundreds of generated requests
def test_requests_by_chance_neither_fail_nor_lead_away_nor_reach_another_account(
    ann: Browser, bob: Browser, outside: Any, configure: Any
) -> None:
    configure(CLIENT_DOCUMENT_FETCH="false")
    bout = Bout(ann, bob, 1)
    bout.run(800)
    assert bout.faults == []
    assert {200, 303, 400, 401, 403, 404, 405} <= set(bout.statuses), bout.statuses


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(100, 104))
def test_five_thousand_requests(ann: Browser, bob: Browser, outside: Any, configure: Any, seed: int) -> None:
    configure(CLIENT_DOCUMENT_FETCH="false")
    bout = Bout(ann, bob, seed)
    bout.run(5000)
    assert bout.faults == [], bout.statuses
