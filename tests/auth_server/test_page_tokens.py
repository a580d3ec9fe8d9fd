"""Tokens of pages: what they say, that they end with the session behind them, and that no one else can make one."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from auth_server.oauth import page_tokens
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import AccessToken, Family, WebSession
from shared.secrets import digest
from tests.auth_server.in_process_browser import BASE, PASSWORD, RESOURCE, Browser, hidden


def issue(browser: Browser, *, read_only: bool = True) -> str:
    """A token as a page makes it for the session of this browser."""
    with transaction() as session:
        row = session.get_one(WebSession, digest(browser.cookie or ""))
        return page_tokens.issue(row, read_only=read_only)


@pytest.fixture
def signed_in(ann: Browser) -> Browser:
    assert ann.sign_in().status_code == 303
    return ann


def test_a_page_reads_for_the_person_who_is_signed_in(signed_in: Browser) -> None:
    claims = signed_in.introspect(issue(signed_in))
    assert 120 <= claims.pop("exp") - claims.pop("iat") <= 240
    assert claims == {
        "active": True,
        "iss": BASE,
        "sub": signed_in.public_id,
        "aud": RESOURCE,
        "client_id": "award-travel-dashboard",
        "client_name": "Dashboard",
        "scope": "mcp:read",
        "token_type": "Bearer",
        "family": f"browser:{digest(signed_in.cookie or '')}",
        "page": True,
        "read_only": True,
    }


def test_a_form_may_change_and_never_administer(signed_in: Browser) -> None:
    with transaction() as session:
        session.execute(update(Account).values(is_admin=True))
    claims = signed_in.introspect(issue(signed_in, read_only=False))
    assert (claims["active"], claims.get("read_only"), claims.get("administer")) == (True, None, None)


def test_nothing_is_stored_and_two_minutes_have_one_token(
    signed_in: Browser, later: Callable[[timedelta], None]
) -> None:
    first = issue(signed_in)
    later(timedelta(seconds=119))
    assert issue(signed_in) == first
    later(timedelta(seconds=1))
    assert issue(signed_in) != first
    with transaction() as session:
        assert [session.scalar(select(func.count()).select_from(table)) for table in (Family, AccessToken)] == [0, 0]


def test_it_ends_with_its_minutes(signed_in: Browser, later: Callable[[timedelta], None]) -> None:
    token = issue(signed_in)
    later(timedelta(seconds=239))
    assert signed_in.alive(token)
    later(timedelta(seconds=1))
    assert not signed_in.alive(token)


def test_what_is_changed_in_it_makes_it_worthless(signed_in: Browser, bob: Browser) -> None:
    bob.sign_in()
    token = issue(signed_in)
    marks = len("awt_pt_") + 64 + 10
    other = digest(bob.cookie or "")
    for forged in (
        token.replace(digest(signed_in.cookie or ""), other),
        token[:marks] + "w" + token[marks + 1 :],
        token[: marks - 1] + "f" + token[marks:],
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        token + "0",
        token.upper(),
    ):
        assert not signed_in.alive(forged)
    assert signed_in.alive(token)


def test_a_key_that_was_changed_still_reads_what_it_signed(signed_in: Browser, configure: Any) -> None:
    token = issue(signed_in)
    configure(SECRET_KEYS="another-key-0123456789abcdef,test-key-one-0123456789abcdef-0123")
    assert signed_in.alive(token)
    configure(SECRET_KEYS="another-key-0123456789abcdef,third-key-0123456789abcdef")
    assert not signed_in.alive(token)


def sign_out(browser: Browser) -> None:
    browser.post("/signout", {"csrf": hidden(browser.get("/dashboard").text, "csrf")})


def change_password(browser: Browser) -> None:
    page = browser.get("/dashboard/account").text.split('action="/dashboard/account/password"')[1]
    fields = {"csrf": hidden(page, "csrf"), "current": PASSWORD, "password": "another long password 7"}
    assert browser.post("/dashboard/account/password", fields).status_code == 303


def sign_in_again(browser: Browser) -> None:
    assert browser.sign_in().status_code == 303


@pytest.mark.parametrize("end", [sign_out, change_password, sign_in_again])
def test_it_ends_with_the_session_and_the_tool_servers_are_told(
    signed_in: Browser, published_events: list[dict[str, Any]], end: Callable[[Browser], None]
) -> None:
    token, family = issue(signed_in), {"family": f"browser:{digest(signed_in.cookie or '')}"}
    end(signed_in)
    assert not signed_in.alive(token)
    assert family in published_events


def test_a_session_that_was_never_signed_in_has_no_token_and_no_event(
    stranger: Browser, ann: Browser, published_events: list[dict[str, Any]]
) -> None:
    stranger.get("/signin")
    assert not stranger.alive(issue(stranger))
    ann.sign_in()
    assert [event for event in published_events if "family" in event] == []


def test_a_closed_account_has_none(signed_in: Browser) -> None:
    token = issue(signed_in)
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=func.now()))
    assert not signed_in.alive(token)
