"""Messages to people's channels: once for each event, in their hours, within limits, and nowhere they should not go."""

import base64
import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from deploy.local.private_servers import free_port
from jobs import deliver, dispatcher
from jobs.deliver import BREAKS_PER_HOUR, PER_HOUR
from jobs.queue import DELIVERIES, DRAIN_SECONDS
from mcp_server.toolkit.context import Caller
from shared import clock, limits
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.message_channels import MessageChannel, hash_address, seal_address
from shared.db.messages import Delivery, Notification
from shared.db.profile import Profile
from shared.domain.message_channels import NAMES, name_channel
from shared.outbox.channels import webhook
from shared.outbox.enqueue import tell
from tests.jobs.conftest import Post, change, past, rows, work
from tests.shared.outbox.test_messages import OPTION, found
from tests.support.fake_push_browser import PushBrowser
from tests.support.fake_receiver import Receiver, receiver
from tests.support.mail_server import Mailbox
from tests.support.settings_and_clock import Configure, StandingClock

KEY = webhook.make_secret()
Add = Callable[..., int]


@pytest.fixture
def hook(configure: Configure) -> Iterator[Receiver]:
    with receiver() as state:
        configure(CHANNEL_NETWORKS="127.0.0.1/32, 10.9.0.0/16", SANDBOX_ALLOW_MESSAGES="1")
        yield state


@pytest.fixture
def add(alice: Caller, hook: Receiver) -> Add:
    """add(kind, **columns) -> the id of a proved channel of Alice."""

    def write(kind: str = "webhook", address: dict[str, str] | None = None, **columns: Any) -> int:
        parts = address or {"url": f"{hook.address}/hooks/a"}
        values = {"wanted_kinds": ["route_monitors"], "proved_at": clock.now()} | columns
        with transaction(alice.account_id) as session:
            row = MessageChannel(
                kind=kind,
                address_sealed=seal_address(parts | {"secret": KEY}),
                address_hash=hash_address(kind, parts)[0],
                name=name_channel(kind, parts),
                **values,
            )
            session.add(row)
            session.flush()
            return row.id

    return write


def send_all() -> list[Delivery]:
    """What waits for a channel is worked on once."""
    for row in list_rows():
        deliver.wake(str(row.id))
    return list_rows()


def list_rows() -> list[Delivery]:
    with transaction() as session:
        channels = Delivery.channel.in_(list(NAMES))
        return list(session.scalars(select(Delivery).where(channels).order_by(Delivery.wake_at)))


def list_troubles() -> list[Notification]:
    with transaction() as session:
        return list(session.scalars(select(Notification).where(Notification.kind == "account")))


def is_proved() -> bool:
    (row,) = rows(MessageChannel)
    return row.proved_at is not None


def test_a_webhook_is_signed_as_receivers_check_it(post: Post, add: Add, hook: Receiver) -> None:
    add()
    post()
    (row,) = send_all()
    assert (row.status, row.facts, row.recipient) == ("sent", {}, "Webhook at 127.0.0.1")
    ((headers, body),) = hook.received
    assert headers["webhook-id"] == str(row.id)
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.digest(base64.b64decode(KEY.removeprefix("whsec_")), text, hashlib.sha256)
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert int(headers["webhook-timestamp"]) == int(clock.now().timestamp())
    (message,) = hook.read_bodies()
    assert message["type"] == "route_monitors"
    assert message["data"]["title"] == "[SANDBOX] New York for two: from 85,000 points on Thu 4 Mar"
    assert message["data"]["text"].startswith("SANDBOX - invented data for testing.")
    assert "mail" not in message["data"]["text"]
    assert message["data"]["link"].startswith("http://127.0.0.1:8000/dashboard")


def test_ntfy_gets_topic_title_text_and_link(post: Post, add: Add, hook: Receiver) -> None:
    add("ntfy", {"server": hook.address, "topic": "trips-4711", "token": "tk_1"})
    post()
    assert [row.status for row in send_all()] == ["sent"]
    ((headers, _),) = hook.received
    assert headers["Authorization"] == "Bearer tk_1"
    (message,) = hook.read_bodies()
    assert sorted(message) == ["click", "message", "title", "topic"]
    assert message["topic"] == "trips-4711"


def test_a_browser_gets_title_text_and_page_encrypted_for_it(post: Post, add: Add, hook: Receiver) -> None:
    browser, hook.status = PushBrowser(), 201
    add("web_push", browser.describe(f"{hook.address}/push/a-name"))
    post()
    (row,) = send_all()
    assert (row.status, row.recipient) == ("sent", "Firefox on Linux ending in ame")
    ((headers, body),) = hook.received
    message = json.loads(browser.decrypt(body))
    assert (message["id"], message["title"]) == (
        str(row.id),
        "[SANDBOX] New York for two: from 85,000 points on Thu 4 Mar",
    )
    assert message["text"].startswith("SANDBOX - invented data for testing.")
    assert message["link"].startswith("/dashboard")
    assert headers["Topic"] == row.id.hex


@pytest.mark.parametrize(
    ("status", "end", "is_kept"),
    [
        (404, "failed", False),
        (410, "failed", False),
        (413, "failed", True),
        (429, "pending", True),
        (503, "pending", True),
    ],
)
def test_a_subscription_ends_when_its_push_service_says_so(
    post: Post, add: Add, hook: Receiver, status: int, end: str, is_kept: bool
) -> None:
    hook.status = status
    add("web_push", PushBrowser().describe(f"{hook.address}/push/a-name"))
    post()
    assert [row.status for row in send_all()] == [end]
    assert is_proved() is is_kept


def test_mail_and_each_channel_get_one_message_of_an_event(
    post: Post, add: Add, hook: Receiver, mailbox: Mailbox
) -> None:
    add()
    add("ntfy", {"server": hook.address, "topic": "trips", "token": ""})
    post()
    post()
    dispatcher.step()
    work()
    assert (len(hook.received), len(mailbox.taken)) == (2, 1)
    assert {row.status for row in rows(Delivery)} == {"sent"}


@pytest.mark.parametrize("columns", [{"wanted_kinds": ["deadlines"]}, {"proved_at": None}])
def test_a_channel_gets_nothing_it_does_not_want_or_did_not_prove(
    post: Post, add: Add, hook: Receiver, columns: dict[str, Any]
) -> None:
    add(**columns)
    post()
    assert send_all() == []
    assert hook.received == []


def test_who_wants_no_mail_is_told_by_channel_alone(post: Post, add: Add, hook: Receiver, alice: Caller) -> None:
    add()
    with transaction(alice.account_id) as session:
        session.add(Profile(mail_route_monitors=False))
    with transaction() as session:
        row = session.get_one(Account, alice.account_id)
        tell(session, row, "route_monitor_match", found(OPTION), dedupe_key="event-1", mail=True)
    assert [row.channel for row in rows(Delivery)] == ["webhook"]
    assert [row.status for row in send_all()] == ["sent"]


def test_a_worker_lost_in_the_hand_over_repeats_nothing(post: Post, add: Add, hook: Receiver) -> None:
    add()
    post()
    (row,) = list_rows()
    statuses: list[str] = []
    hook.during = lambda: statuses.append(list_rows()[0].status)
    hook.cut = True
    send_all()
    assert statuses == ["handing_over"]
    assert list_rows()[0].status == "uncertain"
    change(Delivery, claimed_until=past(), wake_at=past())
    hook.cut = False
    deliver.wake(str(row.id))
    assert len(hook.received) == 1
    (notice,) = list_troubles()
    assert notice.title == "A message may not have arrived"
    assert "Webhook at 127.0.0.1" in notice.body


def test_a_receiver_that_is_busy_or_down_is_asked_again_with_the_same_id(post: Post, add: Add, hook: Receiver) -> None:
    add()
    post()
    for status in (503, 429, 500):
        hook.status = status
        (row,) = send_all()
        assert (row.status, row.error) == ("pending", f"it answered {status}")
        change(Delivery, claimed_until=past(), wake_at=past())
    hook.status = 204
    assert [row.status for row in send_all()] == ["sent"]
    assert {headers["webhook-id"] for headers, _ in hook.received} == {str(row.id)}
    assert list_troubles() == []


def test_a_receiver_that_cannot_be_reached_is_asked_again(post: Post, add: Add) -> None:
    add(address={"url": f"http://127.0.0.1:{free_port()}/"})
    post()
    (row,) = send_all()
    assert (row.status, row.attempt, row.error) == ("pending", 1, "it could not be reached (ConnectError)")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(post: Post, add: Add, hook: Receiver, status: int) -> None:
    hook.status, hook.headers = status, {"Location": f"{hook.address}/elsewhere"}
    add()
    post()
    (row,) = send_all()
    assert (row.status, row.error) == ("failed", f"it answered {status}, a redirect, which is not followed")
    assert hook.paths == ["/hooks/a"]
    assert is_proved()


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_receiver_that_is_gone_is_written_to_no_more(post: Post, add: Add, hook: Receiver, status: int) -> None:
    add()
    post()
    hook.status = status
    assert [row.status for row in send_all()] == ["failed"]
    assert not is_proved()
    (notice,) = list_troubles()
    assert "nothing more is sent there until you prove it again" in notice.body
    post("event-2")
    send_all()
    assert len(hook.received) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://localhost/",
        "https://2130706433/",
    ],
)
def test_an_address_within_a_private_network_is_refused_at_each_send(
    post: Post, add: Add, configure: Configure, url: str
) -> None:
    configure(CHANNEL_NETWORKS="")
    add(address={"url": url})
    post()
    (row,) = send_all()
    assert (row.status, row.error) == ("failed", "its address is in a private network")


def test_without_encryption_nothing_goes_to_a_public_address(post: Post, add: Add) -> None:
    add(address={"url": "http://192.0.2.1/"})
    post()
    (row,) = send_all()
    assert (row.status, row.error) == ("failed", "its address is not encrypted")


def test_quiet_hours_put_a_message_off_without_an_attempt(
    post: Post, add: Add, hook: Receiver, alice: Caller, standing_clock: StandingClock
) -> None:
    add(quiet_from=21, quiet_until=6)
    with transaction(alice.account_id) as session:
        session.add(Profile(timezone="Asia/Tokyo"))
    post()
    (row,) = send_all()  # noon in UTC is 21:00 in Tokyo
    assert (row.status, row.attempt, row.error) == ("pending", 0, None)
    assert timedelta(0) <= row.wake_at - clock.now() - timedelta(hours=9) < timedelta(minutes=1)
    assert (row.claimed_until, hook.received) == (row.wake_at, [])
    standing_clock.advance(timedelta(hours=9))
    assert [row.status for row in send_all()] == ["sent"]
    assert len(hook.received) == 1


def test_an_event_that_cannot_wait_is_left_out_in_quiet_hours(add: Add, hook: Receiver, alice: Caller) -> None:
    add(quiet_from=11, quiet_until=13, wanted_kinds=["delay_alerts"])
    delay = {"kind": "departure", "minutes": 45, "reason": None, "ends_at": None, "source": "faa"}
    facts = {"airport": "JFK", "airport_name": "JFK", "delays": [delay], "alerts": [[1, None]], "unproved": []}
    with transaction(alice.account_id) as session:
        account = session.get_one(Account, alice.account_id)
        tell(session, account, "delay_alert", facts, dedupe_key="delay", by_channels=True)
    (row,) = send_all()
    assert (row.status, row.error) == ("failed", "it was the quiet of this channel")
    assert (hook.received, list_troubles()) == ([], [])


def test_a_channel_takes_so_many_messages_an_hour_and_the_rest_wait(post: Post, add: Add, hook: Receiver) -> None:
    add()
    for number in range(PER_HOUR + 2):
        post(f"event-{number}")
    statuses = [row.status for row in send_all()]
    assert (len(hook.received), statuses.count("sent"), statuses.count("pending")) == (PER_HOUR, PER_HOUR, 2)
    assert {row.attempt for row in list_rows() if row.status == "pending"} == {0}


@pytest.fixture(params=[-12, 12])
def wrong_host(
    request: pytest.FixtureRequest, mailbox: Mailbox, standing_clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> StandingClock:
    """The machine of this program is so many hours ahead of the database's; mails leave next to the other messages."""
    monkeypatch.setattr(clock, "now", lambda: standing_clock.now() + timedelta(hours=request.param))
    monkeypatch.setitem(DRAIN_SECONDS, DELIVERIES, 2)
    return standing_clock


def test_what_waits_for_its_hour_is_claimed_once_by_a_host_with_a_wrong_clock(
    post: Post, add: Add, hook: Receiver, wrong_host: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "PER_HOUR", 2)
    add()
    for number in range(3):
        post(f"event-{number}")
    assert [deliver.wake() for _ in range(2)] == [3 + 3, 0]
    wrong_host.advance(timedelta(minutes=59))
    assert (deliver.wake(), len(hook.received)) == (0, 2)
    wrong_host.advance(timedelta(minutes=1))
    assert (deliver.wake(), len(hook.received)) == (1, 3)


def test_quiet_lasts_as_long_for_a_host_with_a_wrong_clock(
    post: Post, add: Add, hook: Receiver, wrong_host: StandingClock
) -> None:
    add(quiet_from=22, quiet_until=3)  # it is midnight there
    post()
    assert [deliver.wake() for _ in range(2)] == [1 + 1, 0]
    wrong_host.advance(timedelta(hours=3))
    assert (deliver.wake(), len(hook.received)) == (1, 1)


@pytest.mark.parametrize(("hours", "status"), [(23, "sent"), (25, "failed")])
def test_how_old_a_message_is_depends_on_no_host(
    post: Post, add: Add, wrong_host: StandingClock, hours: int, status: str
) -> None:
    add()
    post()
    change(Delivery, created_at=past(hours * 3600))
    assert [row.status for row in send_all()] == [status]


def test_a_limit_is_not_forgotten_by_a_late_answer_of_redis(
    post: Post, add: Add, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_too_long() -> None:
        raise TimeoutError

    monkeypatch.setattr(deliver, "PER_HOUR", 2)
    monkeypatch.setattr("shared.redis._away_until", 0.0)
    add()
    for number in range(4):
        post(f"event-{number}")
        if number == 2:
            monkeypatch.setattr(limits, "connect", take_too_long)
        deliver.wake()
    assert len(hook.received) == 2


def test_a_receiver_that_breaks_connections_waits_for_the_next_hour(post: Post, add: Add, hook: Receiver) -> None:
    add()
    hook.cut = True
    for number in range(BREAKS_PER_HOUR + 2):
        post(f"event-{number}")
    statuses = [row.status for row in send_all()]
    assert (statuses.count("uncertain"), statuses.count("pending")) == (BREAKS_PER_HOUR, 2)
    assert len(hook.received) == BREAKS_PER_HOUR


def test_a_receiver_that_does_not_answer_keeps_no_worker(
    post: Post, add: Add, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.http.STRANGER_SECONDS", 0.2)
    add()
    post()
    is_over = threading.Event()
    hook.during = is_over.wait
    (row,) = send_all()
    is_over.set()
    assert (row.status, row.attempt) == ("uncertain", 1)
    assert row.error == "the connection broke while it was handed over (TimeoutError)"


def test_a_removed_channel_gets_nothing_that_was_on_its_way(post: Post, add: Add, hook: Receiver) -> None:
    add()
    post()
    with transaction() as session:
        session.execute(MessageChannel.__table__.delete())  # type: ignore[attr-defined]
    assert [row.status for row in send_all()] == ["failed"]
    assert (hook.received, list_troubles()) == ([], [])


def test_a_message_that_waited_for_a_day_is_dropped(post: Post, add: Add, hook: Receiver) -> None:
    add()
    post()
    change(Delivery, created_at=past(25 * 3600))
    assert [row.status for row in send_all()] == ["failed"]
    assert hook.received == []


def test_invented_data_goes_nowhere_unless_the_operator_allows_it(
    post: Post, add: Add, hook: Receiver, configure: Configure
) -> None:
    add()
    post()
    configure(SANDBOX_ALLOW_MESSAGES="0")
    assert [row.status for row in send_all()] == ["failed"]
    assert hook.received == []


def test_neither_key_nor_address_stands_in_the_log(
    post: Post, add: Add, hook: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    add(address={"url": f"{hook.address}/a-secret-path"})
    post()
    hook.status = 500
    send_all()
    assert "a-secret-path" not in caplog.text
    assert KEY not in caplog.text
