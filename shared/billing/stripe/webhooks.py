"""Webhooks of Stripe: the signature over the raw body, and which customer an event is about."""

import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from shared.billing.contract import CustomerEvent, SignatureWrong
from shared.secrets import split_secret
from shared.settings import settings

HEADER = "stripe-signature"
TOLERANCE = timedelta(minutes=5)  # what Stripe's own libraries allow
MAX_HEADER_CHARACTERS, MAX_SIGNATURES = 4096, 20
_MOMENT = re.compile(r"[0-9]{1,12}")
_ID = re.compile(r"[A-Za-z0-9_.]{1,255}")


def read_event(body: bytes, headers: Mapping[str, str], now: datetime) -> CustomerEvent:
    """Raises SignatureWrong, also for a signed body that is no event."""
    secrets = settings().stripe_webhook_secrets
    _check_signature(body, headers.get(HEADER, ""), secrets.get_secret_value() if secrets else "", now)
    try:
        fields = json.loads(body)
        return CustomerEvent(_read_id(fields["id"]), _read_id(fields["type"]), _find_customer(fields["data"]["object"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SignatureWrong("the body is no event") from None


def _check_signature(body: bytes, header: str, secrets: str, now: datetime) -> None:
    """Accepts any signature in the header by any secret: while one is being replaced Stripe signs with both."""
    pairs = [part.strip().partition("=") for part in header[:MAX_HEADER_CHARACTERS].split(",")]
    moments = [value for name, _, value in pairs if name == "t"]
    signatures = [value.encode() for name, _, value in pairs if name == "v1"][:MAX_SIGNATURES]
    if len(moments) != 1 or not _MOMENT.fullmatch(moments[0]) or not signatures:
        raise SignatureWrong("the signature is missing or cannot be read")
    signed = moments[0].encode() + b"." + body
    expected = [hmac.digest(secret.encode(), signed, "sha256").hex().encode() for secret in split_secret(secrets)]
    # Every pair is compared, so that timing does not reveal which one fits.
    if not sum(hmac.compare_digest(one, other) for one in expected for other in signatures):
        raise SignatureWrong("the signature is of no secret of this installation")
    if abs(now.timestamp() - int(moments[0])) > TOLERANCE.total_seconds():
        raise SignatureWrong("the signature is too old, or a clock is wrong")


def _read_id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("no id")
    return value


def _find_customer(thing: Mapping[str, Any]) -> str | None:
    """The customer of an event's object; a customer is its own. An expanded object has the id inside."""
    value = thing.get("id") if thing.get("object") == "customer" else thing.get("customer")
    value = value.get("id") if isinstance(value, Mapping) else value
    return _read_id(value) if value is not None else None
