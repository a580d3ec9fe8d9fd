"""Bookings from a parsed mail: stored as new, recognised as known, or cancelled."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.inbound_mail import InboundMail
from shared.domain import names
from shared.domain.dates import format_weekday
from shared.errors import Candidates, NotFound
from shared.reference.reference import Reference
from shared.services.bookings import bookings

# Letters' effects on stored bookings: changes, with a history, and cancellations. Older letters undo nothing.

Fields = Mapping[str, Any]
Row = FlightBooking | HotelBooking
MAX_CHANGES = 40  # kept for one booking
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
    """The stored booking for each of a letter's bookings, by number, each at most once."""
    used_ids: set[int] = set()
    out: list[Row | None] = []
    for booking in parsed:
        free = [r for r in rows if id(r) not in used_ids and r.cancelled_at is None and has_number(r, booking)]
        match = _choose_row(free, booking, alone=len(parsed) == 1)
        out.append(match)
        used_ids |= {id(match)} if match is not None else set()
    return out


def _choose_row(rows: Sequence[Row], booking: Fields, *, alone: bool) -> Row | None:
    """Chooses by the flight's number, its route, or because there is one of each; None if several fit equally."""
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
        route = (booking.get("origin"), booking.get("destination"))
        same = [leg for leg in same or legs if (leg.origin, leg.destination) == route]
    return same if len(same) < 2 else [leg for leg in same if leg.departure_date == booking.get("departure_date")]


def _is_same_hotel(row: HotelBooking, booking: Fields) -> bool:
    if booking.get("hotel_id"):
        return row.hotel_code == str(booking["hotel_id"])
    name = names.normalize_name(str(booking.get("hotel_name") or ""))
    return bool(name) and names.normalize_name(row.hotel_name) == name


def _plain_number(text: Any) -> str:
    """ "BA 0117" and "BA117" are the same."""
    match = re.fullmatch(r"([A-Z0-9]{2})\s?0*(\d{1,4})[A-Z]?", str(text or "").upper())
    return f"{match[1]}{match[2]}" if match else ""


def change(session: Session, reference: Reference, row: Row, booking: Fields, letter_on: date | None) -> str | None:
    """Applies a letter's changes to a booking; returns a sentence, or None if nothing differs.

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
    """The bookings a letter cancels: named legs and stays, or all with its number."""
    return [r for r in rows if any(has_number(r, b) and _names_row(r, b) for b in parsed)]


def _names_row(row: Row, booking: Fields) -> bool:
    """Whether the cancellation may mean this leg or stay."""
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


Existing = tuple[list[FlightBooking], list[HotelBooking]]
FLIGHT = (
    "airline", "flight_number", "origin", "destination", "departure_date", "departure_time", "arrival_date",
    "arrival_time", "cabin_class", "kind", "program", "points_spent", "cash_paid", "taxes_paid", "taxes_currency",
    "passengers", "confirmation_number",
)  # fmt: skip
HOTEL = {
    "check_in_date": "check_in_date",
    "check_out_date": "check_out_date",
    "kind": "kind",
    "original_points": "original_points",
    "cash_total": "original_pay_rate_usd",
    "cash_rate_currency": "cash_rate_currency",
    "room_type": "room_type",
    "confirmation_number": "confirmation_number",
    "free_cancellation_until": "free_cancellation_until",
    "city": "hotel_city",
    "country": "hotel_country",
}
REQUIRED = {
    "flight": ("airline", "origin", "destination", "departure_date", "cabin_class", "kind", "confirmation_number"),
    "hotel": ("hotel_name", "check_in_date", "check_out_date", "kind", "confirmation_number"),
}
_AMOUNTS = {"flight": ("cash_paid", "taxes_paid"), "hotel": ("cash_total",)}
_CURRENCY = {"flight": "taxes_currency", "hotel": "cash_rate_currency"}
_DAYS = ("departure_date", "arrival_date", "check_in_date", "check_out_date", "free_cancellation_until")
_TIMES = ("departure_time", "arrival_time")
_MONEY = ("cash_paid", "taxes_paid", "cash_total", "original_pay_rate_usd")


_FILLABLE = {
    "flight_bookings": (
        "confirmation_number", "flight_number", "departure_time", "arrival_date", "arrival_time", "passengers",
    ),
    "hotel_bookings": ("confirmation_number", "free_cancellation_until", "room_type"),
}  # fmt: skip


@dataclass
class FilingResult:
    """A mail's bookings after filing; `missing` if nothing was stored."""

    flights: list[FlightBooking] = field(default_factory=list)
    hotels: list[HotelBooking] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    new: list[FlightBooking | HotelBooking] = field(default_factory=list)  # those not known before
    changes: list[str] = field(default_factory=list)  # a sentence for each booking that was changed


@dataclass(frozen=True)
class _Letter:
    """The mail being filed, the day its letter was written, whether a person has looked at it, and whether it may
    change or cancel what is stored."""

    mail: InboundMail
    posted: date | None
    sure: bool
    may_change: bool


def find_missing(parsed: Sequence[Fields], *, sure: bool = False) -> list[str]:
    """The fields missing for storing these; a `sure` person needs no confirmation number."""
    lacking: dict[str, None] = {}
    for booking in parsed:
        kind = booking.get("type")
        cancels = booking.get("action") == "cancel"
        needed = ("confirmation_number",) if cancels else REQUIRED.get(str(kind), ("type",))
        spared = () if cancels or not sure else ("confirmation_number",)
        named = ("hotel_name",) if booking.get("hotel_id") else ()
        lacking |= {n: None for n in needed if not booking.get(n) and n not in (*spared, *named)}
        if any(booking.get(n) for n in _AMOUNTS.get(str(kind), ())) and not booking.get(_CURRENCY[str(kind)]):
            lacking[_CURRENCY[str(kind)]] = None
    return list(lacking) if parsed else ["type"]


def file_bookings(
    session: Session,
    reference: Reference,
    mail: InboundMail,
    raw_bookings: list[dict[str, Any]],
    *,
    sure: bool = False,
    may_change: bool = True,
) -> FilingResult:
    """Stores, changes or cancels the bookings given, as read from the mail or corrected, and settles the mail; or tells
    what is missing.

    A mail is filed whole or not at all: if something is missing, or this raises, every booking stays as it
    was. All within the session's account. A booking that is known already, by its number or by its day and route, is
    recognised and not stored again. `sure`: a person has looked at it. Without `may_change` the sender is `missing`
    if something stored would change. Raises Invalid, NotFound or Candidates.
    """
    parsed = [_restore_types(b) for b in raw_bookings]
    posted = mail.parsed.get("posted")
    letter = _Letter(mail, date.fromisoformat(posted) if posted else None, sure, may_change)
    with session.begin_nested() as filing:
        filed = _file(session, reference, letter, parsed)
        if filed.missing:
            filing.rollback()
    if filed.missing:
        mail.parsed = mail.parsed | {"bookings": raw_bookings}
        mail.state, mail.missing = "needs_review", filed.missing
        return FilingResult(missing=filed.missing)
    note_letter([*filed.flights, *filed.hotels] if may_change else filed.new, letter.posted)
    ids = {"flight_booking_ids": [f.id for f in filed.flights], "hotel_booking_ids": [h.id for h in filed.hotels]}
    mail.parsed = mail.parsed | {"bookings": raw_bookings, "excerpt": []} | ids
    mail.state, mail.missing, mail.raw, mail.keep_until, mail.error = "imported", [], None, None, None
    mail.kind = "flight" if filed.flights else "hotel"
    session.flush()
    return filed


def _file(session: Session, reference: Reference, letter: _Letter, parsed: list[dict[str, Any]]) -> FilingResult:
    existing = _find_existing(session, parsed)
    cancels = [b for b in parsed if b.get("action") == "cancel"]
    rest = [b for b in parsed if b.get("action") != "cancel"]
    cancelled = _cancel(session, letter, cancels, existing) if cancels else FilingResult()
    if cancelled.missing or (cancels and not rest):
        return cancelled
    changed = any(b.get("action") == "change" for b in rest)
    if changed or _is_known_otherwise(reference, letter, rest, existing):
        filed = _change(session, reference, letter, rest, existing)
    else:
        filed = _store(session, reference, letter, rest, existing)
    filed.flights, filed.hotels = [*filed.flights, *cancelled.flights], [*filed.hotels, *cancelled.hotels]
    return filed


def _is_known_otherwise(
    reference: Reference, letter: _Letter, parsed: list[dict[str, Any]], existing: Existing
) -> bool:
    """Whether a plain confirmation has bookings of a known number with other days or routes: a sure person
    means a change, and a letter older than the booking's newest one says nothing new."""
    rows: list[FlightBooking | HotelBooking] = [*existing[0], *existing[1]]
    if not rows or find_missing(parsed, sure=letter.sure):
        return False
    matches = match_rows(rows, parsed)
    fresh = [_build_row(reference, b) for b in parsed]
    moved = [m for m, row in zip(matches, fresh, strict=True) if m is not None and not _is_same(m, row)]
    return bool(moved) and (letter.sure or all(is_outdated(m, letter.posted) for m in moved))


def _change(
    session: Session, reference: Reference, letter: _Letter, parsed: list[dict[str, Any]], existing: Existing
) -> FilingResult:
    """Applies changes to their bookings. A change of a booking not stored here is filed if complete."""
    rows: list[FlightBooking | HotelBooking] = [*existing[0], *existing[1]]
    matches = match_rows(rows, parsed)
    strangers = [b | {"action": "create"} for b, m in zip(parsed, matches, strict=True) if m is None]
    current = [m for m in matches if m is not None and not is_outdated(m, letter.posted)]
    if current and not letter.may_change:
        return FilingResult(missing=["sender"])
    lacking = find_missing(strangers, sure=letter.sure) if strangers else []
    of_known = any(has_number(r, b) for r in rows for b in strangers)
    if strangers and (lacking or (of_known and not letter.sure)):
        return FilingResult(missing=["changed_booking", *lacking])
    filed = _store(session, reference, letter, strangers, ([], [])) if strangers else FilingResult()
    for row, booking in zip(matches, parsed, strict=True):
        if row is None:
            continue
        if not is_outdated(row, letter.posted):
            sentence = change(session, reference, row, booking, letter.posted)
            filed.changes += [sentence] if sentence else []
        (filed.flights if isinstance(row, FlightBooking) else filed.hotels).append(row)  # type: ignore[arg-type]
    return filed


def _restore_types(booking: Fields) -> dict[str, Any]:
    """Turns the JSON texts of days, times and money back into their types."""
    fields = dict(booking)
    for name, value in booking.items():
        if not isinstance(value, str | int | float):
            continue
        if name in _DAYS:
            fields[name] = date.fromisoformat(str(value))
        elif name in _TIMES:
            fields[name] = time.fromisoformat(str(value))
        elif name in _MONEY:
            fields[name] = Decimal(str(value)).quantize(Decimal("0.01"))
    return fields


def _find_existing(session: Session, parsed: list[dict[str, Any]]) -> Existing:
    """The account's bookings that may be meant: of the same number, or, without one, on the same day."""
    kinds = {b.get("type") for b in parsed}
    off = any(b.get("action") == "cancel" for b in parsed)
    flights: list[FlightBooking] = []
    stays: list[HotelBooking] = []
    if "flight" in kinds or off:
        days = [b["departure_date"] for b in parsed if b.get("departure_date")]
        flights = list(session.scalars(_select_possible(FlightBooking, parsed, FlightBooking.departure_date.in_(days))))
    if "hotel" in kinds or (off and not flights):
        days = [b["check_in_date"] for b in parsed if b.get("check_in_date")]
        stays = list(session.scalars(_select_possible(HotelBooking, parsed, HotelBooking.check_in_date.in_(days))))
    return flights, stays


def _select_possible(model: Any, parsed: list[dict[str, Any]], same_day: ColumnElement[bool]) -> Any:
    numbers = [str(b["confirmation_number"]).upper() for b in parsed if b.get("confirmation_number")]
    unnumbered = and_(model.confirmation_number.is_(None), same_day, model.cancelled_at.is_(None))
    return select(model).where(or_(func.upper(model.confirmation_number).in_(numbers), unnumbered)).order_by(model.id)


def _cancel(session: Session, letter: _Letter, parsed: list[dict[str, Any]], existing: Existing) -> FilingResult:
    """Marks bookings that the mail cancels, unless a newer letter about them was filed."""
    flights = find_cancelled(existing[0], parsed)
    stays = find_cancelled(existing[1], parsed)
    if not flights and not stays:
        return FilingResult(missing=["booking"])
    now = clock.now()
    for rows in (flights, stays):
        current = [row for row in rows if not is_outdated(row, letter.posted)]
        if current and not letter.may_change:
            return FilingResult(missing=["sender"])
        if current:
            bookings.cancel_all(session, current, now)
    return FilingResult(
        [r for r in flights if isinstance(r, FlightBooking)], [r for r in stays if isinstance(r, HotelBooking)]
    )


def _store(
    session: Session, reference: Reference, letter: _Letter, parsed: list[dict[str, Any]], existing: Existing
) -> FilingResult:
    filed = FilingResult(missing=find_missing(parsed, sure=letter.sure))
    if filed.missing:
        return filed
    rows = [_build_row(reference, b) for b in parsed]
    there: list[FlightBooking | HotelBooking] = [*existing[0], *existing[1]]
    same = [next((k for k in there if _is_same(k, row)), None) for row in rows]
    for row, booking, match in zip(rows, parsed, same, strict=True):
        numbered = [k for k in there if type(k) is type(row) and has_number(k, booking)]
        if match is None and not letter.sure and numbered:
            return FilingResult(missing=["changed_booking"])  # the known number has other days: perhaps a change
    gaps = [_list_gaps(match, row) for row, match in zip(rows, same, strict=True) if match is not None]
    if any(gaps) and not letter.may_change:
        return FilingResult(missing=["sender"])
    for row, match in zip(rows, same, strict=True):
        if match is not None:
            # Fills in missing fields of the stored booking; others stay.
            for name in _list_gaps(match, row):
                setattr(match, name, getattr(row, name))
        else:
            row.inbound_mail_id = letter.mail.id
            session.add(row)
    stored_rows = [match or row for row, match in zip(rows, same, strict=True)]
    filed.flights = [r for r in stored_rows if isinstance(r, FlightBooking)]
    filed.hotels = [r for r in stored_rows if isinstance(r, HotelBooking)]
    filed.new = [row for row, match in zip(rows, same, strict=True) if match is None]
    _link_legs([f for f in filed.flights if letter.may_change or f in filed.new])
    session.flush()
    return filed


def _build_row(reference: Reference, booking: dict[str, Any]) -> FlightBooking | HotelBooking:
    """The checked row of one parsed booking. Raises Invalid, NotFound or Candidates."""
    if booking["type"] == "flight":
        terms = {n: booking[n] for n in FLIGHT if booking.get(n) is not None}
        try:
            return bookings.leg(reference, terms, unpriced=True)
        except (NotFound, Candidates):
            if "program" not in terms:
                raise
            return bookings.leg(reference, {n: v for n, v in terms.items() if n != "program"}, unpriced=True)
    terms = {column: booking[n] for n, column in HOTEL.items() if booking.get(n) is not None}
    hotel = str(booking.get("hotel_id") or booking["hotel_name"])
    return bookings.build_stay(reference, hotel, terms, unpriced=True, printed=True)


def _is_same(other: FlightBooking | HotelBooking, row: FlightBooking | HotelBooking) -> bool:
    """Whether it is the same reservation: same number, or none yet, and the same day and route or hotel."""
    numbers = {(b.confirmation_number or "").upper() for b in (other, row)}
    if len(numbers) > 1 and other.confirmation_number:
        return False
    parts: tuple[str, ...]
    if isinstance(other, FlightBooking) and isinstance(row, FlightBooking):
        parts = ("airline", "origin", "destination", "departure_date")
    elif isinstance(other, HotelBooking) and isinstance(row, HotelBooking):
        parts = ("hotel_code", "check_in_date", "check_out_date")
        if not row.hotel_code and names.normalize_name(other.hotel_name) != names.normalize_name(row.hotel_name):
            return False
    else:
        return False
    return all(getattr(other, p) == getattr(row, p) for p in parts)


def _list_gaps(stored: FlightBooking | HotelBooking, row: FlightBooking | HotelBooking) -> list[str]:
    columns = _FILLABLE[stored.__tablename__]
    return [name for name in columns if getattr(stored, name) is None and getattr(row, name) is not None]


def _link_legs(legs: list[FlightBooking]) -> None:
    """Legs of one number belong to one booking."""
    groups: dict[str | None, list[FlightBooking]] = {}
    for leg in legs:
        groups.setdefault(leg.confirmation_number, []).append(leg)
    for group in groups.values():
        if len(group) > 1:
            trip = next((leg.trip_id for leg in group if leg.trip_id), None) or uuid4()
            for leg in group:
                leg.trip_id = leg.trip_id or trip
