"""Parser of Duffel's offers, cheapest first; offers that cannot be read are counted and left out."""

import json
import logging
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from shared.providers.contract import CashFare, Unanswered

log = logging.getLogger(__name__)
MAX_FARES = 50
TEST_AIRLINE = "ZZ"  # the airline of their tests
_SPAN = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:[\d.]+S)?)?")


def parse_fares(body: bytes, cabin: str) -> tuple[CashFare, ...]:
    """The cabin asked for is a mere wish to them: an offer counts when each segment is in it, for every passenger."""
    answer = json.loads(body)["data"]
    if answer["live_mode"] is not True:
        raise Unanswered("not_permitted", "test_data")
    fares, unreadable = [], 0
    for offer in answer["offers"] or []:
        try:
            if _is_real(offer) and _cabins(offer) == {cabin}:
                fares.append(_parse_fare(offer, cabin))
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError):
            unreadable += 1
    if unreadable:
        log.warning("duffel: passed over %s offers of unknown shape", unreadable)
    if unreadable and not fares:
        raise Unanswered("down", "wrong_shape")
    return tuple(sorted(fares, key=lambda fare: fare.price)[:MAX_FARES])


def _is_real(offer: dict[str, Any]) -> bool:
    return offer["live_mode"] is True and offer["owner"]["iata_code"] != TEST_AIRLINE


def _segments(offer: dict[str, Any]) -> list[dict[str, Any]]:
    return [segment for part in offer["slices"] for segment in part["segments"]]


def _cabins(offer: dict[str, Any]) -> set[str]:
    return {p["cabin_class"] for s in _segments(offer) for p in s["passengers"]}


def _parse_fare(offer: dict[str, Any], cabin: str) -> CashFare:
    """Times are those of the way there; minutes and stops are of both ways, as the price is."""
    segments, there = _segments(offer), offer["slices"][0]["segments"]
    spans = [_parse_minutes(part.get("duration")) for part in offer["slices"]]
    durations = [span for span in spans if span is not None]
    return CashFare(
        price=Decimal(offer["total_amount"]),
        currency=str(offer["total_currency"]),
        cabin=cabin,
        carriers=tuple(dict.fromkeys(s["marketing_carrier"]["iata_code"] for s in segments)),
        flight_numbers=tuple(
            f"{s['marketing_carrier']['iata_code']}{s['marketing_carrier_flight_number']}" for s in segments
        ),
        departs_at=_parse_local_time(there[0]["departing_at"]),
        arrives_at=_parse_local_time(there[-1]["arriving_at"]),
        duration_minutes=sum(durations) if len(durations) == len(spans) else None,
        stops=len(segments) - len(offer["slices"]),
        booking_url=None,
        checked_at=None,
    )


def _parse_local_time(text: str) -> str:
    """Local to the airport and without a zone already; to the minute."""
    return f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M}"


def _parse_minutes(text: str | None) -> int | None:
    span = _SPAN.fullmatch(text or "")
    if not span or not text or text == "P":
        return None
    days, hours, minutes = (int(part or 0) for part in span.groups())
    return (days * 24 + hours) * 60 + minutes
