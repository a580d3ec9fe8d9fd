"""Channels on the settings page: a code proves them, within limits, and neither code, key nor address lies open."""

import logging
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts.message_channels import MAX_CHANNELS, PER_ACCOUNT_AND_DAY
from auth_server.pages.account import export_account
from auth_server.sweep import sweep
from jobs import deliver
from shared import clock
from shared.db.accounts import Account, absorb
from shared.db.base import transaction
from shared.db.message_channels import MessageChannel, open_address, stop_channel
from shared.db.messages import Delivery
from shared.db.security_events import SecurityEvent
from shared.outbox.channels.personal import HOSTS
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.mailbox import Mails
from tests.auth_server.test_dashboard import csrf
from tests.auth_server.test_phones import find_id, read_fault, spoil
from tests.auth_server.test_sweep import whole_database
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

PAGE = "/dashboard/settings/channels"
Later = Callable[[timedelta], None]


@pytest.fixture
def hook(configure: Configure) -> Iterator[Receiver]:
    with receiver() as state:
        configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")
        yield state


@pytest.fixture
def ann(ann: Browser, hook: Receiver) -> Browser:
    ann.sign_in()
    return ann


def post(who: Browser, action: str, page: str = "", **fields: str) -> Any:
    """One of the forms; the token of each is on its page, or made as that of another form there."""
    return who.post(PAGE + action, {"csrf": csrf(who, page or PAGE, PAGE + action)} | fields)


def add(who: Browser, kind: str = "webhook", **fields: str) -> Any:
    return post(who, "/new", f"{PAGE}/new?kind={kind}", kind=kind, **fields)


def list_rows() -> list[MessageChannel]:
    with transaction() as session:
        return list(session.scalars(select(MessageChannel).order_by(MessageChannel.id)))


def send_all() -> None:
    """The workers' part."""
    with transaction() as session:
        open_ones = (Delivery.status == "pending", Delivery.event == "channel_code")
        ids = session.scalars(select(Delivery.id).where(*open_ones)).all()
    for id in ids:
        deliver.wake(str(id))


def read_code(hook: Receiver) -> str:
    send_all()
    body = hook.read_bodies()[-1]
    code = re.match(r"\d{6}", body.get("data", {}).get("text") or body.get("message", ""))
    assert code is not None, body
    return code[0]


def enter(who: Browser, code: str) -> Any:
    return post(who, "/prove", channel_id=str(list_rows()[-1].id), code=code)


def prove(who: Browser, hook: Receiver, path: str = "/hooks/a") -> MessageChannel:
    assert add(who, url=hook.address + path).headers["location"] == f"{PAGE}?done=channel_code"
    answer = enter(who, read_code(hook))
    assert answer.headers["location"] == f"{PAGE}/edit?id={list_rows()[-1].id}&done=channel_added"
    return list_rows()[-1]


# --- proving


def test_a_code_sent_to_a_webhook_proves_it_and_its_key_is_shown_until_then(
    ann: Browser, hook: Receiver, mails: Mails
) -> None:
    assert add(ann, url=f"{hook.address}/hooks/a").headers["location"] == f"{PAGE}?done=channel_code"
    (row,) = list_rows()
    address = open_address(row)
    assert address is not None
    assert address["secret"] in ann.get(PAGE).text
    code = read_code(hook)
    assert hook.read_bodies()[0]["type"] == "channel_code"
    assert enter(ann, f" {code[:3]} {code[3:]} ").status_code == 303
    (row,) = list_rows()
    assert (row.proved_at, row.code_hash) == (clock.now(), None)
    page = ann.get(PAGE).text
    assert "Webhook at 127.0.0.1" in page
    assert "Route monitors, flight alerts" in page
    assert address["secret"] not in page
    assert "You have 1 proved channel." in ann.get("/dashboard/settings").text
    with transaction() as session:
        (event,) = session.scalars(select(SecurityEvent).where(SecurityEvent.kind == "channel_added"))
    assert event.subject == "Webhook at 127.0.0.1"
    assert "A channel was added" in [mail["Subject"] for mail in mails()]


def test_ntfy_is_proved_in_the_same_way(ann: Browser, hook: Receiver) -> None:
    assert add(ann, "ntfy", server=hook.address, topic="trips-4711", token="tk_1").status_code == 303
    assert enter(ann, read_code(hook)).status_code == 303
    (row,) = list_rows()
    assert (row.kind, row.name) == ("ntfy", "ntfy topic ending in 711 at 127.0.0.1")
    assert hook.received[0][0]["Authorization"] == "Bearer tk_1"


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("telegram", {"bot": "123456789:AAabc-DEF_ghiJKLmnoPQRstuVWXyz12345", "chat": "42"}, "Telegram chat 42"),
        ("slack", {"url": "https://hooks.slack.com/services/T0AA/B0BB/abcdefGHIJKL"}, "Slack ending in JKL"),
        ("discord", {"url": "https://discord.com/api/webhooks/1234567/abc-DEF_ghi-jkl-m"}, "Discord ending in l-m"),
        ("pushover", {"user": "u" * 30, "token": "a" * 30}, "Pushover ending in uuu"),
    ],
)
def test_each_service_is_proved_in_the_same_way(
    ann: Browser, hook: Receiver, monkeypatch: pytest.MonkeyPatch, kind: str, fields: dict[str, str], name: str
) -> None:
    monkeypatch.setitem(HOSTS, kind, hook.address)
    assert add(ann, kind, **fields).headers["location"] == f"{PAGE}?done=channel_code"
    assert "The headers are those of Standard Webhooks" not in ann.get(PAGE).text
    send_all()
    code = re.search(r"(?<!\d)\d{6}(?!\d)", hook.received[0][1].decode())
    assert code is not None
    assert enter(ann, code[0]).status_code == 303
    (row,) = list_rows()
    assert (row.name, row.proved_at) == (name, clock.now())


def test_five_wrong_codes_end_a_code(ann: Browser, hook: Receiver) -> None:
    add(ann, url=hook.address)
    code = read_code(hook)
    for rest in ("4 tries", "3 tries", "2 tries", "1 try"):
        answer = enter(ann, spoil(code))
        assert (answer.status_code, read_fault(answer)) == (422, f"The code is wrong. You have {rest} left.")
    assert "it was the last try" in read_fault(enter(ann, spoil(code)))
    assert "5 wrong codes were entered" in read_fault(enter(ann, code))
    assert list_rows()[0].proved_at is None


def test_a_code_works_for_ten_minutes(ann: Browser, hook: Receiver, later: Later) -> None:
    add(ann, url=hook.address)
    code = read_code(hook)
    later(timedelta(minutes=10, seconds=1))
    assert "older than 10 minutes" in read_fault(enter(ann, code))
    assert post(ann, "/code", channel_id=str(list_rows()[0].id)).status_code == 303
    assert enter(ann, read_code(hook)).status_code == 303


def test_a_code_that_did_not_arrive_is_said_on_the_page(ann: Browser, hook: Receiver) -> None:
    hook.status = 404
    add(ann, url=hook.address)
    send_all()
    assert "The code could not be delivered." in ann.get(PAGE).text


# --- what is refused


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://198.51.100.1/", "The address must begin with https://."),
        ("https://10.0.0.1/a", "10.0.0.1 is in a private network, which this service does not send to."),
        ("https://localhost:8443/", "localhost is in a private network, which this service does not send to."),
        ("https://169.254.169.254/", "169.254.169.254 is in a private network, which this service does not send to."),
        ("https://nowhere.invalid/", "nowhere.invalid was not found. Please check the address."),
        ("gopher://example.com/", "Please enter an address that begins with https://"),
    ],
)
def test_a_receiver_within_a_private_network_is_refused_when_it_is_entered(
    ann: Browser, configure: Configure, url: str, words: str
) -> None:
    configure(CHANNEL_NETWORKS="")
    answer = add(ann, url=url)
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{url}"' in answer.text
    assert list_rows() == []


def test_faults_of_ntfy_stand_at_their_fields(ann: Browser) -> None:
    answer = add(ann, "ntfy", server="", topic="a b", token="tk 1")
    assert answer.status_code == 422
    assert 'id="topic-fault"' in answer.text
    assert 'id="token-fault"' in answer.text


def test_an_account_has_so_many_channels(ann: Browser, hook: Receiver) -> None:
    for number in range(MAX_CHANNELS):
        assert add(ann, url=f"{hook.address}/{number}").status_code == 303
    assert f"You have {MAX_CHANNELS} channels" in add(ann, url=f"{hook.address}/more").text
    assert len(list_rows()) == MAX_CHANNELS
    assert add(ann, url=f"{hook.address}/0").status_code == 303  # another code for one of them
    assert "as many as there can be" in ann.get(PAGE).text


def test_a_channel_gets_three_codes_an_hour_whoever_asks(ann: Browser, bob: Browser, hook: Receiver) -> None:
    bob.sign_in()
    assert [add(ann, url=hook.address).status_code for _ in range(2)] == [303, 303]
    assert add(bob, url=hook.address).status_code == 303
    answer = add(ann, url=hook.address)
    assert (answer.status_code, "A channel gets 3 codes an hour." in answer.text) == (422, True)


def test_an_account_gets_so_many_codes_a_day(ann: Browser, hook: Receiver) -> None:
    for number in range(PER_ACCOUNT_AND_DAY):
        add(ann, url=f"{hook.address}/{number}")
    assert f"at most {PER_ACCOUNT_AND_DAY} codes a day" in add(ann, url=f"{hook.address}/more").text


def test_a_channel_that_is_proved_gets_no_code(ann: Browser, hook: Receiver) -> None:
    row = prove(ann, hook)
    assert "This channel is proved already." in add(ann, url=f"{hook.address}/hooks/a").text
    add(ann, url=f"{hook.address}/hooks/b")  # its form for another code is sent with the other's id
    assert "proved already" in post(ann, "/code", channel_id=str(row.id)).text
    send_all()
    assert hook.paths == ["/hooks/a", "/hooks/b"]


def test_where_invented_data_may_not_be_sent_the_page_says_so(
    ann: Browser, configure: Configure, hook: Receiver
) -> None:
    configure(SANDBOX_ALLOW_MESSAGES="0")
    assert "its data is invented" in ann.get(PAGE).text
    assert "its data is invented" in ann.get(f"{PAGE}/new?kind=ntfy").text


def test_nobody_reaches_the_channel_of_somebody_else(ann: Browser, bob: Browser, hook: Receiver) -> None:
    row = prove(ann, hook)
    bob.sign_in()
    assert bob.get(f"{PAGE}/edit?id={row.id}").status_code == 404
    assert bob.get(f"{PAGE}/delete?id={row.id}").status_code == 404
    assert "127.0.0.1" not in bob.get(PAGE).text
    own = prove(bob, hook, "/hooks/b")
    add(bob, url=f"{hook.address}/hooks/c")
    for action, page in (("/edit", f"?id={own.id}"), ("/delete", f"?id={own.id}"), ("/prove", ""), ("/code", "")):
        where = PAGE + action + page if page else PAGE
        assert post(bob, action, where, channel_id=str(row.id), code="000000").status_code == 303
    assert next((r.id, r.wanted_kinds) for r in list_rows()) == (row.id, row.wanted_kinds)
    assert len(list_rows()) == 3


# --- choosing


def test_kinds_and_quiet_hours_are_chosen_on_a_page_of_their_own(ann: Browser, hook: Receiver) -> None:
    row = prove(ann, hook)
    page = f"{PAGE}/edit?id={row.id}"
    assert "hours of your time zone, UTC" in ann.get(page).text
    fields = {"channel_id": str(row.id), "deadlines": "on", "quiet_from": "22:00", "quiet_until": "07:00"}
    assert post(ann, "/edit", page, **fields).headers["location"] == f"{PAGE}?done=channel_saved"
    (row,) = list_rows()
    assert (row.wanted_kinds, row.quiet_from, row.quiet_until) == (["deadlines"], 22, 7)
    assert "Deadlines · quiet from 22:00 to 07:00" in " ".join(ann.get(PAGE).text.split())
    assert '<option value="22:00" selected>' in ann.get(page).text


@pytest.mark.parametrize("quiet", [("22:00", ""), ("", "07:00"), ("07:00", "07:00")])
def test_quiet_needs_two_different_hours(ann: Browser, hook: Receiver, quiet: tuple[str, str]) -> None:
    row = prove(ann, hook)
    fields = {"channel_id": str(row.id), "quiet_from": quiet[0], "quiet_until": quiet[1]}
    answer = post(ann, "/edit", f"{PAGE}/edit?id={row.id}", **fields)
    assert answer.status_code == 422
    assert "two different hours" in answer.text
    assert list_rows()[0].quiet_from is None


# --- the end


def test_a_channel_is_removed_after_a_question(ann: Browser, hook: Receiver) -> None:
    row = prove(ann, hook)
    page = f"{PAGE}/delete?id={row.id}"
    assert "Webhook at 127.0.0.1" in ann.get(page).text
    assert post(ann, "/delete", page, channel_id=str(row.id)).headers["location"] == f"{PAGE}?done=channel_removed"
    assert list_rows() == []
    with transaction() as session:
        kinds = session.scalars(select(SecurityEvent.kind)).all()
    assert "channel_removed" in kinds


def test_a_channel_without_proof_is_forgotten_and_a_stopped_one_waits_for_its_owner(
    ann: Browser, hook: Receiver, later: Later
) -> None:
    row = prove(ann, hook)
    later(timedelta(days=60))
    sweep()
    assert len(list_rows()) == 1
    with transaction() as session:
        stop_channel(session, find_id(ann), row.id)
        session.flush()
        session.execute(update(MessageChannel).values(code_sent_at=clock.now()))
    sweep()
    assert len(list_rows()) == 1
    later(timedelta(days=60))
    sweep()
    assert list_rows() == []


def test_an_export_holds_the_channel_without_its_secrets(ann: Browser, hook: Receiver) -> None:
    prove(ann, hook)
    with transaction() as session:
        (row,) = export_account(session, find_id(ann))["message_channels"]
    assert (row["kind"], row["name"]) == ("webhook", "Webhook at 127.0.0.1")
    assert {"address_sealed", "address_hash", "code_hash"}.isdisjoint(row)


def test_what_an_agent_had_becomes_the_persons_and_goes_with_the_account(
    ann: Browser, bob: Browser, hook: Receiver
) -> None:
    prove(ann, hook)
    person, other = find_id(ann), find_id(bob)
    with transaction() as session:
        absorb(session, person, other)
    assert [row.account_id for row in list_rows()] == [other]
    with transaction() as session:
        session.delete(session.get_one(Account, other))
    assert list_rows() == []


def test_neither_address_nor_key_nor_code_stands_in_the_log_or_the_rows(
    ann: Browser, hook: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    add(ann, url=f"{hook.address}/a-secret-path")
    code = read_code(hook)
    (row,) = list_rows()
    address = open_address(row)
    assert address is not None
    for text in (caplog.text, whole_database()):
        assert "a-secret-path" not in text
        assert address["secret"] not in text
        assert not re.search(rf"\b{code}\b", text)
