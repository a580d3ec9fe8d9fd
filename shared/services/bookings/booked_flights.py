"""Flights a person logged, seen as progress towards a tier: a programme and two days go in, what they add comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking
from shared.domain.dates import format_days
from shared.domain.earning import Scheme, count_points
from shared.reference import statuses
from shared.reference.reference import Reference

NEAR = timedelta(days=731)  # thresholds and years are known for about as long
A_YEAR = timedelta(days=365)
NO_RULE = "How flights count is not known for this programme, so no booking is counted."
NONE_COUNT = "No logged booking counts. Paid flights on the programme's own airlines before the year ends would count."


@dataclass(frozen=True)
class Booked:
    """What logged flights should add, which they are, and what was assumed."""

    amount: Decimal
    counted: tuple[FlightBooking, ...]
    said: tuple[str, ...]


def paid_legs(session: Session, today: date) -> Sequence[FlightBooking]:
    """Cash bookings that stand, of the years progress can be asked for; award seats count towards no tier."""
    near = FlightBooking.departure_date.between(today - NEAR, today + NEAR + A_YEAR)
    stands = (FlightBooking.kind == "cash", FlightBooking.cancelled_at.is_(None), near)
    in_order = (FlightBooking.departure_date, FlightBooking.id)
    return session.scalars(select(FlightBooking).where(*stands).order_by(*in_order)).all()


def booked(
    reference: Reference, program: str, tier: str, legs: Sequence[FlightBooking], since: date, until: date
) -> Booked:
    """What the legs on the programme's own airlines of these days should add for a member of a tier."""
    scheme = statuses.build_scheme(reference, program)
    if scheme is None:
        return Booked(Decimal(0), (), (NO_RULE,))
    own = reference.programs[program].iata
    mine = [leg for leg in legs if leg.airline in own and since <= leg.departure_date <= until]
    if not mine:
        return Booked(Decimal(0), (), (NONE_COUNT,))
    earned = [_earned(reference, scheme, leg, tier) for leg in mine]
    days = format_days(since, until)
    said = [f"Logged paid flights on {', '.join(own)} from {days} are taken as credited to this programme."]
    if scheme.method == "revenue":
        said.append(
            f"The fare counts where it is logged in {scheme.currency} with taxes_paid apart from it;"
            f" that is so for {sum(known for _, known in earned)} of {len(mine)} flights."
        )
    return Booked(sum((amount for amount, _ in earned), Decimal(0)), tuple(mine), tuple(said))


def _earned(reference: Reference, scheme: Scheme, leg: FlightBooking, tier: str) -> tuple[Decimal, bool]:
    """What one traveller's part of a leg counts, and whether its fare could be taken into account."""
    cabin = "premium" if leg.cabin_class == "premium_economy" else leg.cabin_class
    told = leg.taxes_paid is not None and leg.taxes_currency == scheme.currency
    fare = (leg.cash_paid or Decimal(0)) / (leg.passengers or 1) if told else None
    made = count_points(scheme, statuses.build_legs(reference, (leg.origin, leg.destination)), cabin, fare, tier)
    return (made.fixed if made.amount is None else made.amount), told
