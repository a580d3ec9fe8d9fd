"""Messages to phones by Twilio's wire: form fields go in; it was accepted, or NotSent says why it surely was not."""

import json
from contextlib import suppress
from typing import Any

import httpx

from shared.http import sync_client
from shared.outbox.channels import Begin, NotSent
from shared.settings import Settings, settings

OPTED_OUT = 21610  # the recipient answered STOP
_MAYBE = (502, 504)  # a gateway that lost the answer: the message may have been taken
_OPENING = 4096  # bytes of an error worth reading


def allowed() -> bool:
    """Whether phones may be written to at all: invented data reaches nobody's pocket unless the operator wants it."""
    s = settings()
    told = s.data_mode == "live" or s.sandbox_allow_messages
    return bool(told and s.twilio_account_sid and s.twilio_auth_token)


def post(fields: dict[str, str], begin: Begin) -> None:
    """One message. `begin` is called when the connection stands and the first byte is about to go out."""
    s = settings()
    if not allowed() or s.twilio_auth_token is None or s.twilio_account_sid is None:
        raise NotSent("messages to phones are not configured", permanent=True)
    who = (s.twilio_account_sid, s.twilio_auth_token.get_secret_value())

    def watch(step: str, _about: Any) -> None:
        if step == "http11.send_request_headers.started":
            begin()

    try:
        status, said = _posted(s, who, fields, watch)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise NotSent(f"the message service could not be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise _refused(status, said)


def _posted(s: Settings, who: tuple[str, str], fields: dict[str, str], watch: Any) -> tuple[int, bytes]:
    where = f"/Accounts/{who[0]}/Messages.json"
    with (
        sync_client(s.twilio_base_url) as wire,
        wire.stream("POST", where, data=fields, auth=who, extensions={"trace": watch}) as answer,
    ):
        said = b""
        with suppress(httpx.HTTPError):  # the status is the answer; what follows it only names the reason
            for chunk in answer.iter_bytes():
                said += chunk
                if len(said) >= _OPENING:
                    break
        return answer.status_code, said


def _refused(status: int, said: bytes) -> Exception:
    """The number of the error alone is taken from the answer: its words may hold anything."""
    code = _code(said)
    words = f"the message service refused with {code or status}"
    if status in _MAYBE:
        return ConnectionError(words)
    return NotSent(words, permanent=400 <= status < 500 and status != 429, unwanted=code == OPTED_OUT)


def _code(said: bytes) -> int | None:
    try:
        code = json.loads(said)["code"]
    except (ValueError, KeyError, TypeError):
        return None
    return code if isinstance(code, int) and 0 < code < 10**6 else None
