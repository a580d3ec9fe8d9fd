"""Rules of flight and hotel bookings: building, checking, changing and cancelling the rows."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.bookings import (
    FlightBooking,
    HotelBooking,
    HotelStay,
    Today,
    detach_vouchers,
    find_last_fare,
    find_legs,
)
from shared.db.route_monitors import MonitorKey, RouteMonitor
from shared.db.runs import delete_schedules, schedule, unschedule
from shared.db.trips import Trip, open_trip
from shared.db.vouchers import Voucher
from shared.db.watched_keys import forget_keys
from shared.domain import bookings, time_zones
from shared.domain.bookings import split_by_local_day
from shared.domain.dates import format_weekday
from shared.domain.possible_flights import Leg, find_clashes, judge_times
from shared.domain.watch_kinds import HOTEL_PRICE, ROUTE_MONITOR
from shared.errors import Candidates, Fault, Invalid, NotFound
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel

Terms = Mapping[str, Any]
_HOTEL_CODE = re.compile(r"htl_\S*|\d+|[A-Z0-9]{3,8}")  # codes of the catalogue, never hotel names


def add_flight(session: Session, reference: Reference, row: FlightBooking) -> None:
    """Stores one leg. Raises NotFound if its trip is missing, and Invalid if it clashes with another leg."""
    if row.workspace_trip_id is not None:
        open_trip(session, row.workspace_trip_id, "workspace_trip_id")
    check_legs(reference, row, find_legs(session, row))
    session.add(row)
    session.flush()


def leg(reference: Reference, terms: Terms, *, unpriced: bool = False) -> FlightBooking:
    """Builds the checked row of a leg, without storing it. Only a confirmation may lack the price.

    `terms` are columns of FlightBooking by name, with loose names for airline and program. Raises Invalid, NotFound or
    Candidates.
    """
    values = {"kind": "award", "taxes_currency": "USD"} | flight_names(reference, terms)
    check_flight(reference, values, unpriced=unpriced)
    row = FlightBooking(**values)
    settle_times(reference, row)
    return row


def settle_times(reference: Reference, row: FlightBooking) -> None:
    """Sets the zones of a leg's times, and its day of arrival if only one is possible.

    Raises Invalid if no flight between its airports can have such times.
    """
    row.departure_zone = find_zone_of(reference, row.origin) if row.departure_time else None
    row.arrival_zone = find_zone_of(reference, row.destination) if row.arrival_time else None
    row.arrival_date = check_times(reference, {name: getattr(row, name) for name in _TIMED})


_TIMED = ("origin", "destination", "departure_date", "departure_time", "arrival_date", "arrival_time")


def check_times(reference: Reference, terms: Terms) -> date | None:
    """The day a leg lands, as stated or the only possible one.

    Raises Invalid if no flight between its airports can have such times.
    """
    leaves, stated = terms["departure_date"], terms["arrival_date"]
    if stated is not None and not -1 <= (stated - leaves).days <= 2:
        days = "the day of departure, the day before, or up to two days later"
        raise Invalid(Fault("arrival_date", "cannot be the day this flight lands", days))
    if not terms["departure_time"] or not terms["arrival_time"]:
        return stated  # type: ignore[no-any-return]
    route = reference.route(terms["origin"], terms["destination"])
    landing = judge_times(route, (leaves, terms["departure_time"]), terms["arrival_time"], stated)
    if landing.problem:
        field = "arrival_date" if stated and landing.day else "arrival_time"
        raise Invalid(Fault(field, landing.problem, landing.expected))
    return landing.day


def check_legs(reference: Reference, row: FlightBooking, legs: Sequence[FlightBooking]) -> None:
    """Raises Invalid if someone would be on two flights of a booking at once."""
    others = [leg for leg in legs if leg is not row and leg.member == row.member and leg.cancelled_at is None]
    own = _time_leg(reference, row)
    for other in others:
        for first, second in find_clashes([_time_leg(reference, other), own]):
            if second is own:
                raise Invalid(
                    Fault("departure_time", f"is before {first.name} of the same booking lands", "a later time")
                )
            raise Invalid(
                Fault("arrival_time", f"is after {second.name} of the same booking leaves", "an earlier time")
            )


def _time_leg(reference: Reference, row: FlightBooking) -> Leg:
    name = f"{row.flight_number or row.airline} {row.origin}-{row.destination} on {format_weekday(row.departure_date)}"
    ends = (row.departure_date, row.departure_time), (row.arrival_date, row.arrival_time)
    return Leg(name, reference.route(row.origin, row.destination), *ends)


def list_outdated_times(row: FlightBooking, terms: Terms) -> list[str]:
    """The times of a leg that become invalid when its day, airports or other times change."""
    moved = {
        name
        for name in ("origin", "destination", "departure_date")
        if terms.get(name) not in (None, getattr(row, name))
    }
    retimed = terms.get("departure_time") or terms.get("arrival_time")
    names = ("departure_time", "arrival_time", "arrival_date") if moved else ("arrival_date",) if retimed else ()
    return [name for name in names if terms.get(name) is None and getattr(row, name) is not None]


def find_zone_of(reference: Reference, code: str) -> str | None:
    """The IANA zone of an airport, or of the first of a city's; None if unknown."""
    airport = reference.airports.get(next(iter(reference.metros.get(code, ())), code))
    return airport.tz if airport else None


def add_hotel(session: Session, reference: Reference, row: HotelStay) -> None:
    """Stores one stay and schedules its price checks. Raises NotFound if its trip is missing."""
    if row.trip_id is not None:
        open_trip(session, row.trip_id)
    session.add(row)
    session.flush()
    schedule_price_check(session, reference, row)


def schedule_price_check(session: Session, reference: Reference, row: HotelStay) -> None:
    """Has the price of a stay at a known hotel looked at now and then daily, until the stay starts."""
    if row.hotel_code and stay_state(reference, row, clock.now()) == "upcoming":
        schedule(session, row.KIND.run, row.id, row.interval)


def build_stay(
    reference: Reference, hotel: str, terms: Terms, *, unpriced: bool = False, printed: bool = False
) -> HotelBooking:
    """Builds the checked row of a stay, without storing it, at the hotel of a code, number or name.

    `terms` are columns of HotelBooking by name. An unknown name is kept as written; if it is `printed`
    it is no misspelling. Raises Invalid, NotFound or Candidates.
    """
    printed = printed or bool(terms.get("hotel_city") or terms.get("hotel_country"))
    hotel_row = find_booked_hotel(reference, hotel, exact=printed)
    stay_terms = {"kind": "award", "cash_rate_currency": "USD"} | dict(terms)
    check_stay(stay_terms, unpriced=unpriced)
    if hotel_row is not None:
        hotel_columns = {"hotel_code": hotels.code(hotel_row), "hotel_name": hotel_row.name}
        stay_terms |= {"hotel_city": None, "hotel_country": None}
    else:
        hotel_columns = {"hotel_code": "", "hotel_name": " ".join(hotel.split())}
    # By the clock of the prices compared with it, not the database's.
    return HotelBooking(compared_since=clock.now(), **hotel_columns, **stay_terms)


def find_booked_hotel(reference: Reference, hotel: str, *, exact: bool = False) -> Hotel | None:
    """The known hotel meant; None for the name of another hotel.

    Raises NotFound for an unknown code and, unless `exact`, for a misspelled known name; and Candidates.
    """
    try:
        return hotels.find_hotel(reference, hotel)
    except NotFound as unknown:
        if _HOTEL_CODE.fullmatch(hotel.strip()) or not re.search(r"[^\W\d_]{3}", hotel):
            raise
        if not exact and unknown.facts["nearest"]:
            remark = "To keep the name as it is, send city or country too."
            raise NotFound("hotel", hotel, unknown.facts["nearest"], remark) from None
        return None


def cancel(session: Session, row: FlightBooking | HotelBooking, at: datetime) -> list[int]:
    """Marks a booking as cancelled and keeps it: it is no longer watched, and its vouchers are free again.

    Returns the vouchers. A booking already cancelled keeps its time.
    """
    return cancel_all(session, [row], at)


def cancel_all(session: Session, rows: Sequence[FlightBooking | HotelBooking], at: datetime) -> list[int]:
    """Cancels all legs or all stays of a reservation at once."""
    for row in rows:
        row.cancelled_at = row.cancelled_at or at
        row.updated_at = clock.now()
    session.flush()
    stays = [row.id for row in rows if isinstance(row, HotelBooking)]
    if stays:
        unschedule(session, HOTEL_PRICE.run, stays)
    else:
        _end_monitors(session, [row.id for row in rows], at)
    column = Voucher.hotel_booking_id if stays else Voucher.flight_booking_id
    return detach_vouchers(session, column, [row.id for row in rows])


def _end_monitors(session: Session, bookings: Sequence[int], at: datetime) -> None:
    """Ends the monitors that look for a better price of these flights."""
    watching = sa.and_(RouteMonitor.booking_id.in_(bookings), RouteMonitor.cancelled_at.is_(None))
    ended = session.scalars(
        sa.update(RouteMonitor)
        .where(watching)
        .values(cancelled_at=at, cancel_reason="user")
        .returning(RouteMonitor.id)
        .execution_options(synchronize_session=False)
    ).all()
    for number in ended:
        forget_keys(session, MonitorKey, number)
    unschedule(session, ROUTE_MONITOR.run, ended)


def reinstate(session: Session, reference: Reference, row: FlightBooking | HotelBooking) -> None:
    """Undoes a cancellation with all its details; the price of a stay is checked again."""
    row.cancelled_at = row.cancelled_on = row.points_back = row.money_back = row.points_credited = None
    session.flush()
    if isinstance(row, HotelBooking):
        schedule_price_check(session, reference, row)


def compare_afresh(row: HotelStay, at: datetime) -> None:
    """Restarts price comparison after a stay changed: earlier prices do not apply to it."""
    row.compared_since, row.told_price, row.last_checked_at, row.last_error = at, None, None, None


def remove(session: Session, row: FlightBooking | HotelStay) -> list[int]:
    """Deletes a booking and its price watch for good. Returns the vouchers that are free again."""
    column = Voucher.flight_booking_id if isinstance(row, FlightBooking) else Voucher.hotel_booking_id
    freed = detach_vouchers(session, column, [row.id])
    if isinstance(row, HotelStay):
        delete_schedules(session, row.KIND.run, [row.id])
    session.delete(row)
    session.flush()
    return freed


def cents_per_point(session: Session, legs: Sequence[FlightBooking]) -> Decimal | None:
    """The value of a point on a single award leg by the given price, else by the cash fare seen for its seat."""
    leg = legs[0]
    if len(legs) > 1 or not leg.points_spent or leg.taxes_paid is None:
        return None
    fare = leg.cash_price or find_last_fare(session, leg)
    return None if fare is None else bookings.value_point(fare, leg.taxes_paid, leg.points_spent)


def flight_names(reference: Reference, terms: Terms) -> dict[str, Any]:
    """The terms with the airline's code and the programme's slug. Raises NotFound or Candidates."""
    values = dict(terms)
    if values.get("airline"):
        values["airline"] = airline(reference, values["airline"])
    if values.get("program"):
        values["program"] = program(reference, values["program"], values.get("airline"))
    return values


def airline(reference: Reference, text: str) -> str:
    """The airline's code, or the text itself for an unknown airline. Raises Candidates.

    A leg with an unlisted carrier is still a leg, and must not be lost.
    """
    try:
        return reference.carrier(text).iata
    except NotFound:
        return text.strip()


def program(reference: Reference, text: str, airline_code: str | None) -> str:
    """The programme; if several share the name, the airline's own. Raises NotFound or Candidates."""
    try:
        return reference.program(text).slug
    except Candidates as several:
        flown = reference.airlines.get(airline_code or "")
        if flown and flown.program in [c["program"] for c in several.facts["candidates"]]:
            return str(flown.program)
        raise


def list_flight_filters(reference: Reference, program_name: str | None, airline_name: str | None) -> dict[str, Any]:
    """Filters for legs of an airline and a programme. Raises NotFound and Candidates."""
    code = airline(reference, airline_name) if airline_name else None
    return {
        "airlines": [code.lower(), str(airline_name).strip().lower()] if code else None,
        "program": program(reference, program_name, code) if program_name else None,
    }


def check_flight(reference: Reference, terms: Terms, *, unpriced: bool = False) -> None:
    """Raises Invalid with all faults of a leg's terms."""
    unknown = [
        Fault(name, "is not an airport this service knows", "an airport's code, such as LHR")
        for name in ("origin", "destination")
        if terms[name] not in reference.airports and terms[name] not in reference.metros
    ]
    wrong = unknown + bookings.find_faults("flight", terms, unpriced=unpriced)
    if not wrong and _list_airports(reference, terms["origin"]) & _list_airports(reference, terms["destination"]):
        wrong = [Fault("destination", "is in the same city as origin", "an airport of another city")]
    if wrong:
        raise Invalid(*wrong)


def _list_airports(reference: Reference, code: str) -> set[str]:
    """An airport itself, and those of a city's code: a flight from LON can be one from LHR."""
    return {code} if code in reference.airports else set(reference.city(code))


def check_stay(terms: Terms, *, unpriced: bool = False) -> None:
    if wrong := bookings.find_faults("hotel", terms, unpriced=unpriced):
        raise Invalid(*wrong)


def list_fields_to_drop(row: FlightBooking | HotelStay, terms: Terms) -> list[str]:
    """The fields to drop when a booking changes its kind; other sent fields are checked as usual."""
    if terms.get("kind") in (None, row.kind):
        return []
    what: Literal["flight", "hotel"] = "flight" if isinstance(row, FlightBooking) else "hotel"
    return [name for name in bookings.list_excluded_fields(what, terms["kind"]) if terms.get(name) is None]


def check_trip(session: Session, trip_id: int | None) -> None:
    """Raises NotFound unless it is a trip of the session's account; it stays until the transaction ends."""
    if trip_id is not None and session.get(Trip, trip_id, with_for_update={"read": True, "key_share": True}) is None:
        raise NotFound("trip", trip_id)


def flight_day(reference: Reference, origin: str, now: datetime) -> date:
    """Today's date at an airport or in a city."""
    return time_zones.find_local_day(now, _zone(reference, origin))


def _zone(reference: Reference, code: str) -> str:
    """The time zone of an airport, or of the first of a city's; UTC if unknown."""
    at = reference.airports.get(code)
    of_city = (reference.airports[c].tz for c in reference.metros.get(code, ()) if c in reference.airports)
    return at.tz if at else next(of_city, "UTC")


def today(reference: Reference, what: Literal["flight", "hotel"], now: datetime) -> Today:
    """Today's date at every airport or hotel, for the database to tell past from upcoming."""
    return _days(reference, what, now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0))


@lru_cache(maxsize=8)
def _days(reference: Reference, what: Literal["flight", "hotel"], quarter: datetime) -> Today:
    """Days begin on a quarter of an hour everywhere."""
    if what == "hotel":
        places = list(hotels.list_time_zones(reference).items())
    else:
        places = [(code, _zone(reference, code)) for code in {*reference.airports, *reference.metros}]
    ahead, behind = split_by_local_day(places, quarter)
    return Today(quarter.date(), ahead, behind)


def stay_state(reference: Reference, row: HotelStay, now: datetime) -> bookings.StayState:
    """A hotel known only by its name has the UTC day, as in the statements of lists."""
    at_hotel = time_zones.find_local_day(now, hotels.find_time_zone(reference, row.hotel_code))
    return bookings.get_stay_state(row.check_in_date, row.check_out_date, row.cancelled_at is not None, at_hotel)


def flight_state(reference: Reference, row: FlightBooking, now: datetime) -> bookings.FlightState:
    at_airport = flight_day(reference, row.origin, now)
    return bookings.get_flight_state(row.departure_date, row.cancelled_at is not None, at_airport)


def next_check(state: bookings.StayState, due: datetime | None, now: datetime) -> date | None:
    """The day of a stay's next price check: as scheduled, else soon; None once it has started."""
    if state != "upcoming":
        return None
    return (due or now).date()
