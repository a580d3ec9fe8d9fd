"""Introspection: who may ask, what is said about a good token, and that nothing is said about any other."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.secrets import mint
from tests.auth_server.in_process_browser import BASE, BASIC, RESOURCE, Browser
from tests.auth_server.test_token import basic, confidential


def ask(browser: Browser, token: str | None, headers: dict[str, str] | None = None, **more: str) -> Any:
    fields = {"token": token, **more} if token is not None else more
    return browser.host.post("/oauth/introspect", data=fields, headers=headers)


def test_a_good_token_is_described_and_nothing_personal_is_said(ann: Browser) -> None:
    tokens = ann.tokens()
    answer = ask(ann, tokens["access_token"], {"authorization": BASIC})
    assert answer.headers["cache-control"] == "no-store"
    claims = answer.json()
    assert claims.pop("exp") - claims.pop("iat") == 3600
    assert len(claims.pop("family")) == 32
    assert claims == {
        "active": True,
        "iss": BASE,
        "sub": ann.public_id,
        "aud": RESOURCE,
        "client_id": tokens["client_id"],
        "client_name": "Test application",
        "scope": "mcp:read openid email",
        "token_type": "Bearer",
    }
    assert ann.email not in answer.text
    assert tokens["access_token"] not in answer.text


@pytest.mark.parametrize("garbage", ["\u00e9", "awt_at_\u65e5\u672c", "x y"])
def test_a_token_in_any_script_is_just_wrong(ann: Browser, garbage: str) -> None:
    client_id = ann.register()
    assert ann.introspect(garbage) == {"active": False}
    gone = ann.host.post("/oauth/revoke", data={"token": garbage, "client_id": client_id})
    assert (gone.status_code, gone.content) == (200, b"")
    assert ann.redeem(client_id, garbage).json()["error"] == "invalid_grant"
    assert ann.refresh(client_id, garbage).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("header", [None, "Basic eDp5", BASIC[:-4], "Bearer x", "Basic \u00e9", BASIC + " x"])
def test_only_our_own_client_may_ask(ann: Browser, header: str | None) -> None:
    headers = {"authorization": header.encode("utf-8")} if header else None
    answer = ask(ann, ann.tokens()["access_token"], headers)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert answer.headers["www-authenticate"].startswith("Basic realm=")


def test_an_application_of_a_person_may_not_ask(ann: Browser) -> None:
    client_id, secret = confidential(ann)
    assert ask(ann, "x", basic(client_id, secret)).status_code == 401


def test_the_secret_in_the_body_is_not_accepted(ann: Browser) -> None:
    mine = {"client_id": "award-travel-services", "client_secret": "test-service-secret-0123456789-01"}
    assert ask(ann, "x", None, **mine).status_code == 401


def test_everything_else_is_exactly_inactive(ann: Browser, later: Any) -> None:
    tokens = ann.tokens()
    code = ann.code(tokens["client_id"])
    for token in (tokens["refresh_token"], code, "x", mint("awt_at_"), ann.cookie, "\u007e" * 4000):
        assert ask(ann, token, {"authorization": BASIC}).json() == {"active": False}
    later(timedelta(hours=1, seconds=1))
    assert ask(ann, tokens["access_token"], {"authorization": BASIC}).json() == {"active": False}


def test_a_disabled_account_has_no_active_token(ann: Browser) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=Account.created_at))
    assert ann.introspect(tokens["access_token"]) == {"active": False}


def test_the_token_field_is_required_once(ann: Browser) -> None:
    headers = {"authorization": BASIC}
    assert ask(ann, None, headers).json()["error"] == "invalid_request"
    assert ask(ann, "", headers).json()["error"] == "invalid_request"
    assert ann.host.post("/oauth/introspect", data={"token": ["a", "b"]}, headers=headers).status_code == 400


def test_our_own_programs_reach_it_by_any_name_of_the_host(ann: Browser) -> None:
    answer = ask(ann, "x", {"authorization": BASIC, "host": "auth:8000"})
    assert answer.json() == {"active": False}


def test_many_at_once_each_get_their_own_answer(ann: Browser) -> None:
    client_id = ann.register()
    good = [ann.redeem(client_id, ann.code(client_id)).json()["access_token"] for _ in range(4)]
    presented = [*good, *(mint("awt_at_") for _ in range(4))] * 5
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ann.introspect, presented))
    assert [a["active"] for a in answers] == [t in good for t in presented]
    assert len({a["family"] for a in answers if a["active"]}) == 4


def test_a_failed_statement_is_told_and_the_next_works(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    token = ann.tokens()["access_token"]

    def away(*_: Any) -> Any:
        raise OperationalError("select", {}, Exception("gone"))

    with monkeypatch.context() as broken:
        broken.setattr("auth_server.oauth.introspection.find_live_token", away)
        answer = ask(ann, token, {"authorization": BASIC})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert ann.alive(token)


def test_a_connection_that_died_in_the_pool_is_replaced_unnoticed(ann: Browser) -> None:
    from sqlalchemy import text

    from shared.db.base import engine

    token = ann.tokens()["access_token"]
    assert ann.alive(token)
    with engine().connect() as other:
        ours = "pid <> pg_backend_pid() and datname = current_database()"
        other.execute(text(f"select pg_terminate_backend(pid) from pg_stat_activity where {ours}"))
    assert ann.alive(token)
    engine().dispose()  # its own connection died within the time it is taken to be alive
