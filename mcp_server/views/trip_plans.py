"""A plan of plan_trip as results show it: awards, how the points are paid, steps and warnings."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part
from mcp_server.toolkit.wording import airline_name, program_name
from mcp_server.views.cash_flights import Fare, to_fare
from mcp_server.views.transfers import TransferRoute, to_transfer_route
from shared.domain.dates import format_day
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Way
from shared.domain.trip_plans import Journey, PaidJourney
from shared.reference.reference import Reference
from shared.reference.transfer_rates import describe_all_rates
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption

CURRENCY = "USD"
STALE_SECONDS = int(timedelta(hours=6).total_seconds())


class BalanceUse(Part):
    """Points spent from a saved balance that is in the right programme already."""

    program: str
    points: int
    balance: int


class PayWith(Part):
    """From where the points come: a balance, a transfer, or both; further transfers where two are needed."""

    program: str
    points: int
    balance: BalanceUse | None
    route: TransferRoute | None
    more_routes: list[TransferRoute]


class Hold(Part):
    possible: bool
    days: int | None


class Plan(Part):
    """For all passengers. `hold` is null: whether an award can be held is not known of any programme here."""

    award: AwardOption
    return_award: AwardOption | None
    points_total: int
    taxes_total: Money | NoDataWord
    currency: str
    pay_with: PayWith
    return_pay_with: PayWith | None
    effective_cost: Money | NoDataWord
    cash_alternative: Fare | NoDataWord
    steps: list[str]
    hold: Hold | None
    warnings: list[str]


def to_plan(
    reference: Reference,
    paid: PaidJourney[AwardOption],
    fares: Sequence[FareOption],
    passengers: int,
    balances_as_of: date,
) -> Plan:
    journey = paid.journey
    out, back = journey.out, journey.back
    other = back if back and back.program != out.program else None
    cash = fares[0] if fares else None
    return Plan(
        award=out.offer,
        return_award=back.offer if back else None,
        points_total=sum(journey.needs.values()),
        taxes_total=_money_or_no_data(journey.taxes),
        currency=CURRENCY,
        pay_with=_to_pay_with(reference, out.program, journey.needs[out.program], paid.ways[out.program]),
        return_pay_with=_to_pay_with(reference, other.program, other.points, paid.ways[other.program])
        if other
        else None,
        effective_cost=_money_or_no_data(paid.cost),
        cash_alternative=to_fare(cash) if cash else NO_DATA,
        steps=_list_steps(reference, paid, passengers),
        hold=None,
        warnings=_list_warnings(reference, paid, cash, passengers, balances_as_of),
    )


def _money_or_no_data(amount: Decimal | None) -> Decimal | NoDataWord:
    return NO_DATA if amount is None else round_to_minor_unit(amount, CURRENCY)


def _to_pay_with(reference: Reference, program: str, points: int, ways: Sequence[Way]) -> PayWith:
    own = next((w for w in ways if w.path is None), None)
    routes = [to_transfer_route(reference, w.path, w.needed if w.covers else None) for w in ways if w.path]
    balance = BalanceUse(program=own.purse.program, points=own.points_sent, balance=own.purse.points) if own else None
    return PayWith(
        program=program, points=points, balance=balance, route=routes[0] if routes else None, more_routes=routes[1:]
    )


def _describe_offer(reference: Reference, option: AwardOption) -> str:
    airline, program = airline_name(reference, option.airline), program_name(reference, option.program)
    day = format_day(option.date)
    return f"{airline}, {option.origin} to {option.destination} on {day}, with points of {program}"


def _list_steps(reference: Reference, paid: PaidJourney[AwardOption], passengers: int) -> list[str]:
    """Confirming the seat always comes before a transfer, which cannot be undone."""
    journey = paid.journey
    seats = "seat is" if passengers == 1 else f"{passengers} seats are"
    steps = []
    for seat in journey.seats:
        how = f"with get_award_trip_details (trip_id {seat.offer.trip_id}), then " if seat.offer.trip_id else ""
        offer = _describe_offer(reference, seat.offer)
        steps.append(f"Confirm live that the {seats} still open, {how}on the programme's own site: {offer}.")
    for way in (w for ways in paid.ways.values() for w in ways if w.path):
        path = way.path
        if path:
            speed = "" if path.slowest == "unknown" else f" (posting: {path.slowest})"
            route = " to ".join(
                program_name(reference, s) for s in [way.purse.program, *(e.target for e in path.edges)]
            )
            steps.append(
                f"Only then transfer {pluralize(way.points_sent, 'point')}, {route}{speed};"
                f" {way.points_delivered:,} arrive."
            )
    for program, points in journey.needs.items():
        steps.append(f"Book with {program_name(reference, program)}: {pluralize(points, 'point')} and the taxes.")
    return steps


def _list_warnings(
    reference: Reference,
    paid: PaidJourney[AwardOption],
    cash: FareOption | None,
    passengers: int,
    balances_as_of: date,
) -> list[str]:
    offers = [s.offer for s in paid.journey.seats]
    ways = [w for ways_of_program in paid.ways.values() for w in ways_of_program]
    warnings = [f"Balances as of {format_day(balances_as_of)}: check them first."]
    if paths := [w.path for w in ways if w.path]:
        warnings.append("Transfers cannot be undone.")
        warnings += describe_all_rates(reference, (edge for path in paths for edge in path.edges))
    if any(o.seats is None for o in offers):
        warnings.append(f"A source does not say how many seats are left; this plan needs {passengers}.")
    if stale := [o for o in offers if o.age_seconds > STALE_SECONDS]:
        warnings.append(f"A source last checked {pluralize(max(o.age_seconds for o in stale) // 3600, 'hour')} ago.")
    if paid.journey.taxes is None:
        warnings.append("The taxes of an award, or an exchange rate for them, are not known.")
    elif paid.cost is None:
        warnings.append("What the points spent are worth is not published, so there is no effective cost.")
    if cash and cash.converted and paid.cost is not None and cash.converted.amount <= paid.cost:
        warnings.append("Cash costs no more than this plan.")
    if len(offers) > 1:
        warnings.append("The way out and the way back are two bookings: a change to one does not change the other.")
    return warnings


def travel_dates(journey: Journey[AwardOption]) -> tuple[date, date | None]:
    return journey.out.day, journey.back.day if journey.back else None
