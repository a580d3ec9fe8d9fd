"""Sign-in: sessions, forms that only this site can send, guessing, and where a person lands afterwards."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from auth_server.accounts import signin
from auth_server.accounts.signin import safe_return_path
from auth_server.app import create_app
from auth_server.web import flows
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import WebSession
from shared.redis import connect, key
from shared.secrets import digest
from tests.auth_server.in_process_browser import BASE, PASSWORD, Browser, hidden


def signed_in(browser: Browser) -> bool:
    return bool(browser.get("/dashboard").status_code == 200)


def test_sign_in_opens_the_dashboard_and_sign_out_closes_it(ann: Browser) -> None:
    assert ann.get("/dashboard").headers["location"] == "/signin?return_to=/dashboard"
    entered = ann.sign_in()
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard")
    page = ann.get("/dashboard")
    assert "ann@example.test" in page.text
    old = ann.cookie
    response = ann.post("/signout", {"csrf": _signout_csrf(page.text)})
    assert (response.status_code, response.headers["location"]) == (303, "/")
    ann.cookie = old
    assert not signed_in(ann)


def _signout_csrf(page: str) -> str:
    return hidden(page[page.index("/signout") :], "csrf")


def test_sign_out_needs_its_own_form(ann: Browser) -> None:
    ann.sign_in()
    assert ann.post("/signout", {"csrf": "x"}).status_code == 403
    assert ann.get("/signout").status_code == 405
    assert signed_in(ann)


@pytest.mark.parametrize("csrf", ["", "x", "\u00e9\u4e16", "0" * 64, "x" * 4000])
def test_the_form_is_refused_without_its_own_token(ann: Browser, csrf: str) -> None:
    answer = ann.sign_in(csrf=csrf)
    assert answer.status_code == 403
    assert not signed_in(ann)


def test_a_form_that_is_too_long_is_answered_with_a_page(ann: Browser) -> None:
    answer = ann.sign_in(csrf="x" * 20_000)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "This form is too long" in answer.text


def test_the_form_is_refused_without_or_with_another_cookie(ann: Browser, bob: Browser) -> None:
    csrf = hidden(ann.get("/signin").text, "csrf")
    bob.get("/signin")
    fields = {"csrf": csrf, "return_to": "", "email": bob.email, "password": PASSWORD}
    assert bob.post("/signin", fields).status_code == 403
    bob.cookie = None
    assert bob.post("/signin", fields).status_code == 403


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"origin": BASE}, True),
        ({"origin": BASE, "sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({}, True),
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, True),
        ({"host": "localhost:8000", "origin": BASE}, False),
        ({"origin": "http://localhost:8000"}, False),
        ({"origin": "null"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "https://127.0.0.1:8000"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
    ],
)
def test_a_form_counts_only_from_the_host_it_is_sent_to(ann: Browser, headers: dict[str, str], allowed: bool) -> None:
    csrf = hidden(ann.get("/signin").text, "csrf")
    fields = {"csrf": csrf, "return_to": "", "email": ann.email, "password": PASSWORD}
    assert ann.post("/signin", fields, headers=headers).status_code == (303 if allowed else 403)


def test_the_identifier_rotates_and_the_planted_one_is_dead(ann: Browser) -> None:
    csrf = hidden(ann.get("/signin").text, "csrf")
    planted = ann.cookie
    ann.sign_in()
    first = ann.cookie
    assert first != planted
    ann.cookie = planted
    assert not signed_in(ann)
    fields = {"csrf": csrf, "return_to": "", "email": ann.email, "password": PASSWORD}
    assert ann.post("/signin", fields).status_code == 403
    ann.cookie = first
    ann.sign_in()
    assert ann.cookie != first
    ann.cookie = first
    assert not signed_in(ann)


def test_cookie_attributes_locally(ann: Browser) -> None:
    cookie = ann.sign_in().headers["set-cookie"]
    assert cookie.startswith("award=")
    for part in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie


def test_cookie_attributes_under_https(clean: None, configure: Any) -> None:
    configure(WEB_URL="https://travel.example", MCP_URL="https://tools.travel.example/mcp")
    flows.limiter.cache_clear()
    with TestClient(create_app(), base_url="https://travel.example") as host:
        answer = host.get("/signin")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-award=")
    assert "Secure" in cookie
    assert "Domain" not in cookie
    assert answer.headers["strict-transport-security"].startswith("max-age=")


def test_unknown_account_and_wrong_password_read_the_same(ann: Browser, stranger: Browser) -> None:
    wrong = ann.sign_in(password="not this one")
    unknown = stranger.sign_in(email="nobody@example.test")
    empty = stranger.sign_in(email="")
    strange = stranger.sign_in(email="not an address \u2603")
    assert {a.status_code for a in (wrong, unknown, empty, strange)} == {401}
    for answer in (wrong, unknown, empty, strange):
        assert "The email address or the password is wrong." in answer.text


@pytest.mark.usefixtures("real_hashing")
def test_both_take_work_of_the_same_kind(ann: Browser, stranger: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    from argon2 import PasswordHasher

    verified = []
    real = PasswordHasher.verify
    monkeypatch.setattr(PasswordHasher, "verify", lambda self, h, p: verified.append(h[:30]) or real(self, h, p))
    ann.sign_in(password="not this one")
    stranger.sign_in(email="nobody@example.test")
    assert len(verified) == 2
    assert verified[0] == verified[1] == "$argon2id$v=19$m=19456,t=2,p=1"


def test_a_disabled_or_unconfirmed_account_stays_outside(ann: Browser, bob: Browser) -> None:
    ann.sign_in()
    with transaction() as session:
        session.execute(update(Account).where(Account.email == ann.email).values(disabled_at=Account.created_at))
        session.execute(update(Account).where(Account.email == bob.email).values(email_confirmed_at=None))
    page = ann.get("/dashboard")  # the browser that is signed in still
    assert (page.status_code, "This account is suspended" in page.text) == (403, True)
    refused = ann.sign_in()
    assert (refused.status_code, "This account is suspended" in refused.text) == (403, True)
    assert "is wrong" in ann.sign_in(password="not this one").text  # no one else learns of it
    assert "confirm your email" in bob.sign_in().text


@pytest.mark.parametrize("cookie", ["x", "x" * 5000, "a b", '"', "%00", "award", "\\"])
def test_a_forged_cookie_counts_as_signed_out(ann: Browser, cookie: str) -> None:
    ann.cookie = cookie
    assert not signed_in(ann)
    answer = ann.host.get("/dashboard", headers={"cookie": "award=\u00e9\u4e16".encode()})
    assert answer.status_code == 302


def test_sessions_end_when_idle_and_absolutely(ann: Browser, later: Any) -> None:
    ann.sign_in()
    later(timedelta(days=13))
    assert signed_in(ann)
    later(timedelta(days=13))
    assert signed_in(ann)
    later(timedelta(days=5))
    assert not signed_in(ann)
    ann.cookie = None
    ann.sign_in()
    later(timedelta(days=15))
    assert not signed_in(ann)


def test_ten_wrong_passwords_close_one_address_and_leave_others_open(ann: Browser) -> None:
    codes = [ann.sign_in(password=f"wrong {n} password").status_code for n in range(12)]
    assert codes == [401] * 10 + [429] * 2
    assert ann.sign_in().status_code == 429
    answer = ann.sign_in()
    assert int(answer.headers["retry-after"]) > 0
    elsewhere = Browser(TestClient(ann.host.app, base_url=BASE, client=("198.51.100.7", 1)), ann.email)
    elsewhere.host.follow_redirects = False
    assert elsewhere.sign_in().status_code == 303


def test_a_refused_sign_in_makes_no_counter_for_the_name_it_tried(
    stranger: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signin, "PER_ADDRESS", 2)
    for number in range(2):
        assert stranger.sign_in(email=f"guess{number}@example.test").status_code == 401
    before = sorted(connect().scan_iter(key("limit", "*")))
    for number in range(2, 6):
        assert stranger.sign_in(email=f"guess{number}@example.test").status_code == 429
    assert sorted(connect().scan_iter(key("limit", "*"))) == before


def test_a_guessed_account_stays_open_where_its_owner_was_before(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auth_server.accounts.signin.PER_ACCOUNT", 6)
    home = Browser(_at(ann, "192.0.2.1"), ann.email)
    assert home.sign_in().status_code == 303
    for n in range(6):
        Browser(_at(ann, f"198.51.100.{n}"), ann.email).sign_in(password="wrong password")
    assert Browser(_at(ann, "198.51.100.99"), ann.email).sign_in().status_code == 429
    home.cookie = None
    assert home.sign_in().status_code == 303


def _at(browser: Browser, peer: str) -> TestClient:
    return TestClient(browser.host.app, base_url=BASE, client=(peer, 1), follow_redirects=False)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "///evil.example/dashboard",
        "/dashboard\n",
        "dashboard",
        "/oauth/token",
        "/signout",
        "/dashboard/../signout",
        "/\u00e9",
        "javascript:alert(1)",
        "/dashboard@evil.example",
    ],
)
def test_nobody_is_sent_anywhere_but_to_our_own_pages(value: str | None) -> None:
    assert safe_return_path(value) == "/dashboard"


def test_our_own_pages_are_kept_with_their_query() -> None:
    pages = ("/dashboard", "/dashboard/api-apps/new", "/dashboard/bookings/flights/17/edit", "/dashboard/inbox/3Xq_z")
    for good in ("/oauth/authorize?a=b&c=%2F", *pages):
        assert safe_return_path(good) == good


def test_only_the_hash_of_a_cookie_is_stored(ann: Browser) -> None:
    ann.sign_in()
    with transaction() as session:
        stored = session.scalars(select(WebSession.id_hash)).all()
    assert digest(ann.cookie or "") in stored
    assert ann.cookie not in stored


def test_forms_without_a_cookie_are_limited_by_address(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auth_server.accounts.signin.FORMS_PER_HOUR", 2)
    answers = []
    for _ in range(3):
        ann.cookie = None
        answers.append(ann.get("/signin").status_code)
    assert answers == [200, 200, 429]


def test_when_too_many_wait_for_hashing_the_next_is_told_to_come_back(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "MAX_WAITING_FOR_HASHING", 0)
    assert ann.sign_in().status_code == 429


def test_the_form_shows_who_is_signed_in_and_can_change_the_person(ann: Browser, bob: Browser) -> None:
    ann.sign_in()
    assert ann.email in ann.get("/signin").text
    assert ann.sign_in(email=bob.email).status_code == 303
    assert bob.email in ann.get("/dashboard").text
