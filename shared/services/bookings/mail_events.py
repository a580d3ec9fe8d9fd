"""What letters do to stored bookings: changes, which leave a history, and cancellations. Older letters undo nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from typing import Any

from sqlalchemy.orm import Session

from shared import clock
from shared.db.bookings import FlightBooking, HotelBooking
from shared.domain import names
from shared.domain.dates import format_weekday
from shared.reference.reference import Reference
from shared.services.bookings import bookings

Fields = Mapping[str, Any]
Row = FlightBooking | HotelBooking
MAX_CHANGES = 40  # of one booking that are kept
_FLIGHT = (
    "airline", "flight_number", "origin", "destination", "departure_date", "departure_time", "arrival_date",
    "arrival_time", "cabin_class",
)  # fmt: skip
_STAY = {
    "check_in_date": "check_in_date",
    "check_out_date": "check_out_date",
    "room_type": "room_type",
    "free_cancellation_until": "free_cancellation_until",
    "original_points": "original_points",
    "cash_total": "original_pay_rate_usd",
    "cash_rate_currency": "cash_rate_currency",
}
_WORDS = {
    "departure_time": "leaves at", "departure_date": "leaves on", "arrival_time": "lands at",
    "arrival_date": "lands on", "origin": "leaves from", "destination": "flies to", "flight_number": "has the number",
    "airline": "is flown by", "cabin_class": "is in", "check_in_date": "begins on", "check_out_date": "ends on",
    "room_type": "is in the room", "free_cancellation_until": "can be cancelled for free until",
    "original_points": "costs in points", "original_pay_rate_usd": "costs", "cash_rate_currency": "is paid in",
}  # fmt: skip


def has_number(row: Row, booking: Fields) -> bool:
    return (row.confirmation_number or "").upper() == str(booking.get("confirmation_number") or "").upper() != ""


def is_outdated(row: Row, letter_on: date | None) -> bool:
    """Whether a newer letter was filed for the booking."""
    return letter_on is not None and row.letter_on is not None and letter_on < row.letter_on


def note_letter(rows: Iterable[Row], letter_on: date | None) -> None:
    for row in rows:
        if letter_on is not None and (row.letter_on is None or letter_on > row.letter_on):
            row.letter_on = letter_on


def match_rows(rows: Sequence[Row], parsed: Sequence[Fields]) -> list[Row | None]:
    """For each booking of a letter the stored one of its number that it speaks of, each at most once."""
    taken: set[int] = set()
    out: list[Row | None] = []
    for booking in parsed:
        free = [r for r in rows if id(r) not in taken and r.cancelled_at is None and has_number(r, booking)]
        match = _choose_row(free, booking, alone=len(parsed) == 1)
        out.append(match)
        taken |= {id(match)} if match is not None else set()
    return out


def _choose_row(rows: Sequence[Row], booking: Fields, *, alone: bool) -> Row | None:
    """By the flight's number, its route, or because there is one of each; None where several fit alike."""
    candidates: list[Row] = []
    if booking.get("type") == "hotel":
        candidates += [r for r in rows if isinstance(r, HotelBooking)]
        same: list[Row] = [r for r in candidates if isinstance(r, HotelBooking) and _is_same_hotel(r, booking)]
    else:
        legs = [r for r in rows if isinstance(r, FlightBooking)]
        candidates += legs
        same = [*_narrow_legs(legs, booking)]
    if len(same) == 1:
        return same[0]
    return candidates[0] if alone and len(candidates) == 1 and not same else None


def _narrow_legs(legs: list[FlightBooking], booking: Fields) -> list[FlightBooking]:
    number = _plain_number(booking.get("flight_number"))
    same = [leg for leg in legs if number and _plain_number(leg.flight_number) == number]
    if len(same) != 1:
        same = [leg for leg in same or legs if (leg.origin, leg.destination) == _route(booking)]
    return same if len(same) < 2 else [leg for leg in same if leg.departure_date == booking.get("departure_date")]


def _is_same_hotel(row: HotelBooking, booking: Fields) -> bool:
    if booking.get("hotel_id"):
        return row.hotel_code == str(booking["hotel_id"])
    name = names.normalize_name(str(booking.get("hotel_name") or ""))
    return bool(name) and names.normalize_name(row.hotel_name) == name


def _plain_number(text: Any) -> str:
    """ "BA 0117" and "BA117" are one."""
    match = re.fullmatch(r"([A-Z0-9]{2})\s?0*(\d{1,4})[A-Z]?", str(text or "").upper())
    return f"{match[1]}{match[2]}" if match else ""


def _route(booking: Fields) -> tuple[Any, Any]:
    return booking.get("origin"), booking.get("destination")


def change(session: Session, reference: Reference, row: Row, booking: Fields, letter_on: date | None) -> str | None:
    """Puts on a booking what a letter changes; returns the sentence about it, None where nothing is different.

    Raises Invalid, NotFound or Candidates.
    """
    if isinstance(row, FlightBooking):
        stated = {n: booking[n] for n in _FLIGHT if booking.get(n) is not None}
        if "airline" in stated:
            stated["airline"] = bookings.airline(reference, str(stated["airline"]))
        stated |= dict.fromkeys(bookings.list_outdated_times(row, stated))
    else:
        stated = {column: booking[n] for n, column in _STAY.items() if booking.get(n) is not None}
        stated = {n: v for n, v in stated.items() if _fits_kind(row.kind, n)}
    before = {n: getattr(row, n) for n, value in stated.items() if getattr(row, n) != value}
    if not before:
        return None
    for name in before:
        setattr(row, name, stated[name])
    _check(reference, row)
    entries = [
        {"on": letter_on and letter_on.isoformat(), "field": n, "old": _to_json(old), "new": _to_json(getattr(row, n))}
        for n, old in before.items()
    ]
    row.changes = [*(row.changes or []), *entries][-MAX_CHANGES:]
    row.updated_at = clock.now()
    session.flush()
    if isinstance(row, HotelBooking) and before.keys() & {"check_in_date", "check_out_date", "room_type"}:
        bookings.compare_afresh(row, clock.now())
        bookings.schedule_price_check(session, reference, row)
    return _describe(row, before)


def _fits_kind(kind: str, column: str) -> bool:
    return column not in {"award": ("original_pay_rate_usd", "cash_rate_currency"), "cash": ("original_points",)}[kind]


def _check(reference: Reference, row: Row) -> None:
    terms = {c.key: getattr(row, c.key) for c in row.__mapper__.column_attrs}
    if isinstance(row, FlightBooking):
        bookings.check_flight(reference, terms, unpriced=True)
        bookings.settle_times(reference, row)
    else:
        bookings.check_stay(terms, unpriced=True)


def _to_json(value: Any) -> Any:
    if isinstance(value, time):
        return value.strftime("%H:%M")
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int) else float(value)


def _describe(row: Row, before: Mapping[str, Any]) -> str:
    """`BA117 now leaves at 09:10 instead of 08:25.`"""
    named = (row.flight_number or row.airline) if isinstance(row, FlightBooking) else row.hotel_name
    parts = []
    for name, old in before.items():
        new, earlier = _to_words(getattr(row, name)), _to_words(old)
        parts.append(f"{_WORDS[name]} {new}" + (f" instead of {earlier}" if old is not None else ""))
    return f"{named} now {', '.join(parts)}."


def _to_words(value: Any) -> str:
    if isinstance(value, date):
        return format_weekday(value)
    if value is None:
        return "a time not named"
    return f"{value:%H:%M}" if isinstance(value, time) else str(value).replace("_", " ")


def find_cancelled(rows: Sequence[Row], parsed: Sequence[Fields]) -> list[Row]:
    """What a letter takes back: the legs and stays it names, or all of its number when it names none."""
    return [r for r in rows if any(has_number(r, b) and _names_row(r, b) for b in parsed)]


def _names_row(row: Row, booking: Fields) -> bool:
    """Nothing the cancellation says speaks against this leg or stay."""
    if isinstance(row, FlightBooking):
        stated = {n: booking.get(n) for n in ("airline", "origin", "destination", "departure_date")}
        number = _plain_number(booking.get("flight_number"))
        other_number = number and row.flight_number and _plain_number(row.flight_number) != number
        fits = all(v is None or getattr(row, n) == v for n, v in stated.items())
        return booking.get("type") != "hotel" and fits and not other_number
    if booking.get("type") == "flight" and (booking.get("airline") or booking.get("origin")):
        return False
    same_hotel = _is_same_hotel(row, booking) or not (booking.get("hotel_id") or booking.get("hotel_name"))
    return same_hotel and booking.get("check_in_date") in (None, row.check_in_date)
