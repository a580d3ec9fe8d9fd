"""Parser of AeroAPI's delays: one row for each reason.

Its seconds of delay are for comparing and not for showing, so `shown_minutes` is None: people read the reason's words.
"""

from typing import Literal

from pydantic import BaseModel, NonNegativeInt

from shared.providers.contract import AirportDelay

MAX_REASON_CHARACTERS = 200  # characters
Kind = Literal["ground_stop", "ground_delay", "departure", "arrival", "closure"]
# The kind is told in words only; the first that fits.
_KINDS: tuple[tuple[str, Kind], ...] = (
    ("ground stop", "ground_stop"),
    ("ground delay", "ground_delay"),
    ("closed", "closure"),
    ("arriv", "arrival"),
    ("inbound", "arrival"),
)


class _Reason(BaseModel):
    delay_secs: NonNegativeInt | None
    reason: str


class _Delays(BaseModel):
    reasons: list[_Reason]


def parse_delays(body: bytes, airport: str) -> tuple[AirportDelay, ...]:
    return tuple(_parse_reason(airport, reason) for reason in _Delays.model_validate_json(body).reasons)


def _parse_reason(airport: str, reason: _Reason) -> AirportDelay:
    words = " ".join(reason.reason.split())[:MAX_REASON_CHARACTERS]
    kind: Kind = next((kind for word, kind in _KINDS if word in words.lower()), "departure")
    number = reason.delay_secs // 60 if reason.delay_secs else None
    return AirportDelay(airport, kind, number, None, words, ends_at=None, checked_at=None)
