"""A browser as a channel: its subscription is taken within limits, and a first message proves it."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts.message_channels import MAX_CHANNELS
from auth_server.pages.account import export_account
from jobs import deliver
from shared import clock
from shared.db.base import transaction
from shared.db.message_channels import MessageChannel, open_address, seal_address
from shared.db.messages import Delivery
from shared.db.push_keys import encode_point, get_push_key
from shared.outbox.channels.web_push import encode
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_dashboard import csrf
from tests.auth_server.test_phones import find_id
from tests.auth_server.test_sweep import whole_database
from tests.support.fake_push_browser import PushBrowser
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

CHANNELS = "/dashboard/settings/channels"
PAGE, PROVE = f"{CHANNELS}/browser", f"{CHANNELS}/prove"
NO_SUBSCRIPTION = "Your browser gave no subscription that can be written to."
Later = Callable[[timedelta], None]


@pytest.fixture
def push_service(configure: Configure) -> Iterator[Receiver]:
    """A push service on loopback, which speaks HTTP without encryption."""
    with receiver() as state:
        state.status = 201
        configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")
        yield state


@pytest.fixture
def ann(ann: Browser, push_service: Receiver) -> Browser:
    ann.sign_in()
    return ann


@pytest.fixture
def push() -> PushBrowser:
    return PushBrowser()


def list_rows() -> list[MessageChannel]:
    with transaction() as session:
        return list(session.scalars(select(MessageChannel).order_by(MessageChannel.id)))


def send(who: Browser, content: object) -> Any:
    text = content if isinstance(content, str) else json.dumps(content)
    return who.post(PAGE, {"csrf": csrf(who, PAGE, PAGE), "subscription": text})


def subscribe(who: Browser, push_service: Receiver, push: PushBrowser, path: str = "/push/a-secret-name") -> Any:
    """The subscription is taken as one of an encrypted address, and then leads to the fake."""
    answer = send(who, push.subscribe(f"https://127.0.0.1:{push_service.port}{path}"))
    for row in list_rows():
        address = open_address(row) or {}
        sealed = seal_address(address | {"url": address["url"].replace("https://", "http://")})
        with transaction() as session:
            session.execute(update(MessageChannel).where(MessageChannel.id == row.id).values(address_sealed=sealed))
    return answer


def send_all() -> None:
    with transaction() as session:
        waiting = update(Delivery).where(Delivery.status == "pending", Delivery.event == "channel_code")
        ids = session.scalars(waiting.values(created_at=clock.now()).returning(Delivery.id)).all()
    for id in ids:
        deliver.wake(str(id))


def read_code(push_service: Receiver, push: PushBrowser) -> str:
    send_all()
    link = json.loads(push.decrypt(push_service.received[-1][1]))["link"]
    page, _, code = link.partition("#")
    assert page == PAGE
    return str(code)


def enter(who: Browser, code: str, row: MessageChannel) -> Any:
    return who.post(PROVE, {"csrf": csrf(who, PAGE, PROVE), "channel_id": str(row.id), "code": code})


def prove(who: Browser, push_service: Receiver, push: PushBrowser) -> MessageChannel:
    assert subscribe(who, push_service, push).headers["location"] == f"{PAGE}?done=sent"
    (row,) = list_rows()
    location = enter(who, read_code(push_service, push), row).headers["location"]
    assert location == f"{CHANNELS}/edit?id={row.id}&done=channel_added"
    return list_rows()[0]


def test_a_browser_is_proved_by_the_code_of_its_first_message(
    ann: Browser, push_service: Receiver, push: PushBrowser
) -> None:
    assert f'href="{PAGE}"' in ann.get(CHANNELS).text
    row = prove(ann, push_service, push)
    assert (row.kind, row.proved_at) == ("web_push", clock.now())
    assert row.name in ann.get(CHANNELS).text
    assert row.name.endswith("ending in ame")


def test_the_page_names_the_key_that_signs_and_is_the_same_each_time(ann: Browser) -> None:
    pages = [ann.get(PAGE).text for _ in range(2)]
    with transaction() as session:
        key = encode(encode_point(get_push_key(session).public_key()))
    assert [f'data-key="{key}"' in page for page in pages] == [True, True]


def test_only_this_page_runs_its_script_and_says_what_else_there_is_without(ann: Browser) -> None:
    answer = ann.get(PAGE)
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.text.count("<script") == 1
    assert "data-without-push>" in answer.text
    assert "script-src" not in ann.get(CHANNELS).headers["content-security-policy"]
    for name in ("push.js", "push-worker.js"):
        assert ann.get(f"/static/{name}").headers["content-type"].startswith("text/javascript")


def test_the_form_of_other_kinds_does_not_take_a_browser(ann: Browser) -> None:
    assert ann.get(f"{CHANNELS}/new?kind=web_push").headers["location"] == f"{CHANNELS}?done="
    fields = {"csrf": csrf(ann, f"{CHANNELS}/new?kind=ntfy", f"{CHANNELS}/new"), "kind": "web_push"}
    assert ann.post(f"{CHANNELS}/new", fields).headers["location"] == f"{CHANNELS}?done="
    assert list_rows() == []


@pytest.mark.parametrize("content", ["", "{", "[" * 1500, {"endpoint": "http://push.example.com/a", "keys": {}}])
def test_what_is_no_subscription_is_refused(ann: Browser, content: object) -> None:
    answer = send(ann, content)
    assert (answer.status_code, NO_SUBSCRIPTION in answer.text) == (422, True)
    assert list_rows() == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://push.example.com/a", NO_SUBSCRIPTION),
        ("https://push.example.com/" + "a" * 1000, NO_SUBSCRIPTION),
        ("https://10.0.0.1/a", "10.0.0.1 is in a private network, which this service does not send to."),
        ("https://localhost/a", "localhost is in a private network, which this service does not send to."),
        ("https://169.254.169.254/a", "169.254.169.254 is in a private network"),
    ],
)
def test_an_address_that_no_browser_would_give_is_refused(
    ann: Browser, configure: Configure, push: PushBrowser, url: str, words: str
) -> None:
    configure(CHANNEL_NETWORKS="")
    answer = send(ann, push.subscribe(url))
    assert (answer.status_code, words in answer.text) == (422, True)
    assert list_rows() == []


def test_a_form_of_another_site_is_refused(ann: Browser, push: PushBrowser) -> None:
    content = json.dumps(push.subscribe("https://push.example.com/a"))
    assert ann.post(PAGE, {"csrf": "x", "subscription": content}).status_code == 403
    assert list_rows() == []


def test_a_subscription_of_five_channels_is_refused(ann: Browser, push_service: Receiver, push: PushBrowser) -> None:
    for number in range(MAX_CHANNELS):
        assert subscribe(ann, push_service, push, f"/push/{number}").status_code == 303
    assert f"You have {MAX_CHANNELS} channels" in subscribe(ann, push_service, push, "/push/more").text


def test_the_same_browser_is_one_channel_and_gets_another_message(
    ann: Browser, push_service: Receiver, push: PushBrowser
) -> None:
    subscribe(ann, push_service, push)
    first = read_code(push_service, push)
    subscribe(ann, push_service, push)
    second = read_code(push_service, push)
    (row,) = list_rows()
    assert first == second or enter(ann, first, row).status_code == 422
    assert enter(ann, second, row).status_code == 303
    assert "proved already" in subscribe(ann, push_service, push).text


def test_the_page_asks_for_the_code_of_the_browser_that_was_written_to_last(
    ann: Browser, push_service: Receiver, push: PushBrowser, later: Later
) -> None:
    subscribe(ann, push_service, push, "/push/first-1")
    later(timedelta(minutes=1))
    subscribe(ann, push_service, push, "/push/second")
    first, second = list_rows()
    assert f'name="channel_id" value="{second.id}"' in ann.get(PAGE).text
    assert f'name="channel_id" value="{first.id}"' not in ann.get(PAGE).text


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_ended_is_said_on_the_page(
    ann: Browser, push_service: Receiver, push: PushBrowser, status: int
) -> None:
    push_service.status = status
    subscribe(ann, push_service, push)
    assert "could not be delivered" not in ann.get(PAGE).text
    send_all()
    assert len(push_service.received) == 1
    assert "could not be delivered" in ann.get(PAGE).text


def test_nobody_proves_the_browser_of_somebody_else(
    ann: Browser, bob: Browser, push_service: Receiver, push: PushBrowser
) -> None:
    subscribe(ann, push_service, push)
    code = read_code(push_service, push)
    bob.sign_in()
    subscribe(bob, push_service, push, "/push/of-bob")
    (row, _) = list_rows()
    assert enter(bob, code, row).headers["location"] == f"{CHANNELS}?done=channel_gone"
    assert [row.proved_at for row in list_rows()] == [None, None]


def test_neither_address_nor_code_nor_keys_stand_in_log_rows_or_export(
    ann: Browser, push_service: Receiver, push: PushBrowser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    subscribe(ann, push_service, push)
    code = read_code(push_service, push)
    address = push.describe("")
    with transaction() as session:
        exported = str(export_account(session, find_id(ann))["message_channels"])
    for text in (caplog.text, whole_database(), exported):
        assert "a-secret-name" not in text
        assert code not in text.split()
        assert address["auth"] not in text
        assert address["p256dh"] not in text


def test_where_invented_data_may_not_be_sent_no_browser_is_asked(ann: Browser, configure: Configure) -> None:
    configure(SANDBOX_ALLOW_MESSAGES="0")
    page = ann.get(PAGE).text
    assert "its data is invented" in page
    assert "data-push" not in page
