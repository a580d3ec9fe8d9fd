"""Trip plans: live award seats paid from saved balances, with the best plan, a fallback and the nearest plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from datetime import date as Date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import AirportOrCity, Amount, Cabin, Day, Passengers
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part, Result
from mcp_server.toolkit.wording import list_airline_names, list_program_names, program_name
from mcp_server.views.cash_flights import Fare, to_fare
from mcp_server.views.transfers import TransferRoute, to_transfer_route
from mcp_server.views.trip_plan_messages import (
    POSTING_WORDS,
    describe_journey,
    describe_nearest,
    describe_offer,
    describe_plan,
    describe_rest,
    describe_search,
    describe_transfer,
    explain_no_plan,
)
from shared.db.cards import list_open_slugs
from shared.domain.dates import format_day
from shared.domain.exchange_rates import Rates
from shared.domain.funding import Funds, find_leftovers
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.nearest_plans import Limit, NearestPlan, find_nearest, is_within_cap
from shared.domain.party_prices import describe_points
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import POSTING
from shared.domain.trip_plans import Journey, PaidJourney, find_fallback, find_payable, rank_journeys
from shared.errors import Fault, Invalid
from shared.providers.contract import FaresQuestion, Reading
from shared.reference.reference import Reference
from shared.reference.transfer_rates import describe_all_rates
from shared.services.own_programs import add_own_programs
from shared.services.search import availability, exchange_rates, fares
from shared.services.search.ask_each import ask_each
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption
from shared.services.search.price_memory import fares_seen
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer
from shared.services.search.purses import read_purses
from shared.services.search.trip_plan_search import (
    CURRENCY,
    TripSeats,
    TripWish,
    find_place,
    join_sides,
    list_sides,
    search_seats,
)

# A plan of plan_trip as results show it: awards, how the points are paid, steps and warnings.

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


def _list_steps(
    reference: Reference, paid: PaidJourney[AwardOption], passengers: int, positioning: Sequence[Positioning]
) -> list[str]:
    """Confirming the seat always comes before a transfer, which cannot be undone."""
    journey = paid.journey
    seats = "seat is" if passengers == 1 else f"{passengers} seats are"
    steps = []
    for seat in journey.seats:
        how = f"with get_award_trip_details (trip_id {seat.offer.trip_id}), then " if seat.offer.trip_id else ""
        offer = describe_offer(reference, seat.offer)
        steps.append(f"Confirm live that the {seats} still open, {how}on the programme's own site: {offer}.")
    transfers = [w for ways in paid.ways.values() for w in ways if w.path]
    steps += [describe_transfer(reference, way, way.path) for way in transfers if way.path]
    pages = reference.find_booking_pages(journey.needs)
    for program, points in journey.needs.items():
        price = describe_points(points // passengers, passengers, program_name(reference, program))
        page = "".join(f" at {url}" for url in pages.get(program, "").split())
        steps.append(f"Book with {program_name(reference, program)}{page}: {price}, and the taxes.")
    return steps + [_describe_positioning(way) for way in positioning]


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
    """The names of all codes in the answer: airlines, and programmes that pay or are paid with."""
    journeys = [*(p.journey for p in plans), *([nearest.journey] if nearest else [])]
    ways = [way for paid in plans for ways_of_program in paid.ways.values() for way in ways_of_program]
    steps = [e.target for way in ways if way.path for e in way.path.edges]
    programs = [*(slug for j in journeys for slug in j.needs), *(w.purse.program for w in ways), *steps]
    airlines = [seat.offer.airline for journey in journeys for seat in journey.seats]
    return list_airline_names(reference, airlines) | list_program_names(reference, programs)


MAX_WINDOW_DAYS = 14


class AirportPair(Part):
    origin: str
    destination: str


class TripPlans(Result):
    """`nearby`: the best plan over an airport nearby, where it costs less than `best` without positioning.

    `nearest`: where there is no plan, the one that is nearest to the limits. `searched`: the airports looked at.
    `names`: of the airlines and programmes of the plans, by code and slug.
    """

    asked: TripAsked
    names: dict[str, str]
    best: Plan | None
    fallback: Plan | None
    nearby: Plan | None
    nearest: NearestTripPlan | None
    considered: int
    no_plan_reasons: list[str]
    searched: list[AirportPair]
    coverage: Coverage
    freshness: Freshness


@dataclass(frozen=True)
class _Planned:
    """Plans that the balances can pay, how many journeys were considered, and the reasons when there is none."""

    funds: Funds
    plans: list[PaidJourney[AwardOption]]
    considered: int
    reasons: list[str]
    nearest: NearestPlan[AwardOption] | None


@tool(
    title="Plan a trip on points",
    phrases="Plan the whole trip on points for us: put an itinerary together, what exactly to transfer and book",
    area="search",
    tier=Tier.PREMIUM,
    effect=Effect.READS,
    live=True,
    open_world=True,
    meter="search",
    screen="trip-plan",
    condenses=True,
)
async def plan_trip(
    call: LiveCall,
    origin: AirportOrCity,
    destination: AirportOrCity,
    earliest_date: Day,
    latest_date: Day,
    nights: Annotated[int | None, Field(ge=1, le=90, description="Adds a return.")] = None,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
    programs: Annotated[list[str] | None, Field(max_length=20)] = None,
    max_cash: Annotated[
        Amount | None, Field(description="Most taxes in USD, all travellers and both ways together.")
    ] = None,
    nearby_km: Annotated[int | None, Field(ge=20, le=400, description="Also airports within this radius.")] = None,
) -> TripPlans:
    """Plans a whole award trip for one, a couple or a family: seats there and back, transfers, steps to book.

    For "Get the four of us to Japan on my points, from start to end." From saved balances within 14 days, with a
    backup. Where a limit fails: the nearest plan. Premium.
    """
    wish = _build_wish(
        call,
        (origin, destination),
        nearby_km,
        (earliest_date, latest_date),
        nights,
        cabin,
        passengers,
        programs,
        max_cash,
    )
    return await _plan_wish(call, wish)


async def _plan_wish(call: LiveCall, wish: TripWish) -> TripPlans:
    seats = await search_seats(call.ask, call.reference, wish)
    require_answer(seats.readings, availability.VERB, "Planning a trip")
    rates = await exchange_rates.rates(call.ask, [CURRENCY, *seats.currencies])
    planned = await call.in_session(lambda session: _plan_on_thread(call, session, wish, seats, rates))
    if not planned.plans and planned.nearest is None and planned.funds.purses:
        planned = replace(planned, nearest=await _find_on_other_days(call, wish, rates))
    best_plans = _choose_plans(wish, planned.plans)
    if planned.nearest and planned.nearest.paid:
        best_plans["nearest"] = planned.nearest.paid
    priced, fare_readings = await _ask_fares(call, wish, list(best_plans.values()), rates)
    positioning = await call.in_session(
        lambda session: [_list_positioning(call, session, wish, plan) for plan in best_plans.values()]
    )
    plans = {
        name: to_plan(call.reference, paid, cash, wish.passengers, planned.funds.purses, ways)
        for (name, paid), cash, ways in zip(best_plans.items(), priced, positioning, strict=True)
    }
    sources = coverage([*seats.readings, *fare_readings])
    failed = [f"{f.name} ({f.reason})" for f in sources.failed]
    return TripPlans(
        status="partial" if failed else "ok",
        message=" ".join(
            [
                describe_search(wish, planned.considered),
                *_describe_result(call, wish, planned, best_plans),
                *([f"No answer from {', '.join(failed)}, so there may be better plans."] if failed else []),
            ]
        ),
        asked=to_asked(wish),
        names=list_names(call.reference, [*best_plans.values()], planned.nearest),
        best=plans.get("best"),
        fallback=plans.get("fallback"),
        nearby=plans.get("nearby"),
        nearest=to_nearest(planned.nearest, plans.get("nearest")) if planned.nearest else None,
        considered=planned.considered,
        no_plan_reasons=planned.reasons,
        searched=[AirportPair(origin=a, destination=b) for a, b in seats.pairs],
        coverage=sources,
        freshness=freshness([*seats.readings, *fare_readings]),
    )


def _build_wish(
    call: LiveCall,
    ends: tuple[str, str],
    nearby_km: int | None,
    days: tuple[Date, Date],
    nights: int | None,
    cabin: str,
    passengers: int,
    programs: Sequence[str] | None,
    max_cash: Decimal | None,
) -> TripWish:
    """Raises Invalid, NotFound and Candidates."""
    earliest, latest = days
    if latest < earliest:
        raise Invalid(Fault("latest_date", "is before earliest_date", f"{earliest} or later"))
    if (latest - earliest).days > MAX_WINDOW_DAYS:
        raise Invalid(
            Fault("latest_date", f"is more than {MAX_WINDOW_DAYS} days after earliest_date", "a shorter window")
        )
    if earliest < call.today:
        raise Invalid(Fault("earliest_date", "is in the past", f"{call.today} or later"))
    start, end = (find_place(call.reference, code, nearby_km) for code in ends)
    if {*start.airports, *dict(start.nearby)} & {*end.airports, *dict(end.nearby)}:
        raise Invalid(Fault("destination", "is the origin too, or near it", "another airport, or a smaller nearby_km"))
    slugs = frozenset(call.reference.program(name).slug for name in programs or ())
    return TripWish(start, end, earliest, latest, nights, cabin, passengers, slugs, max_cash)


def _plan_on_thread(call: LiveCall, session: Session, wish: TripWish, seats: TripSeats, rates: Rates) -> _Planned:
    """Matches seats with the saved balances; runs on a database thread."""
    call.reference = add_own_programs(session, call.reference)
    purses = read_purses(session, call.reference)
    funds = Funds(call.reference.routes(call.today, list_open_slugs(session, call.today)), purses)
    values = {slug: program.value_usd_cents for slug, program in call.reference.programs.items()}
    values |= {p.program: p.value for p in purses}
    sides = list_sides(values, call.account_id, wish, seats, rates)
    fit = [[s for s in side if wish.max_cash is None or (s.taxes or 0) <= wish.max_cash] for side in sides]
    journeys = [j for j in join_sides(fit, wish) if is_within_cap(j, wish.max_cash)]
    payable = {id(seat) for side in fit for seat in find_payable(side, funds)}
    plans = rank_journeys((j for j in journeys if all(id(seat) in payable for seat in j.seats)), funds)
    if plans:
        return _Planned(funds, plans, len(journeys), [], None)
    nearest = find_nearest(join_sides(sides, wish), wish.max_cash, funds)
    reasons = explain_no_plan(call.reference, wish, [bool(side) for side in sides], len(journeys), funds)
    return _Planned(funds, [], len(journeys), reasons, nearest)


async def _find_on_other_days(call: LiveCall, wish: TripWish, rates: Rates) -> NearestPlan[AwardOption] | None:
    """The best plan some days earlier or later, which is asked of the sources only where the days wanted hold none."""
    wider = wish.widen(call.today)
    seats = await search_seats(call.ask, call.reference, wider)
    if not rates.quotes:
        rates = await exchange_rates.rates(call.ask, [CURRENCY, *seats.currencies])
    planned = await call.in_session(lambda session: _plan_on_thread(call, session, wider, seats, rates))
    if not planned.plans:
        return None
    best = min(planned.plans, key=lambda p: (p.waits_for_days, _count_days_off(wish, p), p.order))
    return NearestPlan("dates", best.journey, best, {})


def _count_days_off(wish: TripWish, paid: PaidJourney[AwardOption]) -> int:
    day = paid.journey.out.day
    return max((wish.earliest - day).days, (day - wish.latest).days, 0)


def _choose_plans(wish: TripWish, plans: Sequence[PaidJourney[AwardOption]]) -> dict[str, PaidJourney[AwardOption]]:
    """The best plan between the airports asked for, its fallback, and a cheaper one over an airport nearby."""
    asked_ends = frozenset((wish.start.code, wish.end.code))
    asked_plans = [p for p in plans if p.journey.out.ends == asked_ends]
    near = next((p for p in plans if p.journey.out.ends != asked_ends), None)
    chosen_plans: dict[str, PaidJourney[AwardOption]] = {}
    if asked_plans:
        chosen_plans["best"] = asked_plans[0]
        if other := find_fallback(asked_plans):
            chosen_plans["fallback"] = other
        if near and near.order < asked_plans[0].order:
            chosen_plans["nearby"] = near
    elif near:
        chosen_plans["best"] = near
    return chosen_plans


def _list_positioning(
    call: LiveCall, session: Session, wish: TripWish, paid: PaidJourney[AwardOption]
) -> list[Positioning]:
    out = paid.journey.out.offer
    ways = []
    for place, airport, leaves in ((wish.start, out.origin, True), (wish.end, out.destination, False)):
        distance = place.find_distance(airport)
        if distance is not None:
            main = place.airports[0]
            ends = (main, airport) if leaves else (airport, main)
            day = paid.journey.out.day if leaves else paid.journey.out.lands_on
            seen_fares = [
                f
                for reading in fares_seen(session, call.account_id, *ends, day, "economy")
                for f in reading.value or ()
                if f.currency == CURRENCY
            ]
            fare = min((f.price for f in seen_fares), default=None)
            ways.append(
                Positioning(
                    from_airport=ends[0],
                    to_airport=ends[1],
                    kilometres=distance,
                    fare="no_data" if fare is None else fare,
                    currency=CURRENCY,
                )
            )
    return ways


async def _ask_fares(
    call: LiveCall, wish: TripWish, plans: Sequence[PaidJourney[AwardOption]], rates: Rates
) -> tuple[list[list[FareOption]], list[Reading[Any]]]:
    """Cash fares on the days of each plan, and the readings of the sources that were asked."""
    asked_fares = [
        FaresQuestion(
            p.journey.out.offer.origin,
            p.journey.out.offer.destination,
            *travel_dates(p.journey),
            wish.cabin,
            wish.passengers,
            CURRENCY,
        )
        for p in plans
    ]
    questions = list(dict.fromkeys(asked_fares))
    answers = dict(zip(questions, await ask_each(call.ask, fares.VERB, questions), strict=True))
    readings = [r for answer in answers.values() for r in answer]
    if not rates.quotes:
        rates = await exchange_rates.rates(call.ask, [CURRENCY, *(f.currency for r in readings for f in r.value or ())])
    return [fares.sort_by_price(fares.options(answers[q], wish.cabin), rates, CURRENCY) for q in asked_fares], readings


def _describe_result(
    call: LiveCall, wish: TripWish, planned: _Planned, plans: Mapping[str, PaidJourney[AwardOption]]
) -> list[str]:
    facts, best = call.reference, plans.get("best")
    if best is None:
        nearest = [describe_nearest(facts, wish, planned.nearest)] if planned.nearest else []
        return ["There is no plan.", *planned.reasons, *nearest]
    points_left = find_leftovers(planned.funds.purses, best.ways, best.journey.needs)
    used = [w.purse.program for ways in best.ways.values() for w in ways]
    sentences = [*describe_plan(facts, best, wish.passengers), describe_rest(facts, points_left, used)]
    if near := plans.get("nearby"):
        words = describe_journey(facts, near.journey, wish.passengers)
        sentences.append(f"Over an airport nearby, without the cost of positioning: {words}.")
    elif near_codes := [code for code, _ in (*wish.start.nearby, *wish.end.nearby)]:
        sentences.append(f"Over {' or '.join(near_codes)}, nearby, it costs no less.")
    return sentences
