"""One table of refreshes and what becomes of each."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import Client, Family, RefreshToken
from shared.secrets import digest, mint
from tests.auth_server.in_process_browser import RESOURCE, Browser

Fields = dict[str, Any]
Prepare = Callable[[Browser, Fields, Any], Fields]


@dataclass(frozen=True)
class Outcome:
    status: int
    error: str | None
    refresh_tokens: int  # stored after the request, of all lines
    revoked_for: str | None = None  # the reason why the family was ended


@dataclass(frozen=True)
class Case:
    name: str
    prepare: Prepare  # from a fresh line to the fields that differ from an ordinary refresh
    outcome: Outcome


def send(**fields: Any) -> Prepare:
    return lambda browser, line, later: fields


def store(statement: Any) -> Prepare:
    def prepare(browser: Browser, line: Fields, later: Any) -> Fields:
        with transaction() as session:
            session.execute(statement)
        return {}

    return prepare


def present_access_token(browser: Browser, line: Fields, later: Any) -> Fields:
    return {"refresh_token": line["access_token"]}


def use_another_client(browser: Browser, line: Fields, later: Any) -> Fields:
    return {"client_id": browser.register(client_name="Other")}


def lose_a_response(browser: Browser, line: Fields, later: Any) -> Fields:
    browser.refresh(line["client_id"], line["refresh_token"])
    return {}


def use_the_successor(browser: Browser, line: Fields, later: Any) -> Fields:
    successor = browser.refresh(line["client_id"], line["refresh_token"]).json()
    browser.refresh(line["client_id"], successor["refresh_token"])
    return {}


def wait_after_rotation(browser: Browser, line: Fields, later: Any) -> Fields:
    browser.refresh(line["client_id"], line["refresh_token"])
    later(timedelta(seconds=61))
    return {}


def wait_an_hour_after_rotation(browser: Browser, line: Fields, later: Any) -> Fields:
    browser.refresh(line["client_id"], line["refresh_token"])
    later(timedelta(hours=1, seconds=1))
    return {}


def use_the_successor_and_wait(browser: Browser, line: Fields, later: Any) -> Fields:
    use_the_successor(browser, line, later)
    later(timedelta(seconds=61))
    return {}


ISSUED = Outcome(200, None, 2)
INVALID_GRANT = Outcome(400, "invalid_grant", 1)
INVALID_CLIENT = Outcome(401, "invalid_client", 1)
CASES = [
    Case("ordinary", send(), ISSUED),
    Case("with the authorized resource", send(resource=RESOURCE), ISSUED),
    Case("with the resource spelt differently", send(resource=RESOURCE + "/"), ISSUED),
    Case("with a scope", send(scope="mcp:read"), ISSUED),
    Case("with an empty scope", send(scope=""), ISSUED),
    Case("after a lost response", lose_a_response, ISSUED),
    Case("after its successor was used", use_the_successor, Outcome(400, "invalid_grant", 3)),
    Case("after the retry window", wait_after_rotation, Outcome(400, "invalid_grant", 2)),
    Case("an hour later", wait_an_hour_after_rotation, Outcome(400, "invalid_grant", 2, "refresh_replay")),
    Case("after both window and use", use_the_successor_and_wait, Outcome(400, "invalid_grant", 3, "refresh_replay")),
    Case("for another resource", send(resource="https://evil.example/mcp"), Outcome(400, "invalid_target", 1)),
    Case("with a malformed scope", send(scope='a"b'), Outcome(400, "invalid_scope", 1)),
    Case("with an unknown token", send(refresh_token=mint("awt_rt_")), INVALID_GRANT),
    Case("with an access token", present_access_token, INVALID_GRANT),
    Case("without a token", send(refresh_token=None), Outcome(400, "invalid_request", 1)),
    Case("by another client", use_another_client, INVALID_GRANT),
    Case("by an unknown client", send(client_id="nobody"), INVALID_CLIENT),
    Case("of a revoked token", store(update(RefreshToken).values(revoked_at=RefreshToken.issued_at)), INVALID_GRANT),
    Case(
        "of a revoked family",
        store(update(Family).values(revoked_at=Family.created_at, reason="test")),
        Outcome(400, "invalid_grant", 1, "test"),
    ),
    Case("of a disabled account", store(update(Account).values(disabled_at=Account.created_at)), INVALID_GRANT),
    Case("of a disabled client", store(update(Client).values(disabled_at=Client.created_at)), INVALID_CLIENT),
    Case(
        "of a client that has a secret",
        store(update(Client).values(auth_method="client_secret", secret_hash=digest("s"))),
        INVALID_CLIENT,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_refresh_has_its_outcome(ann: Browser, case: Case, later: Any) -> None:
    line = ann.tokens()
    changed = case.prepare(ann, line, later)
    fields = {"client_id": line["client_id"], "refresh_token": line["refresh_token"], "grant_type": "refresh_token"}
    response = ann.token(fields | changed)
    body = response.json()
    with transaction() as session:
        stored = session.scalar(select(func.count()).select_from(RefreshToken))
        reason = session.scalar(select(Family.reason))
    assert Outcome(response.status_code, body.get("error"), stored or 0, reason) == case.outcome
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")
    if response.status_code == 200:
        assert body.keys() == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
        assert (body["token_type"], body["expires_in"], body["scope"]) == ("Bearer", 3600, "mcp:read openid email")
        assert _successor(body["refresh_token"]) == (RESOURCE, None)
        assert ann.introspect(body["access_token"])["aud"] == RESOURCE


def _successor(token: str) -> tuple[str, Any]:
    with transaction() as session:
        row = session.get_one(RefreshToken, digest(token))
        assert row.issued_at <= clock.now()
        return row.resource, row.rotated_at
