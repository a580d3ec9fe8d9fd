"""Security events: each is stored and told by mail, and the link "this was not me" ends every access."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.accounts import api_keys, security_events
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.security_events import SecurityEvent, list_events
from shared.outbox.wording.security_events import EVENT_WORDS, sentence
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_dashboard import make_app, on_plan, send

pytestmark = pytest.mark.usefixtures("mails")
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def find_id(session: Session, browser: Browser) -> int:
    return session.scalars(select(Account.id).where(Account.email == browser.email)).one()


def record(browser: Browser, kind: str, **words: str) -> None:
    with transaction() as session:
        record_event(UnitOfWork(session), session.get_one(Account, find_id(session, browser)), kind, **words)


def form_csrf(page: str, action: str) -> str:
    """The token of the form that is sent to this path."""
    return hidden(page[page.index(f'action="{action}"') :], "csrf")


def press(browser: Browser, path: str) -> Any:
    page = browser.get(path)
    if page.status_code != 200:
        return page
    return browser.post("/not-me", {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token")})


def test_an_event_is_kept_with_its_browser_and_told_by_mail(ann: Browser, mails: Mails) -> None:
    record(ann, "key_created", subject="Laptop", user_agent=FIREFOX)
    (mail,) = mails()
    assert mail["Subject"] == "An API key was made"
    assert "The API key Laptop was made." in text(mail)
    assert "With: Firefox on Linux" in text(mail)
    with transaction() as session:
        (event,) = session.scalars(select(SecurityEvent)).all()
    assert (event.kind, event.subject, event.browser) == ("key_created", "Laptop", "Firefox on Linux")


def test_not_me_ends_sessions_applications_and_keys_and_asks_for_a_new_password(
    ann: Browser, stranger: Browser, mails: Mails
) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        _, key = api_keys.issue(session, find_id(session, ann), "Laptop")
    record(ann, "application_allowed", subject="Claude")
    allowed, again = mails()
    assert allowed["Subject"] == again["Subject"] == "An application was allowed"
    done = press(stranger, link(again))
    assert done.status_code == 200
    assert "Every access is ended" in done.text
    assert not ann.alive(tokens["access_token"])
    with transaction() as session:
        assert api_keys.describe(session, key) == {"active": False}
    assert ann.get("/dashboard").status_code == 302
    assert ann.sign_in(PASSWORD).status_code == 401
    assert [mail["Subject"] for mail in mails()[2:]] == ["Every access was ended", "Choose a new password"]


def test_opening_the_link_changes_nothing_and_it_works_once(ann: Browser, stranger: Browser, mails: Mails) -> None:
    record(ann, "new_browser")
    path = link(mails()[0])
    assert stranger.get(path).status_code == 200
    assert ann.sign_in(PASSWORD).status_code == 303
    assert press(stranger, path).status_code == 200
    assert press(stranger, path).status_code == 410


def test_a_thief_who_changes_the_password_does_not_end_the_link(ann: Browser, stranger: Browser, mails: Mails) -> None:
    record(ann, "new_browser")
    ann.sign_in()
    page = ann.get("/dashboard/account")
    fields = {
        "csrf": form_csrf(page.text, "/dashboard/account/password"),
        "current": PASSWORD,
        "password": "the thief's own words",
    }
    assert ann.post("/dashboard/account/password", fields).status_code == 303
    assert press(stranger, link(mails()[0])).status_code == 200
    assert ann.get("/dashboard").status_code == 302


def test_every_kind_has_a_title_and_a_whole_sentence() -> None:
    told = {kind: sentence({"kind": kind, "subject": "NAME", "browser": "BROWSER"}) for kind in EVENT_WORDS}
    assert [f"{kind}: {words}" for kind, words in told.items() if not words.endswith(".") or "{" in words] == []


def test_events_of_others_are_not_listed(ann: Browser, bob: Browser) -> None:
    record(ann, "new_browser")
    with transaction() as session:
        assert list_events(session, find_id(session, bob), clock.now().replace(year=2020)) == []


# --- who records what


def last(mails: Mails) -> tuple[str, str]:
    mail = mails()[-1]
    return mail["Subject"], text(mail)


def test_keys_applications_and_copies_are_told(ann: Browser, mails: Mails) -> None:
    on_plan("premium")
    ann.sign_in()
    send(ann, "/dashboard/keys", "/dashboard/keys", name="Laptop")
    assert last(mails)[0] == "An API key was made"
    assert "The API key Laptop was made." in last(mails)[1]
    page = make_app(ann, "My site").text
    assert last(mails)[0] == "An application was registered"
    assert "My site" in last(mails)[1]
    client_id = page.partition("<code>app_")[2].partition("<")[0]
    send(ann, "/dashboard/api-apps", "/dashboard/api-apps/rotate", client_id=f"app_{client_id}")
    assert last(mails)[0] == "The secret of an application was changed"
    send(ann, "/dashboard/account", "/dashboard/account/export")
    assert last(mails)[0] == "A copy of your data was made"


def test_a_key_that_was_refused_is_not_told(ann: Browser, mails: Mails) -> None:
    ann.sign_in()
    send(ann, "/dashboard/keys", "/dashboard/keys", name="")
    assert mails() == []


def test_the_first_consent_of_a_client_is_told_and_no_later_one(ann: Browser, mails: Mails) -> None:
    client_id = ann.register()
    ann.tokens(client_id)
    ann.tokens(client_id)
    assert ann.answer(ann.authorize(client_id, prompt="consent")).status_code == 303
    (mail,) = mails()
    assert mail["Subject"] == "An application was allowed"
    assert "Test application (127.0.0.1) may now use your account." in text(mail)


def test_a_refused_application_is_not_told(ann: Browser, mails: Mails) -> None:
    ann.sign_in()
    ann.answer(ann.authorize(ann.register()), "deny")
    assert mails() == []


def test_whoever_makes_events_all_day_fills_nobodys_mailbox(
    ann: Browser, mails: Mails, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security_events, "MAILS_PER_HOUR", 3)
    for n in range(5):
        record(ann, "key_created", subject=f"Key {n}")
    assert len(mails()) == 3
    record(ann, "password_changed")
    assert mails()[-1]["Subject"] == "Your password was changed"
    with transaction() as session:
        assert len(list_events(session, find_id(session, ann), clock.now().replace(year=2020))) == 6
