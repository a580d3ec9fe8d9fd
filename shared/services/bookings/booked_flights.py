"""A person's logged paid flights as progress towards a programme's tier."""

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

KNOWN_SPAN = timedelta(days=731)  # thresholds and years are known for about as long
A_YEAR = timedelta(days=365)
NO_RULE = "How flights count is not known for this programme, so no booking is counted."
NONE_COUNT = "No logged booking counts. Paid flights on the programme's own airlines before the year ends would count."


@dataclass(frozen=True)
class BookedProgress:
    """The expected credit of logged flights, the flights, and assumptions."""

    amount: Decimal
    counted: tuple[FlightBooking, ...]
    notes: tuple[str, ...]


def paid_legs(session: Session, today: date) -> Sequence[FlightBooking]:
    """Cash bookings not cancelled, of the years progress can be asked for; award seats count towards no tier."""
    near = FlightBooking.departure_date.between(today - KNOWN_SPAN, today + KNOWN_SPAN + A_YEAR)
    stands = (FlightBooking.kind == "cash", FlightBooking.cancelled_at.is_(None), near)
    in_order = (FlightBooking.departure_date, FlightBooking.id)
    return session.scalars(select(FlightBooking).where(*stands).order_by(*in_order)).all()


def estimate_progress(
    reference: Reference, program: str, tier: str, legs: Sequence[FlightBooking], since: date, until: date
) -> BookedProgress:
    """The expected credit of legs on the programme's airlines in these days, for a member of a tier."""
    scheme = statuses.build_scheme(reference, program)
    if scheme is None:
        return BookedProgress(Decimal(0), (), (NO_RULE,))
    own = reference.programs[program].iata
    mine = [leg for leg in legs if leg.airline in own and since <= leg.departure_date <= until]
    if not mine:
        return BookedProgress(Decimal(0), (), (NONE_COUNT,))
    earned = [_count_leg(reference, scheme, leg, tier) for leg in mine]
    days = format_days(since, until)
    notes = [f"Logged paid flights on {', '.join(own)} from {days} are taken as credited to this programme."]
    if scheme.method == "revenue":
        notes.append(
            f"The fare counts where it is logged in {scheme.currency} with taxes_paid apart from it;"
            f" that is so for {sum(has_fare for _, has_fare in earned)} of {len(mine)} flights."
        )
    return BookedProgress(sum((amount for amount, _ in earned), Decimal(0)), tuple(mine), tuple(notes))


def _count_leg(reference: Reference, scheme: Scheme, leg: FlightBooking, tier: str) -> tuple[Decimal, bool]:
    """The credit of one traveller's part of a leg, and whether its fare could be used."""
    cabin = "premium" if leg.cabin_class == "premium_economy" else leg.cabin_class
    has_fare = leg.taxes_paid is not None and leg.taxes_currency == scheme.currency
    fare = (leg.cash_paid or Decimal(0)) / (leg.passengers or 1) if has_fare else None
    points = count_points(scheme, statuses.build_legs(reference, (leg.origin, leg.destination)), cabin, fare, tier)
    return (points.fixed if points.amount is None else points.amount), has_fare
