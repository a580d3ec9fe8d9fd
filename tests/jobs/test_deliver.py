"""Delivery: a message is retried while it surely was not sent, and never repeated once that is uncertain."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select, update

from deploy.local.private_servers import free_port
from jobs import deliver, dispatcher
from mcp_server.toolkit.context import Caller
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery, Notification, add_deliveries, claim_delivery
from shared.outbox.wording.messages import AT_ONCE
from tests.jobs.conftest import Post, change, past, rows, work
from tests.shared.outbox.test_messages import OPTION, found
from tests.support.mail_server import Mailbox
from tests.support.people import everybody
from tests.support.settings_and_clock import Configure


def only() -> Delivery:
    (row,) = rows(Delivery)
    assert isinstance(row, Delivery)
    return row


def troubles() -> list[Notification]:
    with transaction() as session:
        return list(session.scalars(select(Notification).where(Notification.kind == "account")))


def due_again() -> None:
    change(Delivery, claimed_until=past(), wake_at=past())


@pytest.mark.spec("s6.2.route_monitor_email")
def test_a_delivery_passes_from_the_outbox_to_the_mail_server_once(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    dispatcher.step()
    work()
    row = only()
    assert (row.status, row.attempt, row.facts, row.error) == ("sent", 1, {}, None)
    assert row.sent_at is not None
    assert mailbox.ids == [f"<{delivery}@example.test>"]
    assert mailbox.mails[0]["Subject"] == "[SANDBOX] New York for two: from 85,000 points on Thu 4 Mar"
    assert deliver.wake(delivery) == 0
    assert len(mailbox.taken) == 1


def test_the_row_says_handing_over_while_the_content_is_on_its_way(post: Post, mailbox: Mailbox) -> None:
    seen: list[str] = []
    mailbox.during = lambda: seen.append(only().status)
    deliver.wake(post())
    assert seen == ["handing_over"]
    assert only().status == "sent"


def test_one_wake_up_sends_everything_that_waits(post: Post, mailbox: Mailbox) -> None:
    first, *_ = [post(f"event-{n}") for n in range(6)]
    assert deliver.wake(first) == 6
    assert len(set(mailbox.ids)) == 6


def test_what_waits_longest_goes_first(post: Post, mailbox: Mailbox) -> None:
    first, second, third = (post(f"event-{n}") for n in range(3))
    with transaction() as session:
        session.execute(update(Delivery).where(Delivery.id == third).values(wake_at=past()))
    assert deliver.wake() == 3
    assert mailbox.ids == [f"<{id}@example.test>" for id in (third, first, second)]


def write_many(owner: Caller, count: int, event: str = "weekly_overview") -> None:
    """Messages of one account, written at once."""
    row = {"account_id": owner.account_id, "channel": "email", "recipient": "a@example.test", "event": event}
    keys = [f"{owner.public_id}-{event}-{n}" for n in range(count)]
    with transaction() as session:
        add_deliveries(session, [row | {"facts": {}, "dedupe_key": key} for key in keys])


def take(count: int, named: str | None = None) -> list[str]:
    """Claims one after the other, each in its transaction as workers do."""
    keys = []
    for _ in range(count):
        with transaction() as session:
            taken = claim_delivery(session, 60, named, AT_ONCE)
            assert taken is not None
            keys.append(session.get_one(Delivery, taken.id).dedupe_key)
    return keys


def test_sign_in_goes_first_and_then_who_was_served_longest_ago(clean: None) -> None:
    people = everybody()
    write_many(people.alice, 1500)  # more than are looked at
    last = "acc_alice-weekly_overview-1499"
    (named,) = (str(row.id) for row in rows(Delivery) if row.dedupe_key == last)
    assert take(1) == ["acc_alice-weekly_overview-0"]
    write_many(people.bob, 2)
    write_many(people.charlie, 1)
    taken = [key.removeprefix("acc_").replace("weekly_overview-", "") for key in take(5)]
    assert taken == ["bob-0", "charlie-0", "alice-1", "bob-1", "alice-2"]
    write_many(people.bob, 1, "reset_password")
    write_many(people.charlie, 1, "security_event")
    with transaction() as session:
        assert claim_delivery(session, 60, named, AT_ONCE) is None  # the wake-up for it takes these
    assert sorted(take(2)) == ["acc_bob-reset_password-0", "acc_charlie-security_event-0"]
    assert take(1, named) == [last]


def test_an_account_that_is_just_written_elsewhere_holds_no_message_up(post: Post, alice: Caller) -> None:
    delivery = post()
    with transaction() as session:
        session.get_one(Account, alice.account_id, with_for_update=True)
        assert deliver._claim(delivery)


def test_a_server_that_says_later_is_asked_again_with_the_same_message_id(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    mailbox.replies["data"] = "451 later"
    deliver.wake(delivery)
    row = only()
    assert (row.status, row.error) == ("pending", "the mail server refused the content with 451")
    assert deliver.wake(delivery) == 0  # not before its wait is over
    mailbox.replies.clear()
    due_again()
    deliver.wake(delivery)
    assert only().status == "sent"
    assert mailbox.ids == [f"<{delivery}@example.test>"]
    assert troubles() == []


def test_a_refusal_for_good_ends_it_and_the_inbox_says_so(post: Post, mailbox: Mailbox) -> None:
    mailbox.replies["rcpt"] = "550 no such user <script>"
    deliver.wake(post())
    row = only()
    assert (row.status, row.attempt) == ("failed", 1)
    (notice,) = troubles()
    assert notice.title == "An email could not be delivered"
    assert "alice@example.test" in notice.body
    assert "script" not in notice.body + (row.error or "")


def test_five_attempts_are_the_end(post: Post, configure: Configure) -> None:
    configure(MAIL_BACKEND="smtp", SMTP_PORT=free_port(), SMTP_SECURITY="none")
    delivery = post()
    for attempt in range(1, 6):
        assert deliver.wake(delivery) == 1
        assert only().attempt == attempt
        due_again()
    assert only().status == "failed"
    assert len(troubles()) == 1


def test_a_connection_lost_after_the_content_ends_as_uncertain_and_is_never_repeated(
    post: Post, mailbox: Mailbox
) -> None:
    delivery = post()
    mailbox.cut = "data"
    deliver.wake(delivery)
    mailbox.cut = None
    row = only()
    assert row.status == "uncertain"
    assert len(mailbox.taken) == 1
    (notice,) = troubles()
    assert "may or may not have reached alice@example.test" in notice.body
    due_again()
    dispatcher.step()
    work()
    assert deliver.wake(delivery) == 0
    assert (only().status, len(mailbox.taken)) == ("uncertain", 1)


def test_a_connection_lost_before_the_content_is_tried_again(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    mailbox.cut = "rcpt"
    deliver.wake(delivery)
    assert only().status == "pending"
    mailbox.cut = None
    due_again()
    deliver.wake(delivery)
    assert (only().status, len(mailbox.taken)) == ("sent", 1)


def test_a_worker_that_was_overtaken_does_not_begin_to_send(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    with transaction() as session:
        slow = claim_delivery(session, 150, delivery)
    change(Delivery, claimed_until=past())
    with transaction() as session:
        assert claim_delivery(session, 150, delivery) is not None
    assert slow is not None
    deliver.work(slow)
    assert (only().status, only().attempt, mailbox.taken) == ("claimed", 2, [])


def test_eight_workers_at_once_send_each_message_once(post: Post, mailbox: Mailbox) -> None:
    ids = [post(f"event-{n}") for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(deliver.wake, ids))
    assert sorted(mailbox.ids) == sorted(f"<{id}@example.test>" for id in ids)
    assert {row.status for row in rows(Delivery)} == {"sent"}


@pytest.mark.slow  # starts workers
@pytest.mark.running_clock  # workers are separate programs
def test_a_worker_killed_while_the_server_takes_the_content_leaves_it_uncertain(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    workers: list[subprocess.Popen[bytes]] = []
    mailbox.during = lambda: workers[0].kill()
    call = f"from jobs import deliver; deliver.wake({delivery!r})"
    workers.append(subprocess.Popen([sys.executable, "-c", call], env=os.environ))
    assert workers[0].wait(timeout=30) == -9
    mailbox.during = None
    assert only().status == "handing_over"
    assert deliver.wake(delivery) == 0  # its lease is still good
    due_again()
    dispatcher.step()
    work()
    row = only()
    assert (row.status, row.error) == ("uncertain", "its worker was lost while it was handed over")
    assert len(troubles()) == 1
    assert len(mailbox.taken) == 1


def test_a_worker_killed_before_the_content_is_replaced(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    with transaction() as session:
        claim_delivery(session, 150, delivery)  # and then that worker dies
    due_again()
    dispatcher.step()
    work()
    assert (only().status, only().attempt, len(mailbox.taken)) == ("sent", 2, 1)


def test_a_message_whose_workers_keep_dying_is_given_up(post: Post, mailbox: Mailbox) -> None:
    delivery = post()
    change(Delivery, attempt=5, status="claimed", claimed_until=past())
    deliver.wake(delivery)
    assert (only().status, mailbox.taken) == ("failed", [])


def test_without_a_mail_server_the_mail_lies_in_the_outbox_folder(
    post: Post, configure: Configure, tmp_path: Path
) -> None:
    configure(MAIL_BACKEND="outbox", OUTBOX_DIR=tmp_path)
    delivery = post()
    deliver.wake(delivery)
    assert [file.name for file in tmp_path.iterdir()] == [f"{delivery}.eml"]
    assert only().status == "sent"


def test_an_interrupted_file_is_written_again_without_a_twin(post: Post, configure: Configure, tmp_path: Path) -> None:
    configure(MAIL_BACKEND="outbox", OUTBOX_DIR=tmp_path)
    delivery = post()
    deliver.wake(delivery)
    change(Delivery, status="claimed", facts=found(OPTION), claimed_until=past())
    deliver.wake(delivery)
    assert [file.name for file in tmp_path.iterdir()] == [f"{UUID(delivery)}.eml"]
    assert only().status == "sent"
