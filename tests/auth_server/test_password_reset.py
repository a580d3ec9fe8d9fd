"""A forgotten password: one link, one use, every other door closed behind it, and the person is told."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts import password_reset
from auth_server.web.flows import transact
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.db.oauth import ApiKey, Consent, WebSession
from shared.secrets import digest
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.keys import is_key_alive, make_key
from tests.auth_server.mailbox import Mails, link, text

pytestmark = pytest.mark.usefixtures("mails")
BETTER = "another good password"


def recover(browser: Browser, email: str, **changed: str) -> Any:
    csrf = hidden(browser.get("/recover").text, "csrf")
    return browser.post("/recover", {"csrf": csrf, "email": email, "return_to": ""} | changed)


def reset(browser: Browser, path: str, password: str = BETTER, **ticked: str) -> Any:
    page = browser.get(path)
    if page.status_code != 200:
        return page
    fields = {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token"), "password": password}
    return browser.post("/reset", fields | ticked)


def test_the_link_sets_a_new_password_and_lets_the_person_in(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    (mail,) = mails()
    entered = reset(stranger, link(mail))
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard")
    assert ann.email in stranger.get("/dashboard").text
    assert ann.sign_in(PASSWORD).status_code == 401
    assert ann.sign_in(BETTER).status_code == 303


def test_every_other_browser_application_and_key_is_signed_out(
    ann: Browser, stranger: Browser, mails: Mails, published_events: list[dict[str, Any]]
) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    family = ann.introspect(tokens["access_token"])["family"]
    recover(stranger, ann.email)
    assert reset(stranger, link(mails()[-1])).status_code == 303
    assert ann.get("/dashboard").status_code == 302
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert not is_key_alive(key)
    assert {"family": family} in published_events
    assert {"token": digest(key)} in published_events
    with transaction() as session:
        assert len(session.scalars(select(WebSession).where(WebSession.owner_id.is_not(None))).all()) == 1
        assert session.scalars(select(Consent)).all() == []


def test_what_was_ticked_stays_and_the_rest_ends(ann: Browser, stranger: Browser, mails: Mails) -> None:
    kept, ended = ann.tokens(), ann.tokens(ann.register(client_name="Unknown"))
    laptop, unknown = make_key(ann, "Laptop"), make_key(ann, "Unknown key")
    recover(stranger, ann.email)
    path = link(mails()[-1])
    page = stranger.get(path).text
    assert " checked" not in page
    family = ann.introspect(kept["access_token"])["family"]
    key_id = find_key_id("Laptop")
    for field, name in ((f"keep_application_{family}", "Test application"), (f"keep_key_{key_id}", "Laptop")):
        assert name in page[page.index(f'name="{field}"') :].partition("</label>")[0]
    answer = reset(stranger, path, **{f"keep_application_{family}": "on", f"keep_key_{key_id}": "on"})
    assert answer.status_code == 303
    assert [ann.alive(tokens["access_token"]) for tokens in (kept, ended)] == [True, False]
    assert ann.refresh(kept["client_id"], kept["refresh_token"]).status_code == 200
    assert [is_key_alive(key) for key in (laptop, unknown)] == [True, False]


def test_ticks_survive_a_bad_password_and_nothing_ends_with_it(ann: Browser, stranger: Browser, mails: Mails) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    recover(stranger, ann.email)
    field = f"keep_key_{find_key_id('Laptop')}"
    answer = reset(stranger, link(mails()[-1]), "short", **{field: "on"})
    assert answer.status_code == 422
    assert re.findall(r'name="(\w+)" checked', answer.text) == [field]
    assert ann.alive(tokens["access_token"])
    assert is_key_alive(key)


def test_nothing_of_somebody_else_is_kept_or_ended(ann: Browser, bob: Browser, stranger: Browser, mails: Mails) -> None:
    of_bob, key_of_bob = bob.tokens(), make_key(bob, "Bobs")
    family, key_id = bob.introspect(of_bob["access_token"])["family"], find_key_id("Bobs")
    tokens = ann.tokens()
    recover(stranger, ann.email)
    ticked = {f"keep_application_{family}": "on", f"keep_key_{key_id}": "on", "keep_key_x": "on", "keep_key_": "on"}
    assert reset(stranger, link(mails()[-1]), **ticked).status_code == 303
    assert [ann.alive(each["access_token"]) for each in (tokens, of_bob)] == [False, True]
    assert is_key_alive(key_of_bob)


@pytest.mark.slow  # lists hundreds of applications and keys
def test_a_form_with_everything_ticked_is_small_enough(ann: Browser, stranger: Browser, mails: Mails) -> None:
    client_id = ann.register()
    for _ in range(27):
        ann.tokens(client_id)
    with transaction() as session:
        account_id = session.scalars(select(Account.id)).one()
        for n in range(14):  # more than a person can make: agents that were claimed bring theirs
            row = {"key_hash": f"{n}", "ending": "abcd", "name": f"Key {n}", "created_at": clock.now()}
            session.add(ApiKey(account_id=account_id, **row))
    recover(stranger, ann.email)
    path = link(mails()[-1])
    fields = re.findall(r'name="(keep_\w+)"', stranger.get(path).text)
    assert len(fields) == 37
    assert reset(stranger, path, **dict.fromkeys(fields, "on")).status_code == 303


def find_key_id(name: str) -> int:
    with transaction() as session:
        return session.scalars(select(ApiKey.id).where(ApiKey.name == name)).one()


def test_the_person_is_told_by_mail_and_in_the_inbox(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    reset(stranger, link(mails()[0]))
    assert mails()[-1]["Subject"].endswith("Your password was reset")
    assert "If it was not you" in text(mails()[-1])
    with transaction() as session:
        assert session.scalars(select(Notification.title)).all() == ["Your password was reset"]


def test_the_answer_is_the_same_for_unknown_addresses(ann: Browser, stranger: Browser, mails: Mails) -> None:
    existing, unknown = recover(stranger, ann.email), recover(stranger, "nobody@example.test")
    assert existing.status_code == unknown.status_code == 200
    assert existing.text.replace(ann.email, "") == unknown.text.replace("nobody@example.test", "")
    assert [mail["To"] for mail in mails()] == [ann.email]


def test_a_link_works_once_and_takes_the_others_along(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    recover(stranger, ann.email)
    first, second = mails()
    assert reset(stranger, link(first)).status_code == 303
    assert [reset(stranger, link(mail)).status_code for mail in (first, second)] == [410, 410]


def test_a_link_ends_after_an_hour(ann: Browser, stranger: Browser, mails: Mails, later: Any) -> None:
    recover(stranger, ann.email)
    path = link(mails()[0])
    later(timedelta(minutes=61))
    assert reset(stranger, path).status_code == 410


def test_a_bad_password_keeps_the_link_alive(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    path = link(mails()[0])
    weak = reset(stranger, path, "short")
    assert weak.status_code == 422
    assert "too short" in weak.text
    assert reset(stranger, path).status_code == 303


def test_the_link_also_confirms_an_address(ann: Browser, stranger: Browser, mails: Mails) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email_confirmed_at=None))
    recover(stranger, ann.email)
    assert reset(stranger, link(mails()[0])).status_code == 303
    assert ann.sign_in(BETTER).status_code == 303


def test_a_link_of_one_purpose_does_not_serve_another(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    token = link(mails()[0]).partition("token=")[2]
    assert stranger.get(f"/confirm?token={token}").status_code == 410


def test_a_disabled_account_is_not_opened(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    path = link(mails()[0])
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    assert reset(stranger, path).status_code == 410
    assert recover(stranger, ann.email).status_code == 200
    assert len(mails()) == 1


def test_eight_uses_of_one_link_at_once_give_one_success(ann: Browser, stranger: Browser, mails: Mails) -> None:
    recover(stranger, ann.email)
    page = stranger.get(link(mails()[0]))
    fields = {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token"), "password": BETTER}
    data = RequestData("POST", "/reset", "127.0.0.1", form=list(fields.items()), cookie=stranger.cookie)
    with ThreadPoolExecutor(8) as pool:
        outcomes = [
            type(outcome).__name__ for outcome in pool.map(lambda _: transact(password_reset.reset, data), range(8))
        ]
    assert sorted(outcomes) == ["Page"] * 7 + ["Redirect"]


def test_a_reset_for_an_application_goes_on_to_it(ann: Browser, stranger: Browser, mails: Mails) -> None:
    onward = hidden(stranger.get(stranger.authorize(stranger.register()).headers["location"]).text, "return_to")
    recover(stranger, ann.email, return_to=onward)
    assert reset(stranger, link(mails()[0])).headers["location"] == onward


@pytest.mark.parametrize("email", ["", "no address", "x" * 300 + "@example.test"])
def test_what_is_no_address_is_said(stranger: Browser, email: str) -> None:
    answer = recover(stranger, email)
    assert answer.status_code == 422
    assert "not an email address" in answer.text
