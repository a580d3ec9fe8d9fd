"""Canned airport delays: an airport and a moment go in, an invented delay or none comes out, marked.

One is set on purpose by the overrides' field `delay|AIRPORT` with a number of minutes, `stop` or `none`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from shared.providers.contract import AirportDelay, Unanswered
from shared.providers.sandbox import draw
from shared.reference.load import reference

REASON = "SANDBOX invented delay"
_SHARE = 0.1  # of three-hour spans with a delay


def rows(airport: str, now: datetime, told: Mapping[str, str]) -> tuple[AirportDelay, ...]:
    if airport not in reference().airports:
        raise Unanswered("not_covered", "airport_not_covered")
    word = told.get(f"delay|{airport}") or _drawn(airport, now)
    if word == "none":
        return ()
    minutes = None if word == "stop" else int(word)
    kind: Literal["ground_stop", "departure"] = "ground_stop" if minutes is None else "departure"
    return (AirportDelay(airport, kind, minutes, minutes, REASON, ends_at=None, checked_at=None),)


def _drawn(airport: str, now: datetime) -> str:
    span = f"{now:%Y-%m-%d}|{now.hour // 3}"
    if draw.u("delay", airport, span) >= _SHARE:
        return "none"
    return str(15 + 5 * int(22 * draw.u("minutes", airport, span) ** 2))
