"""Bookings from a trip organiser: added, completed, and updated as they change there.

A booking changed here since the last time is left as it is; one cancelled here stays so; none is ever deleted.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.bookings import FlightBooking, HotelBooking
from shared.errors import Candidates, Invalid, NotFound
from shared.providers.connectors import Leg, Pulled, Stay
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.services.bookings import bookings
from shared.services.connections.sync_report import Report

Booking = FlightBooking | HotelBooking
CABIN_UNKNOWN = "The cabin was not stated; economy is assumed."


def apply(session: Session, reference: Reference, pulled: Pulled, last: datetime | None, *, whole: bool) -> Report:
    """Within the session's transaction. `whole`: what is not in it any longer is gone there, and said so."""
    report = Report(trips=pulled.trips, bookings=len(pulled.legs) + len(pulled.stays))
    flights: list[Booking] = list(session.scalars(select(FlightBooking).with_for_update()))
    stays: list[Booking] = list(session.scalars(select(HotelBooking).with_for_update()))
    for leg in pulled.legs:
        _sync_booking(session, reference, report, flights, "flight", leg.ref, _leg_terms(leg), last)
    for stay in pulled.stays:
        _sync_stay(session, reference, report, stays, stay, last)
    if whole:
        refs = [leg.ref for leg in pulled.legs] + [stay.ref for stay in pulled.stays]
        _report_missing(report, reference, [*flights, *stays], refs)
    session.flush()
    return report


def _leg_terms(leg: Leg) -> dict[str, Any]:
    terms = {
        "airline": leg.airline,
        "flight_number": leg.flight_number,
        "origin": leg.origin,
        "destination": leg.destination,
        "departure_date": leg.departure_date,
        "departure_time": leg.departure_time,
        "arrival_date": leg.arrival_date,
        "arrival_time": leg.arrival_time,
        "cabin_class": leg.cabin,
        "confirmation_number": leg.confirmation_number,
    }
    return {name: value for name, value in terms.items() if value is not None}


def _sync_stay(
    session: Session, reference: Reference, report: Report, rows: list[Booking], stay: Stay, last: datetime | None
) -> None:
    try:
        hotel = hotels.code(hotels.find_hotel(reference, stay.hotel))
    except (NotFound, Candidates) as unsure:
        reason = "unknown_hotel" if isinstance(unsure, NotFound) else "several_hotels"
        report.conflict("hotel_booking", stay.ref, reason)
        return
    terms: dict[str, Any] = {"hotel_code": hotel, "check_in_date": stay.check_in, "check_out_date": stay.check_out}
    if stay.confirmation_number:
        terms["confirmation_number"] = stay.confirmation_number
    _sync_booking(session, reference, report, rows, "hotel", stay.ref, terms, last)


def _sync_booking(
    session: Session,
    reference: Reference,
    report: Report,
    rows: list[Booking],
    what: str,
    ref: str,
    terms: Mapping[str, Any],
    last: datetime | None,
) -> None:
    kind = f"{what}_booking"
    row = next((r for r in rows if r.external_ref == ref), None) or _find_same(rows, terms)
    if row is not None and row.cancelled_at:
        return
    try:
        if row is None:
            row = _build_booking(reference, what, terms)
            row.external_ref = ref
            session.add(row)
            session.flush()
            rows.append(row)
            report.change(kind, ref, None, terms)
        elif not _update_booking(report, reference, kind, row, ref, terms, last):
            return
    except (Invalid, NotFound, Candidates):
        report.conflict(kind, ref, "not_accepted")
        return
    if isinstance(row, HotelBooking):
        bookings.schedule_price_check(session, reference, row)


def _build_booking(reference: Reference, what: str, terms: Mapping[str, Any]) -> Booking:
    """No one said what was paid, or with what: it is what bookings are when nothing is said, without an amount."""
    if what == "hotel":
        rest = {name: value for name, value in terms.items() if name != "hotel_code"}
        return bookings.build_stay(reference, terms["hotel_code"], rest, unpriced=True)
    assumed = {} if "cabin_class" in terms else {"cabin_class": "economy", "notes": CABIN_UNKNOWN}
    return bookings.leg(reference, {**assumed, **terms}, unpriced=True)


_IDENTITY = ("airline", "origin", "destination", "departure_date", "hotel_code", "check_in_date", "check_out_date")


def _find_same(rows: Sequence[Booking], terms: Mapping[str, Any]) -> Booking | None:
    """One reservation known from elsewhere: the same route and day, or hotel and days, and no other number."""
    number = str(terms.get("confirmation_number", "")).upper()
    for row in rows:
        theirs = (row.confirmation_number or "").upper()
        fits = all(getattr(row, name) == terms[name] for name in _IDENTITY if name in terms)
        if fits and row.external_ref is None and (not number or not theirs or number == theirs):
            return row
    return None


def _update_booking(
    report: Report,
    reference: Reference,
    kind: str,
    row: Booking,
    ref: str,
    terms: Mapping[str, Any],
    last: datetime | None,
) -> bool:
    """Whether anything was written. A row met for the first time is completed; later it follows what is told there."""
    adopted = row.external_ref is None
    settled = bookings.flight_names(reference, terms) if isinstance(row, FlightBooking) else dict(terms)
    new = {n: v for n, v in settled.items() if getattr(row, n) != v and (not adopted or getattr(row, n) is None)}
    if not new:
        row.external_ref = ref
        return False
    if not adopted and last is not None and row.updated_at > last:
        report.conflict(kind, row.id, "changed_here")
        return False
    before = {name: getattr(row, name) for name in new}
    _check_terms(reference, row, new)
    for name, value in new.items():
        setattr(row, name, value)
    row.external_ref, row.updated_at = ref, clock.now()
    if isinstance(row, HotelBooking) and new.keys() & set(_IDENTITY):
        _compare_again(reference, row)
    report.change(kind, row.id, before, new)
    return True


def _check_terms(reference: Reference, row: Booking, new: Mapping[str, Any]) -> None:
    """Raises Invalid before anything is written."""
    terms = {c.key: getattr(row, c.key) for c in row.__mapper__.column_attrs} | dict(new)
    if isinstance(row, FlightBooking):
        bookings.check_flight(reference, terms, unpriced=True)
    else:
        bookings.check_stay(terms, unpriced=True)


def _compare_again(reference: Reference, row: HotelBooking) -> None:
    bookings.compare_afresh(row, clock.now())
    if (hotel := hotels.find_stored(reference, row.hotel_code)) is not None:
        row.hotel_name = hotel.name


def _report_missing(report: Report, reference: Reference, rows: Sequence[Booking], refs: Sequence[str]) -> None:
    there, now = set(refs), clock.now()
    for row in rows:
        if row.external_ref is None or row.external_ref in there or not row.external_ref.startswith("tripit:"):
            continue
        flight = isinstance(row, FlightBooking)
        state = (
            bookings.flight_state(reference, row, now)
            if isinstance(row, FlightBooking)
            else bookings.stay_state(reference, row, now)
        )
        if state == "upcoming":
            report.conflict("flight_booking" if flight else "hotel_booking", row.id, "gone_there")
