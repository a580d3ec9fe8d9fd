"""The pages around security in a real browser, with long names on them, and the whole way of a new address."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.accounts import email_links
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey, Client, Family, RefreshToken
from tests.auth_server.in_process_browser import PASSWORD
from tests.auth_server.mailbox import Mails, link, text
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import judged, signed_in
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
LONG = "W" * 90
NEW = "ann.new@example.test"


def fill_account() -> None:
    """Two applications and two keys, one of each long unused and long named, and an event of every kind of name."""
    now = clock.now()
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        for n, (name, days) in enumerate([("Claude", 1), (LONG, 500)]):
            moment, id = now - timedelta(days=days), f"family{n}"
            client = {"kind": "dcr", "auth_method": "none", "redirect_uris": ["http://127.0.0.1/x"], "created_at": now}
            session.add(Client(client_id=id, name=name, **client))
            session.flush()
            session.add(Family(id=id, account_id=account.id, client_id=id, created_at=moment))
            session.flush()
            token = {"scope": "mcp:read", "resource": "r", "issued_at": moment}
            session.add(RefreshToken(token_hash=id, family_id=id, client_id=id, **token))
            key = {"key_hash": id, "ending": "abcd", "created_at": moment, "last_used_at": moment}
            session.add(ApiKey(account_id=account.id, name=name, **key))
        for kind, subject in (("application_allowed", LONG), ("key_created", "Laptop"), ("new_browser", None)):
            record_event(UnitOfWork(session), account, kind, subject=subject, user_agent="Firefox Linux")


def find_path(mail: Any, page: str) -> str:
    match = re.search(rf"{page}\?token=\w+", text(mail))
    assert match is not None
    return match[0]


def test_the_security_page_with_much_on_it_fits_and_ends_what_is_ticked(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    signed_in(tab, base)
    fill_account()
    assert judged(tab, base + "/dashboard/security") == []
    assert tab.text().count("Not used for a year.") == 2
    tab.press("form[action$=application] button")
    tab.wait("document.body.innerText.includes('The application is ended.')")
    tab.press("input[name=keys]")
    tab.press("form[action$=everywhere] button")
    tab.wait("document.body.innerText.includes('What you ticked is ended.')")
    assert "You have no key." in tab.text()
    assert look_everywhere(tab) == []


def test_a_new_password_by_mail_with_something_to_keep(tab: Tab, places: tuple[str, str], mails: Mails) -> None:
    base, _ = places
    signed_in(tab, base)
    fill_account()
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        email_links.send(UnitOfWork(session), account, "reset_password", "/dashboard/security")
    tab.go(base + link(mails()[-1]))
    tab.wait("document.title.startsWith('Choose a new password')")
    assert look_everywhere(tab) == []
    tab.press("input[name^=keep_application]")
    tab.fill("password", "password123")
    tab.press("main form button")
    tab.wait("document.body.innerText.includes('This password is among the most common')")
    assert tab.run("document.querySelector('input[name^=keep_application]').checked")
    assert look_everywhere(tab) == []
    tab.fill("password", f"another {PASSWORD}")
    tab.press("main form button")
    tab.wait("document.title.startsWith('Security')")
    assert "Claude" in tab.text()
    assert "You have no key." in tab.text()


def test_a_new_address_from_the_form_to_both_mailboxes(tab: Tab, places: tuple[str, str], mails: Mails) -> None:
    base, _ = places
    signed_in(tab, base)
    tab.go(base + "/dashboard/account")
    tab.wait("document.title.startsWith('Account')")
    tab.press("a[href='/dashboard/account/address']")
    tab.wait("document.title.startsWith('Change the address')")
    tab.fill("email", NEW)
    tab.press("main .card button.primary")
    tab.wait("document.title.startsWith('Check both mailboxes')")
    wrong = look_everywhere(tab) + judged(tab, base + "/dashboard/account")
    to_old, to_new = mails(2)
    for path in (find_path(to_old, "/old-address"), link(to_new)):
        tab.go(base + path)
        tab.wait("document.title.startsWith('Confirm the new address')")
        wrong += look_everywhere(tab)
        tab.press("main form button")
        tab.wait("!document.title.startsWith('Confirm')")
    assert tab.run("document.title").startswith("Your address is changed")
    wrong += judged(tab, base + find_path(to_old, "/not-me"))
    assert "ann@example.test again" in tab.text()
    assert wrong == []
