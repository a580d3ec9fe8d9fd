"""The operators' pages: no one else sees them, and what changes there acts at once and stands in the trail."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select, update

from auth_server import app as routes
from auth_server.accounts.accounts import find_account
from auth_server.web import sessions
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.operator_actions import OperatorAction
from shared.db.security_events import SecurityEvent
from shared.db.sign_in_methods import AuthenticatorApp
from shared.secrets import seal
from shared.settings import settings
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.keys import is_key_alive, make_key
from tests.auth_server.test_account import signed_in
from tests.auth_server.test_dashboard import send

USERS = "/operate/users"
WHY = "asked for by letter"
PAGES = sorted({route.path for route in routes.OPERATE if "GET" in (route.methods or ())})
FORMS = sorted({route.path for route in routes.OPERATE if "POST" in (route.methods or ())})
Later = Callable[[timedelta], None]


def make_operator(browser: Browser, *, is_admin: bool = True, has_factor: bool = True) -> None:
    """Signed in right now; the second factor is older than that."""
    with transaction() as session:
        account = find_account(session, browser.email)
        assert account is not None
        account.is_admin = is_admin
        if has_factor:
            since = clock.now() - timedelta(days=1)
            app = {"secret_sealed": seal(settings().encryption_keys[0], "A" * 32), "last_time_step": 0}
            session.add(AuthenticatorApp(account_id=account.id, created_at=since, **app))
        _, browser.cookie = sessions.open_session(session, account.id, "Firefox/140.0 Linux")


def trail() -> list[tuple[str, str, str, str | None, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(OperatorAction).order_by(OperatorAction.id)).all()
        return [(row.actor, row.action, row.target, row.detail, row.reason) for row in rows]


def ask_about(browser: Browser, action: str, who: Browser, item: str = "", **fields: str) -> Any:
    """Sends the form of the page that asks, with a reason unless another is given."""
    page = f"{USERS}/{action}?id={who.public_id}" + (f"&item={item}" if item else "")
    sent = {"id": who.public_id, "reason": WHY} | ({"item": item} if item else {}) | fields
    return send(browser, page, f"{USERS}/{action}", **sent)


# --- who sees them


@pytest.mark.parametrize("path", PAGES)
def test_nobody_but_administrators_with_a_second_factor_sees_a_page(ann: Browser, bob: Browser, path: str) -> None:
    nothing = ann.get("/missing")
    assert (nothing.status_code, nothing.text) == (404, ann.get(path).text)
    make_operator(ann, is_admin=False)
    answer = ann.get(f"{path}?id={ann.public_id}")
    assert (answer.status_code, answer.text) == (404, nothing.text)
    make_operator(bob, has_factor=False)
    answer = bob.get(f"{path}?id={ann.public_id}")
    assert (answer.status_code, "Add a second factor first" in answer.text) == (403, True)
    assert ann.public_id not in answer.text


@pytest.mark.parametrize("path", FORMS)
def test_nobody_else_sends_a_form(ann: Browser, bob: Browser, path: str) -> None:
    make_operator(bob, is_admin=False)
    for browser in (ann, bob):
        assert browser.post(path, {"csrf": "x", "id": ann.public_id, "reason": WHY}).status_code == 404
    make_operator(ann)
    assert ann.post(path, {"csrf": "x", "id": bob.public_id, "reason": WHY}).status_code == 403
    assert trail() == []


def test_a_sign_in_of_more_than_ten_minutes_ago_is_made_again(ann: Browser, later: Later) -> None:
    make_operator(ann)
    assert ann.get(USERS).status_code == 200
    later(timedelta(minutes=10, seconds=1))
    answer = ann.get(f"{USERS}?page=2")
    to = urlsplit(answer.headers["location"])
    assert (answer.status_code, to.path) == (302, "/signin")
    assert parse_qs(to.query) == {"return_to": [f"{USERS}?page=2"], "fresh": ["1"]}


def test_a_factor_that_the_sign_in_has_not_shown_does_not_count(ann: Browser) -> None:
    """It may have been added by anyone who had the password alone."""
    make_operator(ann)
    with transaction() as session:
        session.execute(update(AuthenticatorApp).values(created_at=clock.now() + timedelta(seconds=1)))
    answer = ann.get(f"{USERS}/show?id={ann.public_id}")
    assert urlsplit(answer.headers["location"]).path == "/signin"


def test_administrators_are_led_to_them_from_their_account_and_nobody_else(ann: Browser, bob: Browser) -> None:
    bob.sign_in()
    assert "/operate" not in bob.get("/dashboard/account").text
    make_operator(bob, has_factor=False)
    page = bob.get("/dashboard/account").text
    assert ("operators' pages open once" in page, 'href="/operate"' in page) == (True, False)
    make_operator(ann)
    assert 'href="/operate"' in ann.get("/dashboard/account").text


# --- users


def test_users_are_listed_and_found_by_address_and_id(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    page = ann.get(USERS).text
    assert "ann@example.test" in page
    assert "bob@example.test" in page
    assert "Free, administrator" in page
    for text in ("BOB@", bob.public_id):
        found = send(ann, USERS, USERS, text=text).text
        assert re.findall(rf'"{USERS}/show\?id=([^"]+)"', found) == [bob.public_id]
    assert "No account fits." in send(ann, USERS, USERS, text="%").text
    assert send(ann, USERS, USERS, text=" ").headers["location"] == USERS


def test_a_page_of_users_is_small(ann: Browser) -> None:
    make_operator(ann)
    with transaction() as session:
        session.add_all(Account(public_id=f"{n:032}", email=f"{n}{'w' * 60}@{'w' * 60}.test") for n in range(60))
    pages = [ann.get(f"{USERS}?page={page}") for page in ("1", "3", "4", "x", "\u00b2", "99999999")]
    assert [page.status_code for page in pages] == [200] * 6
    assert max(len(page.content) for page in pages) < 30_000
    assert "Page 3 of 3, 61 accounts" in pages[1].text
    assert "There is nothing on this page." in pages[2].text


def test_one_user_with_plan_limits_and_access(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    make_key(bob, "Laptop & <b>")
    bob.sign_in()
    with transaction() as session:
        session.execute(update(Account).where(Account.email == bob.email).values(api_calls_per_month=777))
    page = ann.get(f"{USERS}/show?id={bob.public_id}").text
    assert "777" in page
    assert "Laptop &amp; &lt;b&gt;" in page
    assert len(re.findall(r"item=(session|key)%3A", page)) == 2
    assert ann.get(f"{USERS}/show?id=nobody").status_code == 404
    assert ann.get(f"{USERS}/show").status_code == 404


# --- changes


def test_suspended_and_restored_with_the_reason_in_the_trail(
    ann: Browser, bob: Browser, published_events: list[dict[str, Any]]
) -> None:
    make_operator(ann)
    bob.sign_in()
    assert ask_about(ann, "suspend", bob).headers["location"] == f"{USERS}/show?id={bob.public_id}&done=suspended"
    assert not signed_in(bob)
    assert {"account": bob.public_id} in published_events
    assert "suspended: nothing is deleted" in ann.get(f"{USERS}/show?id={bob.public_id}&done=suspended").text
    assert ask_about(ann, "suspend", bob).headers["location"].endswith("done=unchanged")
    assert ask_about(ann, "restore", bob).headers["location"].endswith("done=restored")
    assert ask_about(ann, "restore", bob).headers["location"].endswith("done=unchanged")
    assert signed_in(bob)
    actor = f"admin:{ann.public_id}"
    assert trail() == [(actor, action, bob.public_id, None, WHY) for action in ("suspend", "restore")]
    with transaction() as session:
        kinds = select(SecurityEvent.kind).order_by(SecurityEvent.id)
        assert session.scalars(kinds).all()[-2:] == ["account_suspended", "account_restored"]


def test_operators_do_not_suspend_themselves(ann: Browser) -> None:
    make_operator(ann)
    answer = ask_about(ann, "suspend", ann)
    assert answer.status_code == 422
    assert "the account you are signed in with" in answer.text
    assert signed_in(ann)
    assert trail() == []


@pytest.mark.parametrize("action", ["suspend", "restore", "end-access", "plan"])
@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_nothing_changes_without_a_reason(ann: Browser, bob: Browser, action: str, reason: str) -> None:
    make_operator(ann)
    bob.sign_in()
    answer = ask_about(ann, action, bob, reason=reason, plan="pro", calls="5")
    assert answer.status_code == 422
    assert "Please say why" in answer.text
    assert signed_in(bob)
    assert trail() == []


def test_one_access_is_ended_and_then_all(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    bob.sign_in()
    first, second = make_key(bob, "One"), make_key(bob, "Two")
    show = f"{USERS}/show?id={bob.public_id}"
    item = re.findall(r"item=(key%3A\d+)", ann.get(show).text)[-1].replace("%3A", ":")
    assert ask_about(ann, "end-access", bob, item).headers["location"] == f"{show}&done=ended"
    assert (is_key_alive(first), is_key_alive(second), signed_in(bob)) == (False, True, True)
    assert ann.get(f"{USERS}/end-access?id={bob.public_id}&item={item}").headers["location"] == f"{show}&done=unchanged"
    ask_about(ann, "end-access", bob)
    assert (is_key_alive(second), signed_in(bob), signed_in(ann)) == (False, False, True)
    details = [(row[1], row[3]) for row in trail()]
    assert details == [
        ("end-access", f"the key One, since {clock.today()}"),
        ("end-access", "every session, application and key"),
    ]


def test_an_item_of_another_account_is_not_ended(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    key = make_key(ann)
    item = re.findall(r"item=(key%3A\d+)", ann.get(f"{USERS}/show?id={ann.public_id}").text)[0].replace("%3A", ":")
    page = f"{USERS}/end-access?id={bob.public_id}"
    send(ann, page, f"{USERS}/end-access", id=bob.public_id, item=item, reason=WHY)
    assert is_key_alive(key)
    assert trail() == []


def test_the_plan_and_the_agreed_calls_are_changed(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    assert ask_about(ann, "plan", bob, plan="pro", calls="5000").headers["location"].endswith("done=plan")
    assert 'name="calls" type="text" value="5000"' in ann.get(f"{USERS}/plan?id={bob.public_id}").text
    ask_about(ann, "plan", bob, plan="free", calls="")
    details = [(row[1], row[3]) for row in trail()]
    assert details == [("plan", "free -> pro, 5000 API calls a month"), ("plan", "pro -> free")]


@pytest.mark.parametrize("calls", ["-1", "many", "1" * 10, "\u00b2"])
def test_a_number_of_calls_that_is_none_stays_in_the_form(ann: Browser, bob: Browser, calls: str) -> None:
    make_operator(ann)
    answer = ask_about(ann, "plan", bob, plan="pro", calls=calls)
    assert answer.status_code == 422
    assert f'value="{calls}"' in answer.text
    assert WHY in answer.text
    assert ask_about(ann, "plan", bob, plan="gold", calls="").status_code == 422
    assert trail() == []
