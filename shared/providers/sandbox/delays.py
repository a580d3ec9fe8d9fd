"""Invented airport delays.

One is set on purpose by the overrides' field `delay|AIRPORT` with a number of minutes, `stop` or `none`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from shared.providers.contract import AirportDelay, Unanswered
from shared.providers.sandbox import draws
from shared.reference.load import reference

REASON = "SANDBOX invented delay"
_DELAY_SHARE = 0.1  # of three-hour spans


def find_delays(airport: str, now: datetime, overrides: Mapping[str, str]) -> tuple[AirportDelay, ...]:
    if airport not in reference().airports:
        raise Unanswered("not_covered", "airport_not_covered")
    word = overrides.get(f"delay|{airport}") or _draw_delay(airport, now)
    if word == "none":
        return ()
    minutes = None if word == "stop" else int(word)
    kind: Literal["ground_stop", "departure"] = "ground_stop" if minutes is None else "departure"
    return (AirportDelay(airport, kind, minutes, minutes, REASON, ends_at=None, checked_at=None),)


def _draw_delay(airport: str, now: datetime) -> str:
    span = f"{now:%Y-%m-%d}|{now.hour // 3}"
    if draws.draw_fraction("delay", airport, span) >= _DELAY_SHARE:
        return "none"
    return str(15 + 5 * int(22 * draws.draw_fraction("minutes", airport, span) ** 2))
