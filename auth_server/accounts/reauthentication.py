"""Reauthentication for `prompt=login` and `max_age`: a signed timestamp in the query of an authorization request."""

import re
from datetime import UTC, datetime, timedelta

from shared import clock
from shared.secrets import is_same_secret, sign
from shared.settings import settings

LIFETIME = timedelta(minutes=15)
_TIMESTAMP = re.compile(r"&first_seen=(\d{10}\.\d{6})-([0-9a-f]{64})\Z")


def _sign(query: str, moment: str) -> str:
    return sign(settings().encryption_keys[0], f"first seen:{moment}:{query}")


def strip_timestamp(query: str) -> str:
    """The query as the application sent it."""
    return _TIMESTAMP.sub("", query)


def sign_timestamp(query: str) -> str:
    query, moment = strip_timestamp(query), f"{clock.now().timestamp():.6f}"
    return f"{query}&first_seen={moment}-{_sign(query, moment)}"


def first_seen_at(query: str) -> datetime | None:
    """When the request first arrived; None without a valid timestamp, or with one that is too old."""
    match = _TIMESTAMP.search(query)
    if match is None or not is_same_secret(match[2], _sign(strip_timestamp(query), match[1])):
        return None
    moment = datetime.fromtimestamp(float(match[1]), UTC)
    return moment if clock.now() - moment < LIFETIME else None
