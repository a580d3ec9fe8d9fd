"""Watches of booked awards: the same flight for fewer points, or in a better cabin, and the saving."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, find_legs
from shared.db.route_monitors import RouteMonitor
from shared.domain.booked_awards import RedepositFee, build_fee, find_ceiling, is_one_journey
from shared.domain.plans import CABINS
from shared.errors import Fault, Invalid
from shared.reference.reference import Reference


@dataclass(frozen=True)
class BookedAward:
    """One journey paid with points: its price and cancellation fee for each person."""

    booking_id: int
    airline: str
    flight_number: str | None
    origin: str
    destination: str
    day: date
    cabin: str
    program: str
    passengers: int
    points_each: int
    fee: RedepositFee | None

    @property
    def most_points(self) -> int:
        return find_ceiling(self.points_each, self.fee)


def read_award(session: Session, reference: Reference, row: FlightBooking) -> BookedAward:
    """Reads it; raises Invalid unless it is an award of one journey with known points."""
    # A job's session sees everyone's rows, and the id that joins legs is the caller's own.
    own = [leg for leg in find_legs(session, row) if leg.account_id == row.account_id]
    legs = [leg for leg in own if leg.cancelled_at is None]
    points = sum(leg.points_spent or 0 for leg in legs)
    if row.kind != "award" or row.program is None or row.cancelled_at is not None or not points:
        raise Invalid(Fault("booking_id", "is no award with points and a programme", "a booked award"))
    if row.return_date is not None or not is_one_journey(legs):
        problem = "holds more than one journey, so what one cost is not known"
        raise Invalid(Fault("booking_id", problem, "an award of one journey"))
    passengers = row.passengers or 1
    each = points // passengers
    fact = reference.cancellation_fee(row.program)
    fee = build_fee(fact.cancel_fee, fact.cancel_unit, fact.fee_currency, each) if fact else None
    return BookedAward(
        booking_id=row.id,
        airline=row.airline,
        flight_number=row.flight_number,
        origin=legs[0].origin,
        destination=legs[-1].destination,
        day=legs[0].departure_date,
        cabin=row.cabin_class,
        program=row.program,
        passengers=passengers,
        points_each=each,
        fee=fee,
    )


def set_terms(monitor: RouteMonitor, award: BookedAward) -> None:
    """The terms of a monitor that watches a booking: a lower price in its cabin, any price or a cap in a better one."""
    monitor.booking_id, monitor.program = award.booking_id, award.program
    monitor.origin, monitor.destination = award.origin, award.destination
    monitor.earliest_date = monitor.latest_date = award.day
    monitor.airlines, monitor.passengers = [award.airline], award.passengers
    monitor.cabin = monitor.cabin or award.cabin
    if monitor.cabin == award.cabin:
        monitor.max_points = min(award.most_points, monitor.max_points or award.most_points)


def is_better_cabin(cabin: str, award: BookedAward) -> bool:
    return CABINS.index(cabin) > CABINS.index(award.cabin)


def describe_rebooking(session: Session, reference: Reference, monitor: RouteMonitor) -> dict[str, Any]:
    """A notice's facts about the booking; empty for other monitors, or if the booking no longer has a price."""
    row = session.get(FlightBooking, monitor.booking_id) if monitor.booking_id else None
    if row is None:
        return {}
    try:
        award = read_award(session, reference, row)
    except Invalid:
        return {}
    return {
        "booking": {
            "booking_id": award.booking_id,
            "flight_number": award.flight_number,
            "cabin": award.cabin,
            "points_each": award.points_each,
            "fee_points": award.fee.points if award.fee else None,
            "fee_money": str(award.fee.money) if award.fee and award.fee.money is not None else None,
            "fee_currency": award.fee.currency if award.fee else None,
        }
    }
