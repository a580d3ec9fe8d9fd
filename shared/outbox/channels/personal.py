"""Channels that people set up for themselves: how a message becomes the request of each kind."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shared.outbox.channels import Begin, Letter, web_push, webhook
from shared.outbox.channels.receivers import Post, send_post

# Notifications by an ntfy server, at ntfy.sh or a person's own (publishing as JSON).

NTFY_TEXT_BYTES = 3500  # of the 4,096 after which ntfy makes an attachment of a message


def build_ntfy_post(letter: Letter, address: Mapping[str, str]) -> Post:
    message = letter.message
    content = {
        "topic": address["topic"],
        "title": message.subject,
        "message": message.text.encode()[:NTFY_TEXT_BYTES].decode(errors="ignore"),
        "click": message.link,
    }
    headers = {"Content-Type": "application/json"}
    if address["token"]:
        headers["Authorization"] = f"Bearer {address['token']}"
    return Post(address["server"], json.dumps(content, ensure_ascii=False).encode(), headers)


# Chats and notification services at fixed addresses: Telegram, Slack, Discord and Pushover.

HOSTS = {
    "telegram": "https://api.telegram.org",
    "slack": "https://hooks.slack.com/services",
    "discord": "https://discord.com/api/webhooks",
    "pushover": "https://api.pushover.net/1",
}
_JSON = {"Content-Type": "application/json"}
# Characters each takes in a message; the texts of ours are cut there, with the link after them.
TELEGRAM_CHARACTERS, SLACK_CHARACTERS, DISCORD_CHARACTERS = 4096, 4000, 2000
PUSHOVER_CHARACTERS, PUSHOVER_TITLE, PUSHOVER_LINK = 1024, 250, 512
_MARKDOWN = re.compile(r"([\\`*_~|>#\[\]()<@-])")
_SUPPRESS_EMBEDS = 1 << 2  # Discord's flag: no preview of the link


def _build(url: str, content: Mapping[str, Any]) -> Post:
    return Post(url, json.dumps(content, ensure_ascii=False).encode(), _JSON)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: max(0, characters - 2)].rstrip()} …"


def build_telegram_post(letter: Letter, address: Mapping[str, str]) -> Post:
    """Builds a message; without `parse_mode` the text is taken literally."""
    message = letter.message
    # Telegram counts UTF-16 units, two for a character outside the basic plane.
    text = _cut_units(f"{message.subject}\n\n{message.text}", TELEGRAM_CHARACTERS - len(message.link) - 2)
    content = {
        "chat_id": address["chat"],
        "text": f"{text}\n\n{message.link}",
        "link_preview_options": {"is_disabled": True},
    }
    return _build(f"{HOSTS['telegram']}/bot{address['bot']}/sendMessage", content)


def _cut_units(text: str, units: int) -> str:
    encoded = text.encode("utf-16-le")
    return text if len(encoded) <= 2 * units else encoded[: 2 * (units - 2)].decode("utf-16-le", "ignore") + " …"


def build_slack_post(letter: Letter, address: Mapping[str, str]) -> Post:
    """Three characters are special in a Slack message; with those escaped nothing mentions anybody."""
    message = letter.message
    text = _escape_slack(f"{message.subject}\n{_cut(message.text, SLACK_CHARACTERS - 500)}")
    content = {"text": f"{text}\n<{message.link}>", "unfurl_links": False, "unfurl_media": False, "mrkdwn": False}
    return _build(f"{HOSTS['slack']}/{address['path']}", content)


def _escape_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def build_discord_post(letter: Letter, address: Mapping[str, str]) -> Post:
    """Escapes Markdown, and mentions no one whatever the text says."""
    message = letter.message
    title, link = _MARKDOWN.sub(r"\\\1", message.subject), f"<{message.link}>"
    text = _cut(_MARKDOWN.sub(r"\\\1", message.text), DISCORD_CHARACTERS - len(title) - len(link) - 6)
    content = {
        "content": f"**{title}**\n{text}\n{link}",
        "allowed_mentions": {"parse": []},
        "flags": _SUPPRESS_EMBEDS,
    }
    return _build(f"{HOSTS['discord']}/{address['path']}", content)


def build_pushover_post(letter: Letter, address: Mapping[str, str]) -> Post:
    message = letter.message
    content = {
        "token": address["token"],
        "user": address["user"],
        "title": _cut(message.subject, PUSHOVER_TITLE),
        "message": _cut(message.text, PUSHOVER_CHARACTERS),
    }
    link = {"url": message.link} if len(message.link) <= PUSHOVER_LINK else {}
    return _build(f"{HOSTS['pushover']}/messages.json", content | link)


_BUILDERS: Mapping[str, Callable[[Letter, Mapping[str, str]], Post]] = {
    "ntfy": build_ntfy_post,
    "telegram": build_telegram_post,
    "slack": build_slack_post,
    "discord": build_discord_post,
    "pushover": build_pushover_post,
    "webhook": webhook.build_post,
    "web_push": web_push.build_post,
}


def _send(build: Callable[[Letter, Mapping[str, str]], Post], letter: Letter, begin: Begin) -> None:
    """The recipient of the letter is the opened address of the channel, as JSON."""
    send_post(build(letter, json.loads(letter.recipient)), begin)


SENDERS: dict[str, Callable[[Letter, Begin], None]] = {kind: partial(_send, b) for kind, b in _BUILDERS.items()}
