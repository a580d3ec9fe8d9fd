"""Message channels: what is accepted as an address, and what of it may be shown."""

import json
from typing import Any

import pytest

from shared.domain.message_channels import identify, is_receiver_url, name_channel, read_address

NTFY = {"server": "", "topic": "trips-4711-abc", "token": ""}


@pytest.mark.parametrize(
    ("url", "is_good"),
    [
        ("https://example.com/hooks/travel?x=1", True),
        ("https://example.com:8443/", True),
        ("https://[2001:db8::1]/a", True),
        ("http://192.0.2.1:80/a", True),  # refused later, unless the operator opened its network
        ("ftp://example.com/", False),
        ("file:///etc/passwd", False),
        ("//example.com/a", False),
        ("https:///a", False),
        ("https://user:secret@example.com/", False),
        ("https://example.com/#part", False),
        ("https://example.com:0/", False),
        ("https://example.com:99999/", False),
        ("https://example.com/a b", False),
        ("https://example.com/\nx", False),
        ("https://exämple.com/", False),
        ("https://example.com\\@127.0.0.1/", False),
        ("https://[::1/", False),
        ("https://example.com/" + "a" * 1000, False),
        ("", False),
    ],
)
def test_an_address_is_one_that_messages_can_be_posted_to(url: str, is_good: bool) -> None:
    assert is_receiver_url(url) is is_good
    assert bool(read_address("webhook", {"url": url}).faults) is not is_good


def test_an_empty_server_of_ntfy_is_the_public_one() -> None:
    reading = read_address("ntfy", NTFY)
    assert reading.faults == {}
    assert reading.address == {"server": "https://ntfy.sh", "topic": "trips-4711-abc", "token": ""}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("topic", "a/b"),
        ("topic", ""),
        ("topic", "a" * 65),
        ("token", "a b"),
        ("server", "ntfy"),
        ("server", "https://a/?b"),
    ],
)
def test_a_fault_stands_at_its_field(field: str, value: str) -> None:
    reading = read_address("ntfy", {**NTFY, field: value})
    assert list(reading.faults) == [field]
    assert reading.address == {}


def test_a_name_tells_two_apart_and_lets_nobody_write_there() -> None:
    webhook = {"url": "https://example.com/hooks/a-long-secret-path"}
    assert name_channel("webhook", webhook) == "Webhook ending in ath at example.com"
    assert name_channel("webhook", {"url": "https://example.com/a"}) == "Webhook at example.com"
    assert name_channel("ntfy", read_address("ntfy", NTFY).address) == "ntfy topic ending in abc at ntfy.sh"
    assert name_channel("ntfy", {"server": "https://ntfy.sh", "topic": "trips", "token": ""}) == "ntfy topic at ntfy.sh"


def test_another_token_is_no_other_receiver() -> None:
    first = read_address("ntfy", NTFY).address
    assert identify("ntfy", first) == identify("ntfy", first | {"token": "tk_1"})
    assert identify("ntfy", first) != identify("ntfy", first | {"topic": "other"})


SLACK = "https://hooks.slack.com/services/T0AAAA1/B0BBBB2/abcdefGHIJKL1234"
DISCORD = "https://discord.com/api/webhooks/123456789012345678/abc-DEF_ghi-jkl-mno-pqr"
BOT = "123456789:AAabc-DEF_ghiJKLmnoPQRstuVWXyz12345"
PUSHOVER = {"user": "u" * 30, "token": "a" * 30}


@pytest.mark.parametrize(
    ("kind", "fields", "address", "name"),
    [
        ("slack", {"url": SLACK}, {"path": "T0AAAA1/B0BBBB2/abcdefGHIJKL1234"}, "Slack ending in 234"),
        ("discord", {"url": f" {DISCORD} "}, {"path": DISCORD[33:]}, "Discord ending in pqr"),
        ("telegram", {"bot": BOT, "chat": "-100123"}, {"bot": BOT, "chat": "-100123"}, "Telegram chat -100123"),
        ("telegram", {"bot": BOT, "chat": "@trips"}, {"bot": BOT, "chat": "@trips"}, "Telegram chat @trips"),
        ("pushover", PUSHOVER, PUSHOVER, "Pushover ending in uuu"),
    ],
)
def test_services_at_fixed_addresses_are_read(
    kind: str, fields: dict[str, str], address: dict[str, str], name: str
) -> None:
    reading = read_address(kind, fields)
    assert (reading.address, reading.faults) == (address, {})
    assert name_channel(kind, reading.address) == name


@pytest.mark.parametrize(
    ("kind", "fields", "faulty"),
    [
        ("slack", {"url": SLACK.replace("hooks.slack.com", "hooks.slack.com.example.com")}, ["url"]),
        ("slack", {"url": f"{SLACK}/../../x"}, ["url"]),
        ("slack", {"url": f"{SLACK}?a"}, ["url"]),
        ("discord", {"url": DISCORD.replace("https", "http")}, ["url"]),
        ("discord", {"url": DISCORD.replace("discord.com", "discord.com@10.0.0.1")}, ["url"]),
        ("discord", {"url": "https://discord.com/api/webhooks/1/2/3"}, ["url"]),
        ("telegram", {"bot": f"{BOT}/../x", "chat": "me"}, ["bot", "chat"]),
        ("telegram", {"bot": BOT, "chat": ""}, ["chat"]),
        ("pushover", {"user": "u" * 29, "token": "a" * 31}, ["user", "token"]),
    ],
)
def test_what_is_no_address_of_the_service_is_a_fault(kind: str, fields: dict[str, str], faulty: list[str]) -> None:
    reading = read_address(kind, fields)
    assert (list(reading.faults), reading.address) == (faulty, {})


PUSH_URL = "https://push.example.com/send/a-long-name-x7Q"
KEYS = {  # a public key of the curve, and a secret
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
SUBSCRIPTION = {"endpoint": PUSH_URL, "keys": KEYS}


def test_a_subscription_is_read_and_named_after_its_browser() -> None:
    reading = read_address("web_push", {"subscription": json.dumps(SUBSCRIPTION), "browser": "Firefox on Linux"})
    assert (reading.address, reading.faults) == ({"url": PUSH_URL, **KEYS, "browser": "Firefox on Linux"}, {})
    assert name_channel("web_push", reading.address) == "Firefox on Linux ending in x7Q"
    assert identify("web_push", reading.address) == f"web_push\0{PUSH_URL}"


@pytest.mark.parametrize(
    "subscription",
    [
        None,
        [],
        "text",
        {},
        {"endpoint": PUSH_URL},
        {"endpoint": PUSH_URL, "keys": []},
        {"endpoint": PUSH_URL, "keys": {"auth": KEYS["auth"]}},
        {"endpoint": PUSH_URL, "keys": KEYS | {"more": "a"}},
        SUBSCRIPTION | {"more": "a"},
        SUBSCRIPTION | {"endpoint": 1},
        SUBSCRIPTION | {"endpoint": PUSH_URL.replace("https", "http")},
        SUBSCRIPTION | {"endpoint": "https://ann:secret@push.example.com/"},
        SUBSCRIPTION | {"endpoint": "https://push.example.com/" + "a" * 1000},
        SUBSCRIPTION | {"endpoint": "/send/a"},
        SUBSCRIPTION | {"keys": KEYS | {"auth": KEYS["auth"] + "A"}},
        SUBSCRIPTION | {"keys": KEYS | {"auth": 5}},
        SUBSCRIPTION | {"keys": KEYS | {"p256dh": KEYS["p256dh"][:-1]}},
        SUBSCRIPTION | {"keys": KEYS | {"p256dh": "BA" + "A" * 85}},  # not on the curve
        SUBSCRIPTION | {"keys": KEYS | {"p256dh": "A" * 87}},  # the point at infinity has no such form
    ],
)
def test_what_is_not_exactly_a_subscription_is_a_fault(subscription: Any) -> None:
    reading = read_address("web_push", {"subscription": json.dumps(subscription), "browser": "Firefox"})
    assert (list(reading.faults), reading.address) == (["subscription"], {})


@pytest.mark.parametrize("text", ["", "{", "[" * 2000, "[" * 1999, '"' + "a" * 5000 + '"', "NaN", "1" * 1999])
def test_text_that_is_no_subscription_is_a_fault(text: str) -> None:
    assert list(read_address("web_push", {"subscription": text, "browser": "Firefox"}).faults) == ["subscription"]
