"""Chats and notification services: what is posted where, within each one's limits, and without mentioning anybody."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared import clock
from shared.outbox.channels import Letter, personal
from shared.outbox.channels.personal import (
    DISCORD_CHARACTERS,
    HOSTS,
    PUSHOVER_CHARACTERS,
    PUSHOVER_TITLE,
    SLACK_CHARACTERS,
    TELEGRAM_CHARACTERS,
)
from shared.outbox.wording.messages import Message
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

ADDRESSES = {
    "telegram": {"bot": "1:abc", "chat": "-100"},
    "slack": {"path": "T1/B1/secret"},
    "discord": {"path": "1/secret"},
    "pushover": {"user": "u" * 30, "token": "a" * 30},
    "ntfy": {"server": "", "topic": "trips", "token": ""},
}
PATHS = {
    "telegram": "/bot1:abc/sendMessage",
    "slack": "/T1/B1/secret",
    "discord": "/1/secret",
    "pushover": "/messages.json",
    "ntfy": "/",
}
LINK = "https://award.example/dashboard"
Send = Callable[[str, str, str], tuple[Receiver, Any]]


@pytest.fixture
def send(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> Send:
    """send(kind, title, text) -> a fake of the service that got one message, and what it got."""
    configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")

    def post(kind: str, title: str, text: str) -> tuple[Receiver, Any]:
        begun: list[bool] = []
        with receiver() as state:
            if kind in HOSTS:
                monkeypatch.setitem(HOSTS, kind, state.address)
            address = json.dumps(ADDRESSES[kind] | ({"server": state.address} if kind == "ntfy" else {}))
            letter = Letter("id-1", address, Message(title, text, "", link=LINK), clock.now())
            personal.SENDERS[kind](letter, lambda: begun.append(True))
        assert begun == [True]
        return state, state.read_bodies()[0]

    return post


@pytest.mark.parametrize("kind", sorted(ADDRESSES))
def test_a_message_is_posted_to_the_service_with_its_link(kind: str, send: Send) -> None:
    state, content = send(kind, "LHR to JFK", "Two seats.")
    assert state.paths == [PATHS[kind]]
    text = json.dumps(content)
    assert "LHR to JFK" in text
    assert "Two seats" in text
    assert LINK in text


@pytest.mark.parametrize(
    ("kind", "field", "most"),
    [
        ("telegram", "text", TELEGRAM_CHARACTERS),
        ("slack", "text", SLACK_CHARACTERS),
        ("discord", "content", DISCORD_CHARACTERS),
        ("pushover", "message", PUSHOVER_CHARACTERS),
        ("pushover", "title", PUSHOVER_TITLE),
        ("ntfy", "message", 4096),
    ],
)
@pytest.mark.parametrize("letter", ["a", "*", "\N{AIRPLANE}", "\N{HOTEL}"])
def test_a_long_message_fits_into_what_the_service_takes(
    kind: str, field: str, most: int, letter: str, send: Send
) -> None:
    _, content = send(kind, letter * 300, letter * 3500)
    text = content[field]
    lengths = {"telegram": len(text.encode("utf-16-le")) // 2, "ntfy": len(text.encode())}
    assert lengths.get(kind, len(text)) <= most
    assert kind == "pushover" or LINK in json.dumps(content)


def test_words_of_others_mention_nobody_and_format_nothing(send: Send) -> None:
    text = "<!channel> @everyone **now** [x](https://example.com) & <@1>"
    _, slack = send("slack", "t", text)
    assert "&lt;!channel&gt;" in slack["text"]
    assert "&amp; &lt;@1&gt;" in slack["text"]
    _, discord = send("discord", "t", text)
    assert discord["allowed_mentions"] == {"parse": []}
    assert "\\*\\*now\\*\\*" in discord["content"]
    _, telegram = send("telegram", "t", text)
    assert text in telegram["text"]
    assert "parse_mode" not in telegram
