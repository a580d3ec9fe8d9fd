"""An authorization request that comes back from sign-in: its query goes in, marked with its time."""

import re
from datetime import UTC, datetime, timedelta

from shared import clock
from shared.secrets import same, sign
from shared.settings import settings

LIFE = timedelta(minutes=15)
_MARK = re.compile(r"&first_seen=(\d{10}\.\d{6})-([0-9a-f]{64})\Z")


def _signature(query: str, moment: str) -> str:
    return sign(settings().encryption_keys[0], f"first seen:{moment}:{query}")


def plain(query: str) -> str:
    """The query as the application sent it."""
    return _MARK.sub("", query)


def sign_timestamp(query: str) -> str:
    query, moment = plain(query), f"{clock.now().timestamp():.6f}"
    return f"{query}&first_seen={moment}-{_signature(query, moment)}"


def first_seen_at(query: str) -> datetime | None:
    """None when the query carries no mark of ours, or one too old to be believed."""
    found = _MARK.search(query)
    if found is None or not same(found[2], _signature(plain(query), found[1])):
        return None
    moment = datetime.fromtimestamp(float(found[1]), UTC)
    return moment if clock.now() - moment < LIFE else None
