"""Addresses a person forwards from: each is confirmed by the link mailed to it, ten at most, and can be removed."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts import forwarding_addresses
from auth_server.pages import forwarding_addresses as page
from auth_server.sweep import sweep
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.forwarding_addresses import ForwardingAddress, is_own_address
from shared.db.security_events import SecurityEvent
from tests.auth_server.in_process_browser import Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_address_change import press
from tests.auth_server.test_dashboard import csrf, send

WORK = "ann@work.test"


@pytest.fixture
def owner(ann: Browser) -> Browser:
    ann.sign_in()
    return ann


def add(browser: Browser, address: str = WORK) -> Any:
    return send(browser, page.PATH, page.PATH, email=address)


def counts(address: str = WORK) -> bool:
    with transaction() as session:
        account_id = session.scalars(select(Account.id).order_by(Account.id)).first()
        assert account_id is not None
        return is_own_address(session, account_id, address)


def remove(browser: Browser, number: object) -> Any:
    action = f"{page.PATH}/remove"
    token = hidden(browser.get(page.PATH).text.partition(action)[2], "csrf")
    return browser.post(action, {"csrf": token, "address_id": str(number)})


def test_an_address_counts_once_the_link_in_the_mail_to_it_was_opened(owner: Browser, mails: Mails) -> None:
    answer = add(owner, " Ann@Work.Test ")
    assert answer.headers["location"] == f"{page.PATH}?done=forwarding_asked"
    assert "not\n          confirmed yet" in owner.get(page.PATH).text
    mail = mails()[-1]
    assert (mail["To"], mail["Subject"]) == (WORK, "Confirm an address to forward from")
    assert not counts()
    path = link(mail)
    assert WORK in owner.get(path).text
    assert not counts()
    assert press(owner, path).status_code == 200
    assert counts()
    assert "confirmed on" in owner.get(page.PATH).text
    assert press(owner, path).status_code == 410
    with transaction() as session:
        events = session.scalars(select(SecurityEvent).where(SecurityEvent.kind == "forwarding_added")).all()
    assert [event.subject for event in events] == [WORK]
    assert "Bookings forwarded from ann@work.test" in text(mails()[-1])


def test_a_removed_address_counts_no_more_and_its_link_is_dead(owner: Browser, mails: Mails) -> None:
    add(owner)
    path = link(mails()[-1])
    with transaction() as session:
        number = session.scalars(select(ForwardingAddress.id)).one()
    assert remove(owner, number).headers["location"] == f"{page.PATH}?done=forwarding_removed"
    assert press(owner, path).status_code == 410
    assert not counts()
    assert WORK not in owner.get(page.PATH).text


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 30, "0"])
def test_nothing_of_others_is_removed(owner: Browser, mails: Mails, number: str) -> None:
    with transaction() as session:
        other = Account(public_id="acc_other", email="other@example.test", plan="free")
        session.add(other)
        session.flush()
        row = ForwardingAddress(account_id=other.id, address="other@work.test")
        session.add(row)
        session.flush()
        theirs = row.id
    add(owner)
    for id in (number, theirs):
        remove(owner, id)
    with transaction() as session:
        assert len(session.scalars(select(ForwardingAddress)).all()) == 2


@pytest.mark.parametrize("address", ["", "x", "a@b@c.test", "a b@c.test", "Ann <a@b.test>", "a@b.test, c@d.test"])
def test_what_is_no_address_is_said_at_the_field_and_stays_in_it(owner: Browser, mails: Mails, address: str) -> None:
    answer = add(owner, address)
    assert answer.status_code == 422
    assert "is not an email address" in answer.text
    assert mails() == []


def test_the_own_address_and_a_confirmed_one_are_not_asked_for_again(owner: Browser, mails: Mails) -> None:
    with transaction() as session:
        own = session.scalars(select(Account.email).order_by(Account.id)).first() or ""
    assert "is confirmed already" in add(owner, own).text
    add(owner)
    press(owner, link(mails()[-1]))
    assert "is confirmed already" in add(owner).text


def test_ten_are_the_most_and_adding_one_again_mails_again(
    owner: Browser, mails: Mails, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarding_addresses, "MAX_ADDRESSES", 2)
    token = csrf(owner, page.PATH, page.PATH)
    add(owner)
    add(owner)
    add(owner, "b@work.test")
    assert [m["To"] for m in mails()] == [WORK, WORK, "b@work.test"]
    assert "is one too many" in owner.post(page.PATH, {"csrf": token, "email": "c@work.test"}).text
    assert "Remove one first" in owner.get(page.PATH).text


def test_one_account_causes_few_mails_a_day(owner: Browser, mails: Mails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "ADDED_PER_DAY", 2)
    assert [add(owner, f"{n}@work.test").status_code for n in range(3)] == [303, 303, 429]


def test_an_unconfirmed_address_goes_after_a_week_and_a_confirmed_one_stays(owner: Browser, mails: Mails) -> None:
    add(owner)
    add(owner, "b@work.test")
    press(owner, link(mails()[-1]))
    with transaction() as session:
        session.execute(update(ForwardingAddress).values(created_at=clock.now() - timedelta(days=8)))
    assert sweep()["forwarding_addresses"] == 1
    assert counts("b@work.test")


def test_whoever_says_that_it_was_not_them_loses_addresses_added_of_late(owner: Browser, mails: Mails) -> None:
    add(owner)
    press(owner, link(mails()[-1]))
    mail = next(m for m in reversed(mails()) if "/not-me?" in text(m))
    path = next(word for word in text(mail).split() if "/not-me?" in word)
    page = "/not-me?" + path.partition("/not-me?")[2]
    assert "addresses that were allowed to forward bookings" in " ".join(owner.get(page).text.split())
    pressed = press(owner, page)
    assert pressed.status_code == 200
    assert "addresses allowed to forward bookings in these days are removed" in pressed.text
    assert not counts()


def test_an_agents_addresses_become_those_of_who_claims_it(clean: None) -> None:
    from shared.db.accounts import absorb

    with transaction() as session:
        agent, person = (Account(public_id=f"acc_{n}", plan="free") for n in ("agent", "person"))
        session.add_all([agent, person])
        session.flush()
        both = ("a@work.test", agent), ("a@work.test", person), ("b@work.test", agent)
        session.add_all([ForwardingAddress(account_id=owner.id, address=address) for address, owner in both])
        session.flush()
        absorb(session, agent.id, person.id)
        rows = session.execute(select(ForwardingAddress.account_id, ForwardingAddress.address)).all()
    assert sorted((i, a) for i, a in rows) == [(person.id, "a@work.test"), (person.id, "b@work.test")]
