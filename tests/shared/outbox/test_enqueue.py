"""Notices and deliveries are rows of the transaction that caused them, once per event."""

from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction, unscoped
from shared.db.messages import Delivery, Notification
from shared.outbox.enqueue import tell
from tests.shared.outbox.test_messages import OPTION, found
from tests.support.people import account

FACTS: dict[str, Any] = found(OPTION)


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", email_confirmed_at=clock.now())


def say(who: Caller, key: str = "event-1", **more: Any) -> bool:
    with transaction() as session:
        row = session.get_one(Account, who.account_id)
        return tell(session, row, "route_monitor_match", FACTS, dedupe_key=key, **more) is not None


def stored() -> tuple[list[Notification], list[Delivery]]:
    with transaction() as session:
        return list(session.scalars(select(Notification))), list(session.scalars(select(Delivery)))


def test_an_event_makes_one_notice_and_one_mail_however_often_it_is_told(alice: Caller) -> None:
    assert [say(alice, mail=True, subject=("route_monitor", 12)) for _ in range(3)] == [True, False, False]
    (notice,), (mail,) = stored()
    assert (notice.kind, notice.subject_type, notice.subject_id) == ("route_monitor", "route_monitor", "12")
    assert notice.title == "New York for two: from 85,000 points on Thu 4 Mar"
    assert (mail.recipient, mail.channel, mail.status, mail.facts) == ("alice@example.test", "email", "pending", FACTS)
    assert mail.notification_id == notice.id
    assert notice.synthetic
    assert mail.synthetic


def test_what_is_rolled_back_was_never_said(alice: Caller) -> None:
    def fail() -> None:
        with transaction() as session:
            tell(session, session.get_one(Account, alice.account_id), "plan_changed", PLAN, dedupe_key="x", mail=True)
            raise RuntimeError("the change itself failed")

    PLAN = {"plan": "pro", "paused": {}, "resumed": {}}
    with pytest.raises(RuntimeError):
        fail()
    assert stored() == ([], [])


def test_only_a_confirmed_address_is_written_to(clean: None) -> None:
    unconfirmed, agent = account("new"), account("agent", email_confirmed_at=clock.now())
    with transaction() as session:
        session.get_one(Account, agent.account_id).email = None
    assert say(unconfirmed, "a", mail=True)
    assert say(agent, "b", mail=True)
    notices, mails = stored()
    assert (len(notices), mails) == (2, [])


def test_a_notice_of_a_synthetic_session_is_marked_so(alice: Caller) -> None:
    with transaction() as session:
        session.info["synthetic"] = False
        tell(session, session.get_one(Account, alice.account_id), "route_monitor_match", FACTS, dedupe_key="live")
    with transaction() as session:
        assert session.scalars(select(Notification)).all() == []
        session.info["synthetic"] = False
        assert len(unscoped(session).scalars(select(Notification)).all()) == 1
