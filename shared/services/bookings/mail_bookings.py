"""Bookings from a parsed mail: stored as new, recognised as known, or cancelled."""

from collections.abc import Mapping, Sequence
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
from shared.errors import Candidates, NotFound
from shared.reference.reference import Reference
from shared.services.bookings import bookings, mail_events

Fields = Mapping[str, Any]
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
    """What a mail's bookings are now; `missing` when nothing was stored."""

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
    """What has to be known before these can be stored; a person who is `sure` needs no confirmation number."""
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
    """Stores, changes or cancels the bookings given, as read from the mail or corrected, and settles the mail; or says
    what is missing.

    A mail is carried out whole or not at all: where something is missing, or this raises, every booking stays as it
    was. All within the session's account. A booking that is known already, by its number or by its day and route, is
    recognised and not stored again. `sure`: a person has looked at it. Without `may_change` the sender is missing
    where something stored would become different. Raises Invalid, NotFound or Candidates.
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
    mail_events.note_letter([*filed.flights, *filed.hotels] if may_change else filed.new, letter.posted)
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
    """Whether a plain confirmation names flights of a known number with other days or times: a person who is sure
    means a change, and a letter older than the booking's newest one says nothing new."""
    rows: list[FlightBooking | HotelBooking] = [*existing[0], *existing[1]]
    if not rows or find_missing(parsed, sure=letter.sure):
        return False
    matches = mail_events.match_rows(rows, parsed)
    fresh = [_build_row(reference, b) for b in parsed]
    moved = [m for m, row in zip(matches, fresh, strict=True) if m is not None and not _is_same(m, row)]
    return bool(moved) and (letter.sure or all(mail_events.is_outdated(m, letter.posted) for m in moved))


def _change(
    session: Session, reference: Reference, letter: _Letter, parsed: list[dict[str, Any]], existing: Existing
) -> FilingResult:
    """Puts the changes on the bookings they are of. A change of a booking not stored here is filed when it is whole."""
    rows: list[FlightBooking | HotelBooking] = [*existing[0], *existing[1]]
    matches = mail_events.match_rows(rows, parsed)
    strangers = [b | {"action": "create"} for b, m in zip(parsed, matches, strict=True) if m is None]
    current = [m for m in matches if m is not None and not mail_events.is_outdated(m, letter.posted)]
    if current and not letter.may_change:
        return FilingResult(missing=["sender"])
    lacking = find_missing(strangers, sure=letter.sure) if strangers else []
    of_known = any(mail_events.has_number(r, b) for r in rows for b in strangers)
    if strangers and (lacking or (of_known and not letter.sure)):
        return FilingResult(missing=["changed_booking", *lacking])
    filed = _store(session, reference, letter, strangers, ([], [])) if strangers else FilingResult()
    for row, booking in zip(matches, parsed, strict=True):
        if row is None:
            continue
        if not mail_events.is_outdated(row, letter.posted):
            sentence = mail_events.change(session, reference, row, booking, letter.posted)
            filed.changes += [sentence] if sentence else []
        (filed.flights if isinstance(row, FlightBooking) else filed.hotels).append(row)  # type: ignore[arg-type]
    return filed


def _restore_types(booking: Fields) -> dict[str, Any]:
    """Days, times and money as they were before they were kept as JSON."""
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
    """The account's bookings that may be meant: of the same number, or without one on the same day."""
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
    """Marks what the mail takes back, unless a newer letter of the booking was filed."""
    flights = mail_events.find_cancelled(existing[0], parsed)
    stays = mail_events.find_cancelled(existing[1], parsed)
    if not flights and not stays:
        return FilingResult(missing=["booking"])
    now = clock.now()
    for rows in (flights, stays):
        current = [row for row in rows if not mail_events.is_outdated(row, letter.posted)]
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
        numbered = [k for k in there if type(k) is type(row) and mail_events.has_number(k, booking)]
        if match is None and not letter.sure and numbered:
            return FilingResult(missing=["changed_booking"])  # its number is known with other days: perhaps a change
    gaps = [_list_gaps(match, row) for row, match in zip(rows, same, strict=True) if match is not None]
    if any(gaps) and not letter.may_change:
        return FilingResult(missing=["sender"])
    for row, match in zip(rows, same, strict=True):
        if match is not None:
            _fill_gaps(match, row)
        else:
            row.inbound_mail_id = letter.mail.id
            session.add(row)
    settled = [match or row for row, match in zip(rows, same, strict=True)]
    filed.flights = [r for r in settled if isinstance(r, FlightBooking)]
    filed.hotels = [r for r in settled if isinstance(r, HotelBooking)]
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
    """One reservation told twice: the same number, or none yet, on the same day and route or at the same hotel."""
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


def _fill_gaps(stored: FlightBooking | HotelBooking, row: FlightBooking | HotelBooking) -> None:
    """Fills in what the stored booking did not know; what it knows stays."""
    for name in _list_gaps(stored, row):
        setattr(stored, name, getattr(row, name))


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
