"""A plan of plan_trip as results show it: awards, how the points are paid, steps and warnings."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part
from mcp_server.toolkit.wording import airline_name, list_airline_names, list_program_names, program_name
from mcp_server.views.cash_flights import Fare, to_fare
from mcp_server.views.transfers import TransferRoute, to_transfer_route
from mcp_server.views.trip_plan_messages import POSTING_WORDS, describe_speed
from shared.domain.dates import format_day, format_weekday
from shared.domain.flight_times import format_flight_times
from shared.domain.funding import find_leftovers
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.nearest_plans import Limit, NearestPlan
from shared.domain.party_prices import describe_points
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import POSTING, TransferPath
from shared.domain.trip_plans import Journey, PaidJourney
from shared.reference.reference import Reference
from shared.reference.transfer_rates import describe_all_rates
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption
from shared.services.search.trip_plan_search import CURRENCY, TripWish

STALE_SECONDS = int(timedelta(hours=6).total_seconds())


class TripAsked(Part):
    """What was asked, its names resolved."""

    origin: str
    destination: str
    earliest_date: date
    latest_date: date
    nights: int | None
    cabin: str
    passengers: int
    max_cash: Money | None


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


class BalanceAfter(Part):
    """What a balance holds once the plan is paid."""

    program: str
    name: str
    points: int


class Positioning(Part):
    """The way to or from an airport nearby. `fare` is the last one seen for one traveller, one way, on that day."""

    from_airport: str
    to_airport: str
    kilometres: int
    fare: Money | NoDataWord
    currency: str


class Hold(Part):
    possible: bool
    days: int | None


class Plan(Part):
    """For all passengers. `posting_time` is that of the slowest transfer; `booking_pages` are by programme.

    `hold` is null: whether an award can be held is not known of any programme here.
    """

    award: AwardOption
    return_award: AwardOption | None
    points_total: int
    taxes_total: Money | NoDataWord
    currency: str
    pay_with: PayWith
    return_pay_with: PayWith | None
    posting_time: str | NoDataWord
    balances_after: list[BalanceAfter]
    positioning: list[Positioning]
    booking_pages: dict[str, str]
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
    purses: Sequence[Purse],
    positioning: Sequence[Positioning],
) -> Plan:
    journey = paid.journey
    left_over = find_leftovers(purses, paid.ways, journey.needs)
    as_of = min((p.as_of for p in purses if p.as_of), default=None)
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
        posting_time=paid.slowest if paid.slowest != "unknown" else NO_DATA,
        balances_after=[
            BalanceAfter(program=slug, name=program_name(reference, slug), points=points)
            for slug, points in left_over.items()
            if points or any(p.program == slug for p in purses)
        ],
        positioning=list(positioning),
        booking_pages=reference.find_booking_pages(journey.needs),
        effective_cost=_money_or_no_data(paid.cost),
        cash_alternative=to_fare(cash) if cash else NO_DATA,
        steps=_list_steps(reference, paid, passengers, positioning),
        hold=None,
        warnings=_list_warnings(reference, paid, cash, passengers, as_of),
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
    times = format_flight_times(option.departs_at, option.arrives_at)
    day = " ".join(filter(None, [format_weekday(option.date), times]))
    return f"{airline}, {option.origin} to {option.destination} on {day}, with points of {program}"


def _list_steps(
    reference: Reference, paid: PaidJourney[AwardOption], passengers: int, positioning: Sequence[Positioning]
) -> list[str]:
    """Confirming the seat always comes before a transfer, which cannot be undone."""
    journey = paid.journey
    seats = "seat is" if passengers == 1 else f"{passengers} seats are"
    steps = []
    for seat in journey.seats:
        how = f"with get_award_trip_details (trip_id {seat.offer.trip_id}), then " if seat.offer.trip_id else ""
        offer = _describe_offer(reference, seat.offer)
        steps.append(f"Confirm live that the {seats} still open, {how}on the programme's own site: {offer}.")
    transfers = [w for ways in paid.ways.values() for w in ways if w.path]
    steps += [_describe_transfer(reference, way, way.path) for way in transfers if way.path]
    pages = reference.find_booking_pages(journey.needs)
    for program, points in journey.needs.items():
        price = describe_points(points // passengers, passengers, program_name(reference, program))
        page = "".join(f" at {url}" for url in pages.get(program, "").split())
        steps.append(f"Book with {program_name(reference, program)}{page}: {price}, and the taxes.")
    return steps + [_describe_positioning(way) for way in positioning]


def _describe_transfer(reference: Reference, way: Way, path: TransferPath) -> str:
    route = " to ".join(program_name(reference, s) for s in [way.purse.program, *(e.target for e in path.edges)])
    points = pluralize(way.points_sent, "point")
    return f"Only then transfer {points}, {route}: {describe_speed(path)}; {way.points_delivered:,} arrive."


def _describe_positioning(way: Positioning) -> str:
    route = f"Get from {way.from_airport} to {way.to_airport}, {way.kilometres} km apart"
    if way.fare == NO_DATA:
        return f"{route}: positioning cost not known."
    return f"{route}: the last fare seen was {way.fare:,.2f} {way.currency} for one traveller, one way."


def _list_warnings(
    reference: Reference,
    paid: PaidJourney[AwardOption],
    cash: FareOption | None,
    passengers: int,
    balances_as_of: date | None,
) -> list[str]:
    offers = [s.offer for s in paid.journey.seats]
    ways = [w for ways_of_program in paid.ways.values() for w in ways_of_program]
    warnings = [f"Balances as of {format_day(balances_as_of)}: check them first."] if balances_as_of else []
    if paths := [w.path for w in ways if w.path]:
        warnings.append("Transfers cannot be undone.")
        warnings += describe_all_rates(reference, (edge for path in paths for edge in path.edges))
    if paid.slowest != POSTING[0]:
        warnings.append(f"The points {POSTING_WORDS[paid.slowest]}: the seat may be gone in the meantime.")
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


class LackingPoints(Part):
    program: str
    points: int


class NearestTripPlan(Part):
    """`limit` is the one it does not meet; `plan` is null where points are missing. Sums are of all travellers."""

    limit: Limit
    award: AwardOption
    return_award: AwardOption | None
    points_total: int
    taxes_total: Money | NoDataWord
    currency: str
    lacking: list[LackingPoints]
    plan: Plan | None


def to_nearest(nearest: NearestPlan[AwardOption], plan: Plan | None) -> NearestTripPlan:
    journey = nearest.journey
    return NearestTripPlan(
        limit=nearest.limit,
        award=journey.out.offer,
        return_award=journey.back.offer if journey.back else None,
        points_total=sum(journey.needs.values()),
        taxes_total=_money_or_no_data(journey.taxes),
        currency=CURRENCY,
        lacking=[LackingPoints(program=slug, points=points) for slug, points in nearest.lacking.items()],
        plan=plan,
    )


def to_asked(wish: TripWish) -> TripAsked:
    return TripAsked(
        origin=wish.start.code,
        destination=wish.end.code,
        earliest_date=wish.earliest,
        latest_date=wish.latest,
        nights=wish.nights,
        cabin=wish.cabin,
        passengers=wish.passengers,
        max_cash=wish.max_cash,
    )


def list_names(
    reference: Reference, plans: Sequence[PaidJourney[AwardOption]], nearest: NearestPlan[AwardOption] | None
) -> dict[str, str]:
    """Of all that the rows of the answer name by a code: airlines, and programmes that pay or are paid with."""
    journeys = [*(p.journey for p in plans), *([nearest.journey] if nearest else [])]
    ways = [way for paid in plans for ways_of_program in paid.ways.values() for way in ways_of_program]
    steps = [e.target for way in ways if way.path for e in way.path.edges]
    programs = [*(slug for j in journeys for slug in j.needs), *(w.purse.program for w in ways), *steps]
    airlines = [seat.offer.airline for journey in journeys for seat in journey.seats]
    return list_airline_names(reference, airlines) | list_program_names(reference, programs)
