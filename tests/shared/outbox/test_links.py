"""One-time links are written only at hand-over; the row holds only a part of what they follow from."""

from typing import Any, get_args
from uuid import UUID

import pytest
from sqlalchemy import select

from jobs import deliver
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery, Notification
from shared.db.profile import Profile
from shared.domain.deadlines import Kind
from shared.domain.short_ids import shorten_uuid
from shared.outbox import links
from shared.outbox.enqueue import tell, write_to
from shared.outbox.wording import deadlines
from shared.outbox.wording.messages import is_noticed, message, subject
from tests.shared.outbox.test_messages import OPTION, found
from tests.support.mail_server import Mailbox
from tests.support.people import account
from tests.support.settings_and_clock import Configure


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", email_confirmed_at=clock.now())


def write(who: Caller, event: str, facts: dict[str, Any]) -> str:
    with transaction() as session:
        write_to(session, session.get_one(Account, who.account_id), event, facts, dedupe_key="one")
        session.flush()
        return str(session.scalars(select(Delivery.id)).one())


def test_a_link_follows_from_key_purpose_account_and_nonce() -> None:
    held = links.facts("reset_password", "acc_1", "n1")
    assert links.secret(held) == links.secret(dict(held))
    others = [
        links.facts("confirm_email", "acc_1", "n1"),
        links.facts("reset_password", "acc_2", "n1"),
        links.facts("reset_password", "acc_1", "n2"),
    ]
    assert len({links.secret(one) for one in (held, *others)}) == 4
    assert links.secret(held) not in str(held)


def test_a_link_made_before_a_key_was_rotated_still_works(configure: Configure) -> None:
    configure(SECRET_KEYS="old")
    held = links.facts("reset_password", "acc_1", "n1")
    before = links.secret(held)
    configure(SECRET_KEYS="new,old")
    assert links.secret(held) == before
    assert links.secret(links.facts("reset_password", "acc_1", "n1")) != before
    configure(SECRET_KEYS="new")
    with pytest.raises(links.KeyGone):
        links.secret(held)


def test_the_mail_holds_the_whole_address(configure: Configure) -> None:
    configure(WEB_URL="https://travel.example")
    held = links.facts("confirm_email", "acc_1", "n1")
    mail = message("confirm_email", held, sandbox=True)
    address = f"https://travel.example/confirm?token={links.secret(held)}"
    assert address in mail.text
    assert address in mail.html
    assert mail.subject == "Confirm your email address"


@pytest.mark.parametrize("event", ["confirm_email", "reset_password", "account_exists"])
def test_mails_about_the_account_have_no_notice_and_no_sandbox_mark(event: str) -> None:
    assert not is_noticed(event)
    assert subject(event, {}, sandbox=True) == subject(event, {}, sandbox=False)


def test_a_changed_password_is_told_in_mail_and_inbox_and_is_never_called_invented() -> None:
    event = {"kind": "password_changed", "subject": "", "browser": "Firefox on Linux", "at": "2026-11-21T12:00+00:00"}
    assert is_noticed("security_event")
    mail = message("security_event", links.facts("not_me", "acc_alice", "n1") | event, sandbox=True)
    assert mail.subject == "Your password was changed"
    assert "With: Firefox on Linux" in mail.text
    assert "SANDBOX" not in mail.text + mail.html


def test_a_mail_that_cannot_be_delivered_is_told_without_its_link(alice: Caller, mailbox: Mailbox) -> None:
    mailbox.replies["rcpt"] = "550 no such user"
    deliver.wake(write(alice, "reset_password", links.facts("reset_password", "acc_alice", "n1")))
    with transaction() as session:
        notice = session.scalars(select(Notification)).one()
    assert notice.body.endswith("Ask for it again where you asked for it.")
    assert "token" not in notice.body


def test_a_mail_whose_key_is_gone_is_given_up_and_told(alice: Caller, mailbox: Mailbox) -> None:
    delivery = write(alice, "reset_password", links.facts("reset_password", "acc_alice", "n1") | {"key": "gone"})
    for _ in range(5):
        deliver.wake(delivery)
        with transaction() as session:
            row = session.scalars(select(Delivery)).one()
            row.claimed_until = row.wake_at = clock.now().replace(year=2000)
    assert (row.status, row.error, mailbox.taken) == ("failed", "KeyGone", [])


def test_a_mail_that_was_turned_off_is_not_sent_but_the_inbox_has_it(alice: Caller) -> None:
    with transaction() as session:
        session.add(Profile(account_id=alice.account_id, mail_route_monitors=False))
    with transaction() as session:
        row = session.get_one(Account, alice.account_id)
        tell(session, row, "route_monitor_match", found(OPTION), dedupe_key="a", mail=True)
        tell(
            session,
            row,
            "security_event",
            {"kind": "password_changed", "subject": "", "browser": ""},
            dedupe_key="b",
            mail=True,
        )
    with transaction() as session:
        assert session.scalars(select(Delivery.event)).all() == ["security_event"]
        assert len(session.scalars(select(Notification)).all()) == 2


@pytest.mark.parametrize(
    ("kind", "subject", "path"),
    [
        ("points", ("points_balance", "avios"), "/dashboard/balances/edit?program=avios&member="),
        (
            "points",
            ("points_balance", "avios of Zoë & Co"),
            "/dashboard/balances/edit?program=avios&member=Zo%C3%AB%20%26%20Co",
        ),
        ("card_credit", ("card", "12"), "/dashboard/cards/credits?card=12"),
        ("annual_fee", ("card", "12"), "/dashboard/cards/edit?card=12"),
        ("voucher", ("voucher", "7"), "/dashboard/vouchers/apply?voucher=7"),
        ("new_kind", ("new_thing", "7"), links.DEADLINES_PAGE),
    ],
)
def test_a_deadline_leads_to_the_page_that_settles_it(kind: str, subject: tuple[str, str], path: str) -> None:
    assert links.find_settling_path(kind, *subject) == path


def test_every_kind_of_deadline_has_a_page_of_its_own_and_words() -> None:
    """Facts of before the links were there have no subject: they lead to the list of all."""
    words = [deadlines.describe_step(kind) for kind in get_args(Kind)]
    assert len(set(words)) == len(words)
    assert deadlines.find_page({"kind": "points"}).endswith(links.DEADLINES_PAGE)


def test_a_notice_about_a_forwarded_mail_leads_to_its_page() -> None:
    id = UUID("12345678-1234-5678-1234-567812345678")
    path = links.find_subject_path("inbox_message", str(id))
    assert path == f"/dashboard/inbox/{shorten_uuid(id)}"
    assert links.find_subject_path("something_else", 1) is None
