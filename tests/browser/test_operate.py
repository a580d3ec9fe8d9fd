"""The operators' pages in a real browser, with much and long names on them: they fit, can be read and act."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from auth_server.accounts.accounts import create_account
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey
from shared.db.operator_actions import OperatorAction
from shared.db.sign_in_methods import AuthenticatorApp
from tests.auth_server.in_process_browser import PASSWORD
from tests.auth_server.test_operate_facts import add_items
from tests.auth_server.test_operate_figures import add_rows
from tests.auth_server.test_operate_providers import add_cards
from tests.auth_server.test_operate_unfinished_work import add_message, add_run
from tests.browser.test_pages import judged, signed_in
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
LONG = f"{'w' * 60}@{'w' * 60}.test"
USERS = "/operate/users"


def make_operator(tab: Tab, base: str) -> str:
    """Signed in as an administrator, whose second factor is older; the public id of an account with a long address."""
    signed_in(tab, base)
    now = clock.now()
    with transaction() as session:
        person = session.scalars(select(Account)).one()
        person.is_admin = True
        app = {"secret_sealed": "x", "last_time_step": 0, "created_at": now - timedelta(days=1)}
        session.add(AuthenticatorApp(account_id=person.id, **app))
        other = create_account(session, LONG, PASSWORD, plan="pro")
        key = {"key_hash": "x", "ending": "abcd", "created_at": now}
        session.add(ApiKey(account_id=other.id, name="W" * 90, **key))
        return other.public_id


def test_the_pages_of_users_fit_and_act(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    public_id = make_operator(tab, base)
    pages = [USERS, f"{USERS}/show?id={public_id}"]
    pages += [f"{USERS}/{name}?id={public_id}" for name in ("suspend", "end-access", "plan")]
    assert [fault for page in pages for fault in judged(tab, base + page)] == []
    tab.go(f"{base}{USERS}/suspend?id={public_id}")
    tab.wait("document.querySelector('button.danger')")
    tab.fill("reason", "asked for by letter")
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('The account is suspended')")
    assert "asked for by letter" in tab.text()
    assert judged(tab, tab.run("location.href")) == []


def test_the_pages_of_jobs_and_mail_fit_and_act(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    make_operator(tab, base)
    error = {"error": "E" * 300}
    run = add_run("failed", "standing_order_check", finished_at=clock.now(), **error)
    message = add_message(LONG, "uncertain", **error)
    add_run("pending", "inbound_mail", timedelta(hours=3))
    add_message(LONG, "pending")
    assert judged(tab, f"{base}/operate") == []
    pages = ["jobs", f"jobs/retry?id={run}", "mail", f"mail/resend?id={message}"]
    assert [fault for page in pages for fault in judged(tab, f"{base}/operate/{page}")] == []
    tab.fill("reason", "they did not get it")
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('The message is written again')")


def test_the_pages_of_the_trail_fit(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    public_id = make_operator(tab, base)
    with transaction() as session:
        long = {"detail": "W" * 200, "reason": "W" * 500}
        first = OperatorAction(actor=f"cli:{'w' * 80}", action="suspend", target=public_id, **long)
        session.add_all([first, *(OperatorAction(actor="cli:me", action="plan", target=public_id) for _ in range(30))])
        session.flush()
        number = first.id
    pages = ["", f"?before={number + 5}&target={public_id}", f"/show?id={number}"]
    assert [fault for page in pages for fault in judged(tab, f"{base}/operate/trail{page}")] == []


def test_the_page_of_settings_fits(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    make_operator(tab, base)
    assert judged(tab, f"{base}/operate/settings") == []


def test_the_pages_of_providers_fit_and_act(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    make_operator(tab, base)
    add_cards()
    pages = ["", "/off?name=seats_aero"]
    assert [fault for page in pages for fault in judged(tab, f"{base}/operate/providers{page}")] == []
    tab.fill("reason", "its prices are wrong")
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('It is off')")
    assert judged(tab, f"{base}/operate/providers/on?name=seats_aero") == []


def test_the_pages_of_facts_fit_and_act(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    make_operator(tab, base)
    name = add_items("W" * 150)
    pages = ["", "?list=differences", "?list=findings", "?list=corrections", f"/close?item={name}"]
    assert [fault for page in pages for fault in judged(tab, f"{base}/operate/facts{page}")] == []
    tab.fill("reason", "it is right now")
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('The item is closed')")


def test_the_page_of_figures_fits(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    make_operator(tab, base)
    add_rows(LONG)
    pages = ["", "?part=work"]
    assert [fault for page in pages for fault in judged(tab, f"{base}/operate/figures{page}")] == []
