"""Signed webhooks as Standard Webhooks 1.0 describes them: JSON, an id that stays, and an HMAC over both."""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping

from shared import clock
from shared.outbox.channels import Letter
from shared.outbox.channels.receivers import Post

_PREFIX = "whsec_"
_KEY_BYTES = 32


def make_secret() -> str:
    """The key that signs, as receivers' libraries take it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def build_post(letter: Letter, address: Mapping[str, str]) -> Post:
    """The id is the same on every attempt, so that a receiver can drop what it has; the time is that of the attempt."""
    content = json.dumps(_describe(letter), ensure_ascii=False).encode()
    moment = str(int(clock.now().timestamp()))
    key = base64.b64decode(address["secret"].removeprefix(_PREFIX))
    signature = hmac.digest(key, f"{letter.id}.{moment}.".encode() + content, hashlib.sha256)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": letter.id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }
    return Post(address["url"], content, headers)


def _describe(letter: Letter) -> dict[str, object]:
    message = letter.message
    data = {"title": message.subject, "text": message.text, "link": message.link}
    return {"type": message.kind, "timestamp": letter.written_at.isoformat(), "data": data}
