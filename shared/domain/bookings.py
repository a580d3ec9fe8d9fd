"""Rules of flight and hotel bookings: their state, faults in their terms, and price drops."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from shared.domain import time_zones
from shared.errors import Fault

FlightState = Literal["upcoming", "past", "cancelled"]
StayState = Literal["upcoming", "current", "past", "cancelled"]
Against = Literal["original_points", "original_pay_rate"]
# Fields for only one kind of payment.
AWARD_ONLY = {"flight": ("points_spent", "program", "cash_price"), "hotel": ("original_points",)}
CASH_ONLY = {"flight": ("cash_paid",), "hotel": ()}
# Fields of a booked stay, and of one that is only watched.
BOOKED_ONLY = (
    *("original_points", "original_pay_rate_usd", "room_type", "rate_plan", "confirmation_number", "trip_id"),
    *("hotel_city", "hotel_country", "cancelled_on", "points_back", "money_back"),
)
ALERT_ONLY = ("max_points_per_night", "max_cash_per_night", "active")
CASH_NEEDS = {"flight": "cash_paid", "hotel": "original_pay_rate_usd"}


def split_by_local_day(places: Iterable[tuple[str, str]], now: datetime) -> tuple[list[str], list[str]]:
    """Splits (place, time zone): the places where it is tomorrow already, and those where it is still yesterday."""
    days: dict[str, date] = {}
    ahead, behind = [], []
    for place, tz in places:
        day = days.get(tz) or days.setdefault(tz, time_zones.find_local_day(now, tz))
        if day > now.date():
            ahead.append(place)
        elif day < now.date():
            behind.append(place)
    return ahead, behind


def get_flight_state(departs: date, cancelled: bool, today: date) -> FlightState:
    """`today` is the day at the airport the leg leaves from; the day of departure still counts as upcoming."""
    if cancelled:
        return "cancelled"
    return "upcoming" if departs >= today else "past"


def get_stay_state(arrives: date, leaves: date, cancelled: bool, today: date) -> StayState:
    """`today` is the day at the hotel; a stay is current from its first day through the day of leaving."""
    if cancelled:
        return "cancelled"
    if today < arrives:
        return "upcoming"
    return "current" if today <= leaves else "past"


def find_faults(what: Literal["flight", "hotel"], terms: Mapping[str, Any], *, unpriced: bool = False) -> list[Fault]:
    """Faults of the terms of a leg or a stay; `unpriced` ones need no price."""
    faults = _find_payment_faults(what, terms, unpriced)
    if what == "hotel":
        arrives, leaves = terms["check_in_date"], terms["check_out_date"]
        if leaves <= arrives:
            faults.append(Fault("check_out_date", "is not after check_in_date", f"a date after {arrives}"))
        return faults
    if terms["origin"] == terms["destination"]:
        faults.append(Fault("destination", "is the origin too", "another airport"))
    back = terms.get("return_date")
    if back and back < terms["departure_date"]:
        faults.append(Fault("return_date", "is before departure_date", f"a date from {terms['departure_date']}"))
    return faults


def find_foreign_fields(terms: Mapping[str, Any], *, booked: bool) -> list[Fault]:
    """Terms that a booked stay, or one that is only watched, does not have."""
    foreign, needed = (ALERT_ONLY, "one that is not booked") if booked else (BOOKED_ONLY, "a booked stay")
    return [
        Fault(name, f"is of {needed}", f"no {name.replace('hotel_', '')}")
        for name in foreign
        if terms.get(name) is not None
    ]


def find_limit_faults(kind: str, most_points: int | None, most_cash: Decimal | None) -> list[Fault]:
    """Faults of the price limit for a night of a watched stay: points for an award, or else money."""
    if kind == "cash" and most_cash is None:
        return [Fault("max_cash_per_night", "is needed for kind cash", "an amount")]
    if most_points is not None and most_cash is not None:
        return [Fault("max_cash_per_night", "goes with no max_points_per_night", "one of the two for each alert")]
    return []


def _find_payment_faults(what: Literal["flight", "hotel"], terms: Mapping[str, Any], unpriced: bool) -> list[Fault]:
    kind = terms["kind"]
    foreign, other = (AWARD_ONLY[what], "award") if kind == "cash" else (CASH_ONLY[what], "cash")
    faults = [
        Fault(name, f"goes with kind {other} only", f"no {name}, or kind {other}")
        for name in foreign
        if terms.get(name) is not None
    ]
    needed = CASH_NEEDS[what]
    if kind == "cash" and terms.get(needed) is None and not unpriced:
        faults.append(Fault(needed, "is needed for kind cash", "an amount from 0"))
    return faults


def list_excluded_fields(what: Literal["flight", "hotel"], kind: str) -> tuple[str, ...]:
    """The fields a booking of this kind cannot have."""
    return AWARD_ONLY[what] if kind == "cash" else CASH_ONLY[what]


@dataclass(frozen=True)
class PriceDrop:
    """How much less a stay costs now than what it was booked for."""

    points_saved: int | None
    cash_saved: Decimal | None
    currency: str | None
    percent: Decimal
    against: Against


def find_price_drop(
    kind: str, booked: tuple[int | None, Decimal | None, str], offered: tuple[Any, Any, Any]
) -> PriceDrop | None:
    """(points, cash, currency) booked and seen: points count for an award, cash in the same currency otherwise."""
    if kind == "award":
        saved = _find_saving(booked[0], offered[0])
        return PriceDrop(int(saved[0]), None, None, saved[1], "original_points") if saved else None
    saved = _find_saving(booked[1], offered[1]) if booked[2] == offered[2] else None
    return PriceDrop(None, saved[0], booked[2], saved[1], "original_pay_rate") if saved else None


def find_fit(
    kind: str, limit: int | Decimal | None, stay: tuple[str, int], offered: tuple[Any, Any, Any]
) -> Decimal | None:
    """The average cost of a night of a stay, given its currency and nights, if within the limit.

    The offer is points, cash and currency. Without a limit any price fits.
    """
    points, cash, code = offered
    price = points if kind == "award" else cash if code == stay[0] else None
    if price is None or (limit is not None and price > limit * stay[1]):
        return None
    return (Decimal(price) / stay[1]).quantize(Decimal(1) if kind == "award" else Decimal("0.01"), ROUND_HALF_UP)


def _find_saving(paid: int | Decimal | None, price: int | Decimal | None) -> tuple[Decimal, Decimal] | None:
    """The difference, and its share of what was paid in percent."""
    if paid is None or price is None or price >= paid:
        return None
    less = Decimal(paid) - Decimal(price)
    return less, (less * 100 / Decimal(paid)).quantize(Decimal("0.1"), ROUND_HALF_UP)


def value_point(fare: Decimal, taxes: Decimal, points: int) -> Decimal | None:
    """What a point was worth in cents of the fare's currency: the fare it replaced, less the taxes paid."""
    if points <= 0:
        return None
    return ((fare - taxes) * 100 / points).quantize(Decimal("0.01"), ROUND_HALF_UP)
