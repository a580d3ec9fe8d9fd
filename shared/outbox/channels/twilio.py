"""Twilio's API for messages to phones (`POST /Accounts/{sid}/Messages.json`)."""

import json
from contextlib import suppress
from typing import Any

import httpx

from shared.http import sync_client
from shared.outbox.channels import Begin, NotSent
from shared.settings import Settings, settings

OPTED_OUT = 21610  # the recipient answered STOP
_MAYBE = (502, 504)  # a gateway that lost the answer: the message may have been taken
_MAX_ERROR_BYTES = 4096  # bytes of an error worth reading


def is_allowed() -> bool:
    """Whether phones may be written to at all: invented data reaches no phone unless the operator allows it."""
    s = settings()
    is_permitted = s.data_mode == "live" or s.sandbox_allow_messages
    return bool(is_permitted and s.twilio_account_sid and s.twilio_auth_token)


def post(fields: dict[str, str], begin: Begin) -> None:
    """Sends one message; calls `begin` once connected, just before the first byte."""
    s = settings()
    if not is_allowed() or s.twilio_auth_token is None or s.twilio_account_sid is None:
        raise NotSent("messages to phones are not configured", permanent=True)
    who = (s.twilio_account_sid, s.twilio_auth_token.get_secret_value())

    def watch(step: str, _about: Any) -> None:
        if step == "http11.send_request_headers.started":
            begin()

    try:
        status, body = _post(s, who, fields, watch)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise NotSent(f"the message service could not be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise _build_refusal(status, body)


def _post(s: Settings, who: tuple[str, str], fields: dict[str, str], watch: Any) -> tuple[int, bytes]:
    where = f"/Accounts/{who[0]}/Messages.json"
    with (
        sync_client(s.twilio_base_url) as wire,
        wire.stream("POST", where, data=fields, auth=who, extensions={"trace": watch}) as answer,
    ):
        body = b""
        with suppress(httpx.HTTPError):  # the status is the answer; what follows it only names the reason
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) >= _MAX_ERROR_BYTES:
                    break
        return answer.status_code, body


def _build_refusal(status: int, body: bytes) -> Exception:
    """Reports only the number of the error: the text of an answer may say anything."""
    code = _read_code(body)
    words = f"the message service refused with {code or status}"
    if status in _MAYBE:
        return ConnectionError(words)
    return NotSent(words, permanent=400 <= status < 500 and status != 429, unwanted=code == OPTED_OUT)


def _read_code(body: bytes) -> int | None:
    try:
        code = json.loads(body)["code"]
    except (ValueError, KeyError, TypeError):
        return None
    return code if isinstance(code, int) and 0 < code < 10**6 else None
