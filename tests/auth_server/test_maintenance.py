"""Maintenance on the web host: what everybody is answered, what stays open, and who gets past it."""

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from auth_server.web import middleware
from shared.db.accounts import Account
from shared.db.base import transaction
from tests.auth_server.in_process_browser import BASIC, FORM, PASSWORD, Browser
from tests.support.maintenance import Maintain, maintain

__all__ = ["maintain"]


def _promote(browser: Browser) -> None:
    with transaction() as session:
        session.query(Account).filter_by(public_id=browser.public_id).one().is_admin = True


def test_a_page_is_a_sentence_with_503_and_when_to_come_again(stranger: Browser, maintain: Maintain) -> None:
    maintain("We move <house>.", minutes=10)
    for path in ("/", "/plans", "/dashboard", "/oauth/authorize?client_id=x", "/nowhere"):
        answer = stranger.get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "600"), path
        assert "We move &lt;house&gt;. Expected until about" in answer.text
        assert answer.headers["cache-control"] == "no-store"


def test_programs_are_told_in_their_own_form(host: TestClient, maintain: Maintain) -> None:
    maintain("We move house.")
    rest = host.post("/api/v1/agent/register", json={"agent_name": "x"})
    assert (rest.status_code, rest.headers["retry-after"]) == (503, "60")
    assert (rest.json()["outcome"], rest.json()["detail"]) == ("temporarily_unavailable", "We move house.")
    token = host.post("/oauth/token", content="grant_type=refresh_token", headers=FORM)
    assert (token.status_code, token.headers["retry-after"]) == (503, "60")
    assert token.json() == {"error": "temporarily_unavailable", "error_description": "We move house."}
    assert token.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/.well-known/oauth-authorization-server", "/signin", "/static/passkeys.js"]
)
def test_health_documents_and_the_way_in_stay_open(stranger: Browser, maintain: Maintain, path: str) -> None:
    maintain()
    assert stranger.get(path).status_code == 200


def test_the_tool_server_still_learns_whose_token_it_was_sent(host: TestClient, maintain: Maintain) -> None:
    maintain()
    answer = host.post("/oauth/introspect", content="token=none", headers=FORM | {"authorization": BASIC})
    assert answer.json() == {"active": False}


def test_an_administrator_signs_in_and_gets_past_and_nobody_else_does(
    ann: Browser, bob: Browser, maintain: Maintain
) -> None:
    _promote(ann)
    maintain()
    assert (ann.sign_in(password=PASSWORD).status_code, bob.sign_in(password=PASSWORD).status_code) == (303, 303)
    assert (ann.get("/dashboard").status_code, bob.get("/dashboard").status_code) == (200, 503)


def test_nobody_gets_past_while_the_database_is_away(
    ann: Browser, maintain: Maintain, monkeypatch: pytest.MonkeyPatch
) -> None:
    _promote(ann)
    ann.sign_in()
    maintain()

    def away() -> None:
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(middleware, "transaction", away)
    answer = ann.get("/dashboard")
    assert (answer.status_code, "under maintenance" in answer.text) == (503, True)
