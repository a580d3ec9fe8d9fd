"""Identities linked to accounts that were there before: by password or mail, listed, removed, never by themselves."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from auth_server.accounts import linked_identities
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.linked_identities import LinkedIdentity
from shared.db.security_events import SecurityEvent
from shared.db.sign_in_methods import AuthenticatorApp
from shared.secrets import seal
from shared.settings import settings
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.provider_sign_in import (
    METHODS,
    accounts,
    allow,
    answer_link_page,
    come_back,
    identities,
    is_in,
    press,
)
from tests.support.fake_identity_providers import Outside

Later = Callable[[timedelta], None]
Configure = Callable[..., None]


def kinds() -> list[tuple[str, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(SecurityEvent).order_by(SecurityEvent.id))
        return [(row.kind, row.subject) for row in rows if row.kind.startswith("factor")]


def connect(browser: Browser, name: str = "acme") -> Any:
    """Links a provider from the sign-in methods page; the answer when the provider has sent the browser back."""
    page = browser.get(METHODS).text
    form = page.split(f'action="{METHODS}/with/{name}"')[1]
    return browser.get(allow(browser.post(f"{METHODS}/with/{name}", {"csrf": hidden(form, "csrf")})))


def remove(browser: Browser) -> Any:
    form = browser.get(METHODS).text.split(f'action="{METHODS}/identity/remove"')[1]
    fields = {"csrf": hidden(form, "csrf"), "identity_id": hidden(form, "identity_id")}
    return browser.post(f"{METHODS}/identity/remove", fields)


# --- an account of that address exists


def test_an_account_of_that_address_asks_for_its_password_once(outside: Outside, ann: Browser) -> None:
    assert come_back(ann).headers["location"] == "/signin/link"
    assert not is_in(ann)
    page = ann.get("/signin/link").text
    assert ("ann@example.test" in page, "Acme" in page) == (True, True)
    assert answer_link_page(ann, PASSWORD).headers["location"] == "/dashboard"
    assert is_in(ann)
    assert kinds() == [("factor_added", "Acme")]
    ann.cookie = None
    assert come_back(ann).headers["location"] == "/dashboard"
    assert accounts() == ["ann@example.test"]


def test_a_wrong_password_links_nothing_and_is_counted(outside: Outside, ann: Browser) -> None:
    come_back(ann)
    answer = answer_link_page(ann, "wrong")
    assert (answer.status_code, 'role="alert"' in answer.text) == (401, True)
    answers = [answer_link_page(ann, "wrong").status_code for _ in range(11)]
    assert answers[-1] == 429
    assert identities() == []
    assert not is_in(ann)


def test_the_page_that_links_belongs_to_one_browser_for_a_quarter_of_an_hour(
    outside: Outside, ann: Browser, host: TestClient, later: Later
) -> None:
    come_back(ann)
    other = Browser(host)
    other.get("/signin")
    assert "Please begin again" in other.get("/signin/link").text
    later(timedelta(minutes=16))
    assert "Please begin again" in ann.get("/signin/link").text


def ask_for_mail(browser: Browser) -> None:
    page = browser.get("/signin/link").text
    assert browser.post("/signin/link/mail", {"csrf": hidden(page, "csrf")}).status_code == 200


def test_a_mail_to_the_account_does_in_the_place_of_the_password(outside: Outside, ann: Browser, mails: Mails) -> None:
    come_back(ann)
    ask_for_mail(ann)
    mail = mails()[-1]
    assert "signed in with Acme as ann@example.test" in text(mail)
    page = ann.get(link(mail)).text
    assert identities() == []  # opening it changes nothing
    fields = {"csrf": hidden(page, "csrf"), "token": hidden(page, "token")}
    assert ann.post("/link", fields).headers["location"] == "/dashboard"
    assert is_in(ann)
    assert identities() == [(outside.issuer, "subject-1", "ann@example.test")]
    assert ann.get(link(mail)).status_code == 410


def test_the_link_of_that_mail_works_in_no_other_browser(
    outside: Outside, ann: Browser, host: TestClient, mails: Mails
) -> None:
    """Else someone whose provider vouches for ann's address needs but a click of hers."""
    thief = Browser(host)
    come_back(thief)
    ask_for_mail(thief)
    path = link(mails()[-1])
    assert "Please begin again" in ann.get(path).text
    ann.sign_in()
    assert "Please begin again" in ann.get(path).text
    assert identities() == []


def test_a_link_of_another_purpose_links_nothing(outside: Outside, ann: Browser, mails: Mails) -> None:
    form = ann.get("/recover").text
    ann.post("/recover", {"csrf": hidden(form, "csrf"), "return_to": "", "email": ann.email})
    token = link(mails()[-1]).split("token=")[1]
    come_back(ann)
    page = ann.get("/signin/link").text
    assert ann.post("/link", {"csrf": hidden(page, "csrf"), "token": token}).status_code == 410
    assert identities() == []


def test_our_own_second_factor_is_still_asked_for(outside: Outside, ann: Browser) -> None:
    secret = pyotp.random_base32()
    come_back(ann)
    answer_link_page(ann, PASSWORD)
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        sealed = seal(settings().encryption_keys[0], secret)
        session.add(AuthenticatorApp(account_id=account.id, secret_sealed=sealed, last_time_step=0))
    ann.cookie = None
    assert come_back(ann).headers["location"] == "/signin/second"
    assert not is_in(ann)


# --- the sign-in methods page


def test_a_provider_is_linked_from_the_methods_page_whatever_its_address(outside: Outside, ann: Browser) -> None:
    outside.address = "ann.work@acme.test"
    ann.sign_in()
    assert connect(ann).headers["location"] == f"{METHODS}?done=identity_added"
    page = ann.get(METHODS).text
    assert ("Acme" in page, "ann.work@acme.test" in page) == (True, True)
    ann.cookie = None
    assert come_back(ann).headers["location"] == "/dashboard"


def test_linking_and_removing_need_a_fresh_sign_in(outside: Outside, ann: Browser, later: Later) -> None:
    ann.sign_in()
    connect(ann)
    later(timedelta(minutes=11))
    form = ann.get(METHODS).text.split(f'action="{METHODS}/with/acme"')[1]
    answer = ann.post(f"{METHODS}/with/acme", {"csrf": hidden(form, "csrf")})
    assert answer.headers["location"].startswith("/signin?")
    assert remove(ann).headers["location"].startswith("/signin?")
    assert len(identities()) == 1


def test_an_identity_signs_in_to_one_account_alone(outside: Outside, ann: Browser, bob: Browser) -> None:
    for browser in (ann, bob):
        browser.sign_in()
    connect(ann)
    answer = connect(bob)
    assert (answer.status_code, "signs in to another account" in answer.text) == (409, True)
    assert connect(ann).headers["location"] == f"{METHODS}?done=identity_added"
    assert len(identities()) == 1
    assert kinds() == [("factor_added", "Acme")]


def test_an_account_has_ten_at_most(outside: Outside, ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked_identities, "MAX_IDENTITIES", 1)
    ann.sign_in()
    connect(ann)
    answer = connect(ann, "github")
    assert (answer.status_code, "at most" in answer.text) == (409, True)


def test_what_is_removed_signs_nobody_in(outside: Outside, ann: Browser) -> None:
    ann.sign_in()
    connect(ann)
    assert remove(ann).headers["location"] == f"{METHODS}?done=identity_removed"
    assert kinds() == [("factor_added", "Acme"), ("factor_removed", "Acme")]
    ann.cookie = None
    assert come_back(ann).headers["location"] == "/signin/link"


def test_nobody_removes_what_is_another_persons(outside: Outside, ann: Browser, bob: Browser) -> None:
    for browser in (ann, bob):
        browser.sign_in()
    connect(ann)
    with transaction() as session:
        identity_id = session.scalars(select(LinkedIdentity.id)).one()
    outside.subject = "subject-2"
    connect(bob)
    form = bob.get(METHODS).text.split(f'action="{METHODS}/identity/remove"')[1]
    bob.post(f"{METHODS}/identity/remove", {"csrf": hidden(form, "csrf"), "identity_id": str(identity_id)})
    assert len(identities()) == 2


def test_the_last_way_to_sign_in_stays(outside: Outside, stranger: Browser) -> None:
    come_back(stranger)
    assert remove(stranger).headers["location"] == f"{METHODS}?done=last_way"
    assert "the last way to sign in" in stranger.get(f"{METHODS}?done=last_way").text
    connect(stranger, "github")
    assert remove(stranger).headers["location"] == f"{METHODS}?done=identity_removed"
    assert remove(stranger).headers["location"] == f"{METHODS}?done=last_way"


def test_a_provider_that_is_no_longer_among_the_settings_is_no_way_in(
    outside: Outside, stranger: Browser, configure: Configure
) -> None:
    come_back(stranger)
    connect(stranger, "github")
    configure(OIDC_PROVIDERS="{}")
    assert remove(stranger).headers["location"] == f"{METHODS}?done=last_way"


def test_without_a_password_one_is_set_after_a_fresh_sign_in(outside: Outside, stranger: Browser, later: Later) -> None:
    come_back(stranger)
    later(timedelta(minutes=11))
    page = stranger.get("/dashboard/account").text
    assert "Set a password" in page
    assert 'name="current"' not in page
    fields = {"csrf": hidden(page.split('action="/dashboard/account/password"')[1], "csrf"), "password": PASSWORD + "1"}
    assert stranger.post("/dashboard/account/password", fields).headers["location"].startswith("/signin?")
    come_back(stranger)
    page = stranger.get("/dashboard/account").text
    fields["csrf"] = hidden(page.split('action="/dashboard/account/password"')[1], "csrf")
    assert stranger.post("/dashboard/account/password", fields).status_code == 303
    assert remove(stranger).headers["location"] == f"{METHODS}?done=identity_removed"


def test_a_page_that_asks_for_a_fresh_sign_in_asks_the_provider_for_one(
    outside: Outside, stranger: Browser, later: Later
) -> None:
    """OpenID Connect Core 3.1.2.1: max_age; where the provider tells the time of the sign-in, it is compared."""
    come_back(stranger)
    later(timedelta(minutes=11))
    page = stranger.get("/dashboard/account/delete").headers["location"]
    answer = press(stranger, page=page)
    assert "max_age=0" in answer.headers["location"]
    outside.claims = {"auth_time": int(clock.now().timestamp()) - 3600}
    assert "asks for a sign-in of the last ten minutes" in stranger.get(allow(answer)).text
    outside.claims = {"auth_time": int(clock.now().timestamp())}
    assert stranger.get(allow(press(stranger, page=page))).headers["location"] == "/dashboard/account/delete"
    form = stranger.get("/dashboard/account/delete").text
    assert 'name="password"' not in form
    fields = {"csrf": hidden(form.split('action="/dashboard/account/delete"')[1], "csrf")}
    assert stranger.post("/dashboard/account/delete", fields).status_code == 200
    assert (accounts(), identities()) == ([], [])


def test_an_application_that_wants_a_new_sign_in_gets_one(outside: Outside, stranger: Browser) -> None:
    """prompt=login of OpenID Connect Core 3.1.2.1, by way of the sign-in page, anyone who is signed in or not."""
    client_id = stranger.register()
    path = stranger.authorize(client_id, prompt="login").headers["location"]
    assert "max_age=0" in press(stranger, page=path).headers["location"]
    assert "max_age" not in press(stranger).headers["location"]


def test_this_was_not_me_ends_what_a_thief_linked(outside: Outside, ann: Browser, mails: Mails, later: Later) -> None:
    ann.sign_in()
    connect(ann, "github")
    with transaction() as session:
        session.execute(update(LinkedIdentity).values(created_at=clock.now() - timedelta(days=31)))
    outside.subject, outside.address = "thief", "thief@evil.test"
    connect(ann)
    page = ann.get(link(mails()[-1])).text
    answer = ann.post("/not-me", {"csrf": hidden(page, "csrf"), "token": hidden(page, "token")})
    assert "sign-ins of other providers that were added in the last 30 days do not work" in answer.text
    assert identities() == [(outside.base, "4711", "ann@example.test")]


# --- passwords switched off


@pytest.fixture
def without_passwords(outside: Outside, configure: Configure) -> Outside:
    configure(PASSWORD_SIGN_IN="false")
    return outside


def test_without_passwords_the_pages_offer_the_providers_alone(without_passwords: Outside, stranger: Browser) -> None:
    for path in ("/signin", "/signup"):
        page = stranger.get(path).text
        assert ('name="password"' in page, "Sign in with Acme" in page, "/recover" in page) == (False, True, False)
    come_back(stranger)
    assert 'name="password"' not in stranger.get("/dashboard/account").text


@pytest.mark.parametrize("path", ["/recover", "/reset?token=x", "/confirm?token=x"])
def test_without_passwords_their_pages_say_so(without_passwords: Outside, stranger: Browser, path: str) -> None:
    answer = stranger.get(path)
    assert (answer.status_code, "Passwords are not used here" in answer.text) == (403, True)


@pytest.mark.parametrize(
    "path", ["/signin", "/signup", "/recover", "/reset", "/confirm", "/dashboard/account/password"]
)
def test_without_passwords_their_forms_do_nothing(without_passwords: Outside, ann: Browser, path: str) -> None:
    page = ann.get("/signin").text
    fields = {"csrf": hidden(page, "csrf"), "email": ann.email, "password": PASSWORD, "return_to": "", "token": "x"}
    answer = ann.post(path, fields)
    assert (answer.status_code, "Passwords are not used here" in answer.text) == (403, True)
    assert not is_in(ann)


def test_without_passwords_an_old_account_is_linked_by_mail(
    without_passwords: Outside, ann: Browser, mails: Mails
) -> None:
    come_back(ann)
    assert 'name="password"' not in ann.get("/signin/link").text
    assert answer_link_page(ann, PASSWORD).status_code == 403
    ask_for_mail(ann)
    page = ann.get(link(mails()[-1])).text
    ann.post("/link", {"csrf": hidden(page, "csrf"), "token": hidden(page, "token")})
    assert is_in(ann)
    assert remove(ann).headers["location"] == f"{METHODS}?done=last_way"


def test_without_passwords_this_was_not_me_leads_to_a_provider(
    without_passwords: Outside, stranger: Browser, mails: Mails
) -> None:
    come_back(stranger)
    page = stranger.get(link(mails()[-1])).text
    answer = stranger.post("/not-me", {"csrf": hidden(page, "csrf"), "token": hidden(page, "token")})
    assert "Sign in again with a provider" in answer.text
    assert come_back(stranger).headers["location"] == "/signin/link"


# --- what a copy of the data holds


def test_a_copy_of_the_data_names_the_linked_identities(outside: Outside, stranger: Browser) -> None:
    come_back(stranger)
    form = stranger.get("/dashboard/account").text.split('action="/dashboard/account/export"')[1]
    copy = stranger.post("/dashboard/account/export", {"csrf": hidden(form, "csrf")}).json()
    (row,) = copy["linked_identities"]
    assert (row["provider"], row["subject"], row["address"]) == ("Acme", "subject-1", "ann@example.test")
