"""Channels that people set up for themselves: how a message becomes the request of each kind."""

import json
from collections.abc import Callable, Mapping
from functools import partial

from shared.outbox.channels import Begin, Letter, chats, ntfy, web_push, webhook
from shared.outbox.channels.receivers import Post, send_post

_BUILDERS: Mapping[str, Callable[[Letter, Mapping[str, str]], Post]] = {
    "ntfy": ntfy.build_post,
    "telegram": chats.build_telegram_post,
    "slack": chats.build_slack_post,
    "discord": chats.build_discord_post,
    "pushover": chats.build_pushover_post,
    "webhook": webhook.build_post,
    "web_push": web_push.build_post,
}


def _send(build: Callable[[Letter, Mapping[str, str]], Post], letter: Letter, begin: Begin) -> None:
    """The recipient of the letter is the opened address of the channel, as JSON."""
    send_post(build(letter, json.loads(letter.recipient)), begin)


SENDERS: dict[str, Callable[[Letter, Begin], None]] = {kind: partial(_send, b) for kind, b in _BUILDERS.items()}
