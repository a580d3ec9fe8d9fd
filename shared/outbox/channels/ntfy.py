"""Notifications by an ntfy server, at ntfy.sh or a person's own (publishing as JSON)."""

import json
from collections.abc import Mapping

from shared.outbox.channels import Letter
from shared.outbox.channels.receivers import Post

MAX_TEXT_BYTES = 3500  # of the 4,096 after which ntfy makes an attachment of a message


def build_post(letter: Letter, address: Mapping[str, str]) -> Post:
    message = letter.message
    content = {
        "topic": address["topic"],
        "title": message.subject,
        "message": message.text.encode()[:MAX_TEXT_BYTES].decode(errors="ignore"),
        "click": message.link,
    }
    headers = {"Content-Type": "application/json"}
    if address["token"]:
        headers["Authorization"] = f"Bearer {address['token']}"
    return Post(address["server"], json.dumps(content, ensure_ascii=False).encode(), headers)
