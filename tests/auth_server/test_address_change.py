"""Change of the address: both mailboxes confirm it, a session alone does not, and the old one can take it back."""

import re
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from sqlalchemy import func, select

from auth_server.accounts.accounts import create_account
from auth_server.sweep import sweep
from shared.db.accounts import Account
from shared.db.address_changes import AddressChange
from shared.db.base import transaction
from shared.db.one_time_links import OneTimeLink
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_account import change as change_password
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_password_reset import recover, reset
from tests.auth_server.test_security_events import press as press_not_me

pytestmark = pytest.mark.usefixtures("mails")
PATH, PAGE = "/dashboard/account", "/dashboard/account/address"
NEW = "ann.new@example.test"


def ask(browser: Browser, address: str = NEW) -> Any:
    return send(browser, PAGE, PAGE, email=address)


def press(browser: Browser, path: str) -> Any:
    page = browser.get(path)
    if page.status_code != 200:
        return page
    fields = {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token")}
    return browser.post(path.partition("?")[0], fields)


def find_links(mail: EmailMessage) -> dict[str, str]:
    """The links of a mail by their page."""
    paths = re.findall(r"https?://[^/\s]+(/[\w-]+\?token=\w+)", text(mail))
    return {path.partition("?")[0]: path for path in paths}


def ask_and_read(browser: Browser, mails: Mails) -> tuple[str, str]:
    """The links to the old and the new address."""
    before = len(mails())
    assert ask(browser).status_code == 200
    links = {page: path for mail in mails()[before:] for page, path in find_links(mail).items()}
    return links["/old-address"], links["/new-address"]


def address_of(public_id: str) -> str | None:
    with transaction() as session:
        return session.scalar(select(Account.email).where(Account.public_id == public_id))


def count(model: Any) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


@pytest.mark.parametrize("order", ["old first", "new first"])
def test_both_links_together_change_the_address(ann: Browser, stranger: Browser, mails: Mails, order: str) -> None:
    ann.sign_in()
    assert ask(ann).status_code == 200
    to_old, to_new = mails()
    assert (to_old["To"], to_old["Subject"]) == (ann.email, "A new email address was asked for")
    assert (to_new["To"], to_new["Subject"]) == (NEW, "Confirm your new email address")
    assert NEW in text(to_old)
    assert ann.email not in text(to_new)
    paths = [find_links(to_old)["/old-address"], find_links(to_new)["/new-address"]]
    first, second = paths if order == "old first" else reversed(paths)
    assert "one more step" in press(stranger, first).text
    assert address_of(ann.public_id) == ann.email
    assert "Your address is changed" in press(stranger, second).text
    assert address_of(ann.public_id) == NEW
    assert [(mail["To"], mail["Subject"]) for mail in mails()[2:]] == [
        (ann.email, "Your email address was changed"),
        (NEW, "This is the address of your account now"),
    ]
    assert Browser(ann.host, NEW).sign_in().status_code == 303
    assert Browser(ann.host, ann.email).sign_in().status_code == 401
    assert (count(AddressChange), press(stranger, first).status_code) == (0, 410)


def test_a_session_alone_changes_nothing(ann: Browser, mails: Mails) -> None:
    """A thief at the person's computer has the session, and the mailbox of the new address."""
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    press(ann, new)
    press(ann, new)
    token = new.partition("token=")[2]
    assert ann.get(f"/old-address?token={token}").status_code == 410
    page = ann.get(old)
    fields = {"csrf": hidden(page.text, "csrf"), "token": token}
    assert ann.post("/old-address", fields).status_code == 410
    assert address_of(ann.public_id) == ann.email


def test_opening_the_links_changes_nothing(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    for path in ask_and_read(ann, mails):
        assert [stranger.get(path).status_code for _ in range(3)] == [200] * 3
    assert address_of(ann.public_id) == ann.email
    assert count(AddressChange) == 1


def test_it_asks_for_a_sign_in_of_the_last_ten_minutes(ann: Browser, later: Any, mails: Mails) -> None:
    ann.sign_in()
    page = ann.get(PAGE).text
    later(timedelta(minutes=11))
    assert "/signin" in ann.get(PAGE).headers["location"]
    csrf = hidden(page[page.index(f'action="{PAGE}"') :], "csrf")
    assert "/signin" in ann.post(PAGE, {"csrf": csrf, "email": NEW}).headers["location"]
    assert (count(AddressChange), mails()) == (0, [])


def test_nothing_tells_whether_the_new_address_has_an_account(ann: Browser, bob: Browser, mails: Mails) -> None:
    ann.sign_in()
    free, taken = ask(ann), ask(ann, bob.email)
    assert free.status_code == taken.status_code == 200
    tokens = re.compile(r'name="csrf" value="\w+"')
    assert tokens.sub("", free.text).replace(NEW, "") == tokens.sub("", taken.text).replace(bob.email, "")
    assert bob.email in ann.get(PATH).text
    (mail,) = [mail for mail in mails() if mail["To"] == bob.email]
    assert mail["Subject"] == "This address has an account already"
    assert find_links(mail) == {}
    assert ann.email not in text(mail)


def test_an_address_taken_meanwhile_is_not_given_twice(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    with transaction() as session:
        create_account(session, NEW, PASSWORD)
    press(stranger, old)
    assert press(stranger, new).status_code == 409
    assert address_of(ann.public_id) == ann.email
    assert count(AddressChange) == 0


def test_requests_nobody_confirmed_end_after_a_day(ann: Browser, stranger: Browser, mails: Mails, later: Any) -> None:
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    press(stranger, old)
    later(timedelta(hours=24, seconds=1))
    assert press(stranger, new).status_code == 410
    sweep()
    assert count(AddressChange) == 0


def test_the_account_page_says_what_lacks_and_withdraws_it(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    assert f'to become <strong class="name">{NEW}</strong>' in ann.get(PATH).text
    press(stranger, old)
    assert "the mail to the new address." in " ".join(ann.get(PATH).text.split())
    assert send(ann, PATH, f"{PAGE}/withdraw").status_code == 303
    assert press(stranger, new).status_code == 410
    assert "Change the address" in ann.get(PATH).text


def test_a_second_request_takes_the_place_of_the_first(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    assert ask(ann, "other@example.test").status_code == 200
    assert [press(stranger, path).status_code for path in (old, new)] == [410, 410]
    assert count(AddressChange) == 1


@pytest.mark.parametrize("way", ["change", "reset", "not me"])
def test_a_new_password_withdraws_what_a_thief_asked_for(
    ann: Browser, stranger: Browser, mails: Mails, way: str
) -> None:
    ann.sign_in()
    old, new = ask_and_read(ann, mails)
    if way == "change":
        assert change_password(ann).status_code == 303
    elif way == "reset":
        recover(stranger, ann.email)
        assert reset(stranger, link(mails()[-1])).status_code == 303
    else:
        assert press_not_me(stranger, find_links(mails()[0])["/not-me"]).status_code == 200
    assert [press(stranger, path).status_code for path in (old, new)] == [410, 410]
    assert address_of(ann.public_id) == ann.email


@pytest.mark.parametrize("mail", ["that it was asked for", "that it was changed"])
def test_this_was_not_me_gives_the_account_back_to_the_old_address(
    ann: Browser, stranger: Browser, mails: Mails, mail: str
) -> None:
    """A thief at an open computer had the session and the mailbox, for as long as it takes to press two buttons."""
    ann.sign_in()
    for path in ask_and_read(ann, mails):
        press(stranger, path)
    assert address_of(ann.public_id) == NEW
    told = mails()
    path = find_links(told[0] if mail == "that it was asked for" else told[2])["/not-me"]
    assert f'becomes <strong class="name">{ann.email}</strong> again' in stranger.get(path).text
    assert press_not_me(stranger, path).status_code == 200
    assert address_of(ann.public_id) == ann.email
    assert (mails()[-1]["To"], mails()[-1]["Subject"]) == (ann.email, "Choose a new password")
    assert reset(stranger, link(mails()[-1])).status_code == 303


def test_the_new_address_cannot_take_the_account_again(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    for path in ask_and_read(ann, mails):
        press(stranger, path)
    thief = Browser(ann.host, NEW)
    assert thief.sign_in().status_code == 303
    of_thief = find_links(mails()[-1])["/not-me"]
    recover(stranger, NEW)
    way_in = link(mails()[-1])
    press_not_me(stranger, find_links(mails()[0])["/not-me"])
    assert [stranger.get(path).status_code for path in (of_thief, way_in)] == [410, 410]
    with transaction() as session:
        assert set(session.scalars(select(OneTimeLink.address))) == {ann.email}


def test_links_to_the_old_address_let_nobody_in_any_more(ann: Browser, stranger: Browser, mails: Mails) -> None:
    ann.sign_in()
    recover(stranger, ann.email)
    way_in = link(mails()[-1])
    for path in ask_and_read(ann, mails):
        press(stranger, path)
    assert stranger.get(way_in).status_code == 410


@pytest.mark.parametrize("address", ["", "no address", "x" * 300 + "@example.test", "ANN@example.test"])
def test_an_address_that_cannot_be_is_said_at_its_field_and_stays(ann: Browser, mails: Mails, address: str) -> None:
    ann.sign_in()
    answer = ask(ann, address)
    assert answer.status_code == 422
    assert 'aria-describedby="email-fault"' in answer.text
    assert f'value="{address}"' in answer.text
    assert mails() == []


def test_requests_are_limited(ann: Browser) -> None:
    ann.sign_in()
    assert [ask(ann, f"a{n}@example.test").status_code for n in range(6)] == [200] * 5 + [429]


@pytest.mark.parametrize("path", ["/new-address", "/old-address"])
def test_a_link_that_was_never_sent_opens_nothing(stranger: Browser, path: str) -> None:
    assert stranger.get(f"{path}?token=x").status_code == 410
    assert stranger.get(path).status_code == 410
    assert stranger.post(path, {"csrf": "x", "token": "x"}).status_code == 403
