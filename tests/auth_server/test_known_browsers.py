"""Known browsers: a new one is told to the owner, the first ever and those of before are not."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from auth_server.accounts import signin
from auth_server.app import create_app
from auth_server.sweep import sweep
from auth_server.web import flows
from shared.db.base import transaction
from shared.db.known_browsers import KnownBrowser
from shared.db.security_events import SecurityEvent
from shared.secrets import digest
from tests.auth_server.in_process_browser import PASSWORD, Browser
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_account import another
from tests.auth_server.test_password_reset import reset
from tests.auth_server.test_security_events import press

pytestmark = pytest.mark.usefixtures("mails")


def subjects(mails: Mails) -> list[str]:
    return [mail["Subject"] for mail in mails()]


def sign_in_anew(browser: Browser) -> None:
    """The same browser, signed out in the meantime."""
    browser.cookie = None
    assert browser.sign_in().status_code == 303


def test_the_first_browser_ever_and_the_same_again_are_not_told(ann: Browser, mails: Mails) -> None:
    for _ in range(3):
        sign_in_anew(ann)
    assert subjects(mails) == []
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(KnownBrowser)) == 1


def test_a_new_browser_is_told_once_with_its_name(ann: Browser, mails: Mails) -> None:
    ann.sign_in()
    other = another(ann)
    (mail,) = mails()
    assert (mail["To"], mail["Subject"]) == (ann.email, "A new browser signed in")
    assert "Someone signed in to your account with Firefox on Linux." in text(mail)
    sign_in_anew(other)
    sign_in_anew(ann)
    assert len(mails()) == 1
    with transaction() as session:
        (event,) = session.scalars(select(SecurityEvent)).all()
        assert (event.kind, event.browser) == ("new_browser", "Firefox on Linux")


def test_a_cookie_that_was_planted_makes_no_browser_known(ann: Browser, bob: Browser, mails: Mails) -> None:
    """Bob's cookie in Ann's browser is replaced by one that Bob does not have."""
    ann.sign_in()
    bob.sign_in()
    planted = Browser(ann.host, ann.email)
    planted.known = bob.known
    planted.sign_in()
    assert planted.known != bob.known
    thief = Browser(ann.host, ann.email)
    thief.known = bob.known
    thief.sign_in()
    assert subjects(mails) == ["A new browser signed in"] * 2


def test_one_browser_is_known_to_each_person_who_uses_it(ann: Browser, bob: Browser, mails: Mails) -> None:
    ann.sign_in()
    bob.sign_in()
    shared = Browser(ann.host)
    for _ in range(2):
        for email in (ann.email, bob.email):
            shared.cookie = None
            shared.sign_in(email=email)
    assert sorted(mail["To"] for mail in mails()) == [ann.email, bob.email]


def test_a_browser_that_is_signed_in_is_known_without_the_cookie(ann: Browser, mails: Mails) -> None:
    """As all are that signed in before there was one."""
    ann.sign_in()
    ann.known = None
    assert ann.sign_in().status_code == 303
    assert subjects(mails) == []


def test_after_a_year_without_use_a_browser_is_new(ann: Browser, mails: Mails, later: Any) -> None:
    ann.sign_in()
    other = another(ann)
    later(timedelta(days=366))
    sign_in_anew(other)
    assert subjects(mails) == ["A new browser signed in"] * 2
    sweep()
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(KnownBrowser)) == 1


def test_this_was_not_me_forgets_every_browser(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    thief = another(ann)
    press(stranger, link(mails()[0]))
    reset(stranger, link(mails()[-1]), PASSWORD)
    before = len(mails())
    sign_in_anew(thief)
    assert subjects(mails)[before:] == ["A new browser signed in"]


def test_only_so_many_are_kept(ann: Browser, monkeypatch: pytest.MonkeyPatch, later: Any) -> None:
    monkeypatch.setattr(signin, "MAX_BROWSERS", 2)
    for _ in range(4):
        assert Browser(ann.host, ann.email).sign_in().status_code == 303
        later(timedelta(minutes=1))
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(KnownBrowser)) == 2


def test_the_cookie_stays_for_a_year_and_is_stored_as_a_hash(ann: Browser) -> None:
    cookies = ann.sign_in().headers.get_list("set-cookie")
    (cookie,) = [cookie for cookie in cookies if cookie.startswith("award-browser=")]
    for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=31536000"):
        assert part in cookie
    with transaction() as session:
        assert session.scalars(select(KnownBrowser.id_hash)).all() == [digest(ann.known or "")]


def test_under_https_the_cookie_is_bound_to_the_host(clean: None, configure: Any) -> None:
    configure(WEB_URL="https://travel.example", MCP_URL="https://tools.travel.example/mcp")
    flows.limiter.cache_clear()
    flows.hashing_limiter.cache_clear()
    from auth_server.accounts.accounts import create_account
    from tests.auth_server.in_process_browser import hidden

    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    with TestClient(create_app(), base_url="https://travel.example", follow_redirects=False) as host:
        csrf = hidden(host.get("/signin").text, "csrf")
        answer = host.post("/signin", data={"csrf": csrf, "email": "ann@example.test", "password": PASSWORD})
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-award-browser=")]
    assert "Secure" in cookie
    assert "Domain" not in cookie


@pytest.mark.parametrize("value", ["x", "x" * 5000, '"', "\\"])
def test_a_forged_cookie_is_a_new_browser(ann: Browser, mails: Mails, value: str) -> None:
    ann.sign_in()
    forged = Browser(ann.host, ann.email)
    forged.known = value
    assert forged.sign_in().status_code == 303
    assert subjects(mails) == ["A new browser signed in"]
    assert "with a browser." in text(mails()[0])
