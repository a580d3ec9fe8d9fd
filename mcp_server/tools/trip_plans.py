"""Trip plans: live award seats paid from saved balances, with the best plan, a fallback and the nearest plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema
from sqlalchemy.orm import Session

from mcp_server.toolkit import Effect, LiveCall, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Amount, Cabin, Day, Passengers
from mcp_server.toolkit.wording import join_names, program_name
from mcp_server.views.trip_plan_messages import (
    describe_journey,
    describe_nearest,
    describe_plan,
    describe_rest,
    explain_no_plan,
)
from mcp_server.views.trip_plans import (
    NearestTripPlan,
    Plan,
    Positioning,
    TripAsked,
    list_names,
    to_asked,
    to_nearest,
    to_plan,
)
from mcp_server.views.trip_vouchers import Held, add_cuts, list_companions, read_companion_vouchers
from shared.db.cards import list_open_slugs
from shared.domain.airport_pairs import JourneyEnd
from shared.domain.dates import format_short_weekday
from shared.domain.exchange_rates import Rates
from shared.domain.flight_times import lands_late, leaves_early
from shared.domain.flights_behind import describe_mixed_cabins, list_nights_between
from shared.domain.funding import Funds, find_leftovers
from shared.domain.nearest_plans import NearestPlan, find_nearest, is_within_cap
from shared.domain.trip_plans import (
    Leg,
    PaidJourney,
    PlanSeat,
    find_fallback,
    find_payable,
    join_legs,
    list_possible_nights,
    rank_journeys,
)
from shared.errors import Fault, Invalid
from shared.providers.contract import FaresQuestion, Reading
from shared.services.search import availability, exchange_rates, fares
from shared.services.search.ask_each import ask_each
from shared.services.search.award_ids import find_award_rows
from shared.services.search.award_options import AwardOption
from shared.services.search.award_trips import look_up_flights
from shared.services.search.fares import FareOption
from shared.services.search.price_memory import fares_seen
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer
from shared.services.search.purses import read_household
from shared.services.search.trip_plan_search import (
    CURRENCY,
    TripSeats,
    TripWish,
    find_baby_shares,
    find_place,
    list_sides,
    search_seats,
)

MAX_WINDOW_DAYS = 14
MAX_STOPS = 6
SLACK_NIGHTS = 1  # more or fewer at each place, where the nights asked for have no plan
MANY_ONWARD = 3  # flights between the first and the last
MAX_NIGHTS = 90  # of the whole trip
PLAN_SENTENCES = 2  # the plan, and how it is paid
MOST_IN_MESSAGE = 440  # characters, before places and the day of the check are added
_LONG = 350  # characters of a message, before places and the day of the check are added


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

    def shorten(self) -> "TripPlans":
        """Says nothing twice of a trip with many flights; its fallback, as long as the best plan, is one sentence."""
        if self.nearest and self.nearest.plan:
            once = {"plan": _shorten_tour(self.nearest.plan), "onward_awards": [], "return_award": None}
            return self.model_copy(update={"nearest": self.nearest.model_copy(update=once)})
        if self.best is None or self.fallback is None or len(self.best.onward_awards) < MANY_ONWARD:
            return self if self.best is None else self.model_copy(update={"best": _shorten_tour(self.best)})
        other = self.fallback
        seats = [other.award, *other.onward_awards, *([other.return_award] if other.return_award else [])]
        best_ids = {
            seat.trip_id for seat in (self.best.award, *self.best.onward_awards, self.best.return_award) if seat
        }
        flights = ", ".join(
            f"{s.origin}-{s.destination} {format_short_weekday(s.date)} with {self.names[s.program]}"
            for s in seats
            if s.trip_id not in best_ids
        )
        sums = f"{other.points_total:,} points in all, as detail full shows"
        best = _shorten_tour(self.best).model_copy(
            update={"warnings": [*self.best.warnings, f"Fallback: {flights}; {sums}."]}
        )
        return self.model_copy(update={"best": best, "fallback": None})


def _shorten_tour(plan: Plan) -> Plan:
    return plan.shorten() if len(plan.onward_awards) >= MANY_ONWARD else plan


@dataclass(frozen=True)
class _Planned:
    """Plans that the balances can pay, by what they are for; how many journeys were considered; why there is none."""

    funds: Funds
    plans: list[PaidJourney[AwardOption]]
    plans_shown: dict[str, PaidJourney[AwardOption]]
    considered: int
    reasons: list[str]
    nearest: NearestPlan[AwardOption] | None
    vouchers: Held


@dataclass(frozen=True)
class Stop:
    place: AirportOrCity
    nights: Annotated[int, Field(ge=1, le=MAX_NIGHTS)]


STOP_FIELDS = {"place": {"type": "string"}, "nights": {"type": "integer"}}
Stops = Annotated[
    list[Stop],
    Field(max_length=MAX_STOPS),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MAX_STOPS,
            "items": {"type": "object", "properties": STOP_FIELDS},
            "description": "Places in order and their nights; then on to destination, unless it is one of them.",
        }
    ),
]
Count = Annotated[int, Field(ge=0, le=8)]


@tool(
    "search",
    Tier.PREMIUM,
    Effect.READS,
    "Plan a trip on points",
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
    nights: Annotated[int | None, Field(ge=1, le=MAX_NIGHTS, description="Adds a return.")] = None,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
    programs: Annotated[list[str] | None, Field(max_length=20)] = None,
    max_cash: Annotated[Amount | None, Field(description="Most taxes in USD, all travellers and flights.")] = None,
    nearby_km: Annotated[int | None, Field(ge=20, le=400, description="Also airports within this radius.")] = None,
    stops: Stops | None = None,
    return_from: Annotated[AirportOrCity | None, Field(description="Home from another place (open jaw).")] = None,
    children: Annotated[Count, Field(description="Of the passengers, aged 2 to 15.")] = 0,
    infants: Annotated[Count, Field(description="On laps, besides the passengers.")] = 0,
) -> TripPlans:
    """Plans a whole award trip for one, a couple or a family: seats there and back, transfers, steps to book.

    For "Get the four of us to Japan on my points, from start to end." Also over several places, or open jaw ("into
    Rome, home from Paris"). From saved balances within 14 days, with a backup. Where a limit fails: the nearest plan.
    Premium.
    """
    _check_days(call, earliest_date, latest_date)
    if children + infants > passengers:
        raise Invalid(Fault("infants", "are more than the adults", "an adult among the passengers for each"))
    return await _plan_wish(
        call,
        TripWish(
            legs=_build_legs(call, origin, destination, nights, stops or [], return_from, nearby_km),
            destination=destination,
            earliest=earliest_date,
            latest=latest_date,
            nights=nights,
            cabin=cabin,
            passengers=passengers,
            programs=frozenset(call.reference.program(name).slug for name in programs or ()),
            max_cash=max_cash,
            children=children,
            infants=infants,
            return_from=return_from,
            baby_shares=find_baby_shares(call.reference, call.today) if infants else {},
        ),
    )


def _check_days(call: LiveCall, earliest: Date, latest: Date) -> None:
    if latest < earliest:
        raise Invalid(Fault("latest_date", "is before earliest_date", f"{earliest} or later"))
    if (latest - earliest).days > MAX_WINDOW_DAYS:
        raise Invalid(
            Fault("latest_date", f"is more than {MAX_WINDOW_DAYS} days after earliest_date", "a shorter window")
        )
    if earliest < call.today:
        raise Invalid(Fault("earliest_date", "is in the past", f"{call.today} or later"))


def _build_legs(
    call: LiveCall,
    origin: str,
    destination: str,
    nights: int | None,
    stops: Sequence[Stop],
    return_from: str | None,
    nearby_km: int | None,
) -> tuple[Leg, ...]:
    """The flights from place to place, and home if nights are spent at the last. Raises Invalid and NotFound."""
    facts, start = call.reference, find_place(call.reference, origin, nearby_km)
    end = find_place(facts, destination, None if stops else nearby_km)
    places: list[tuple[JourneyEnd, int | None]] = [(find_place(facts, s.place, None), s.nights) for s in stops]
    if not any(set(end.airports) & set(place.airports) for place, _ in places):
        places.append((end, nights))
    elif nights:
        raise Invalid(Fault("nights", "goes with a destination that is no stop", "the nights of each stop alone"))
    if sum(spent or 0 for _, spent in places) > MAX_NIGHTS:
        raise Invalid(Fault("stops", f"have more than {MAX_NIGHTS} nights", "fewer nights in all"))
    legs, before, spent = [], start, 0
    for place, staying in places:
        legs.append(Leg(before, place, spent))
        before, spent = place, staying or 0
    if spent:
        legs.append(Leg(find_place(facts, return_from, None) if return_from else before, start, spent))
    elif return_from:
        raise Invalid(Fault("return_from", "goes with nights at the last place", "nights too"))
    for leg in legs:
        if {*leg.start.airports, *dict(leg.start.nearby)} & {*leg.end.airports, *dict(leg.end.nearby)}:
            name = "stops" if stops else "return_from" if leg is legs[-1] and return_from else "destination"
            raise Invalid(
                Fault(name, "is where that flight begins, or near it", "another place, or a smaller nearby_km")
            )
    return tuple(legs)


async def _plan_wish(call: LiveCall, wish: TripWish) -> TripPlans:
    seats = await search_seats(call.ask, call.reference, wish)
    require_answer(seats.readings, availability.VERB, "Planning a trip")
    rates = await exchange_rates.rates(call.ask, [CURRENCY, *seats.currencies])
    planned = await call.in_session(lambda session: _plan_on_thread(call, session, wish, seats, rates))
    if not planned.plans and planned.nearest is None and planned.funds.purses:
        planned = replace(planned, nearest=await _find_on_other_days(call, wish, rates))
    best_plans = dict(planned.plans_shown)
    if planned.nearest and planned.nearest.paid:
        best_plans["nearest"] = planned.nearest.paid
    priced, fare_readings = await _ask_fares(call, wish, list(best_plans.values()), rates)
    journeys = [plan.journey for plan in best_plans.values()]
    if not journeys and planned.nearest:
        journeys.append(planned.nearest.journey)
    positioning = await call.in_session(
        lambda session: [_list_positioning(call, session, wish, plan) for plan in best_plans.values()]
    )
    companions = list_companions(planned.vouchers, wish, journeys)
    remarks = await _look_at_flights(call, best_plans.get("best"))
    plans = {
        name: to_plan(call, wish, paid, cash, planned.funds.purses, ways, rules, remarks if name == "best" else [])
        for (name, paid), cash, ways, rules in zip(best_plans.items(), priced, positioning, companions, strict=False)
    }
    sources = coverage([*seats.readings, *fare_readings])
    failed = [f"{f.name} ({f.reason})" for f in sources.failed]
    unanswered = [f"No answer from {', '.join(failed)}, so there may be better plans."] if failed else []
    result = _describe_result(call, wish, planned, best_plans)
    return TripPlans(
        status="partial" if failed else "ok",
        message=_join_within(
            [*result[: PLAN_SENTENCES if "best" in plans else None], *unanswered],
            [
                *(result[PLAN_SENTENCES:] if "best" in plans else ()),
                *(f"{rule.partition(':')[0]}." for rule in (companions[0][:1] if companions else ())),
                *remarks[:1],
            ],
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


def _join_within(needed: Sequence[str], more: Sequence[str]) -> str:
    """What must be said, and as much of the rest as fits: fields of the answer say it again."""
    message = " ".join(needed)
    for sentence in more:
        if len(message) + len(sentence) < MOST_IN_MESSAGE:
            message = f"{message} {sentence}"
    return message


def _plan_on_thread(call: LiveCall, session: Session, wish: TripWish, seats: TripSeats, rates: Rates) -> _Planned:
    """Matches seats with the saved balances; runs on a database thread."""
    household = read_household(session, call.reference)
    call.reference, purses = household.reference, household.purses
    routes = call.reference.routes(call.today, list_open_slugs(session, call.today))
    funds = Funds(routes, purses, household.apart, 1 if wish.infants else wish.passengers)
    values = {slug: program.value_usd_cents for slug, program in call.reference.programs.items()}
    values |= {p.program: p.value for p in purses}
    every_side = list_sides(values, call.account_id, wish, seats, rates)
    sides = [call.taste.choose(side, lambda seat: (seat.offer.airline,)) for side in every_side]
    fit = [[s for s in side if wish.max_cash is None or (s.taxes or 0) <= wish.max_cash] for side in sides]
    vouchers = read_companion_vouchers(call, session) if wish.passengers > 1 else ()
    plans = _rank_plans(wish, fit, funds, vouchers)
    if not plans and wish.passengers == 1:  # a voucher for two is not spent on one whose points suffice
        vouchers = read_companion_vouchers(call, session)
        plans = _rank_plans(wish, fit, funds, vouchers) if vouchers else []
    considered = sum(is_within_cap(j, wish.max_cash) for j in join_legs(fit, wish.legs))
    if plans:
        return _Planned(funds, plans, _choose_plans(wish, plans, funds), considered, [], None, vouchers)
    cut_sides = add_cuts(vouchers, wish, sides)
    nearest = find_nearest((j for j in join_legs(cut_sides, wish.legs) if j.is_bookable), wish.max_cash, funds)
    if nearest is None or nearest.limit == "points":  # points that the person lacks are further away than a night
        loose = replace(wish, legs=tuple(replace(leg, slack=SLACK_NIGHTS) for leg in wish.legs))
        nearest = _choose_nearest(wish, _rank_plans(loose, fit, funds, vouchers)) or nearest
    parts = [
        availability.find_parts(readings, (wish.cabin,), wish.passengers)
        for side, readings in zip(sides, seats.sides, strict=True)
        if not side
    ]
    reasons = explain_no_plan(call.reference, wish, [bool(side) for side in sides], parts, considered, funds)
    if wish.is_return and not considered and (nights := list_possible_nights(sides, wish.legs)):
        reasons.append(f"Seats both ways are open for {join_names([str(n) for n in nights])} nights.")
    return _Planned(funds, [], {}, considered, reasons, nearest, vouchers)


def _rank_plans(
    wish: TripWish, sides: Sequence[Sequence[PlanSeat[AwardOption]]], funds: Funds, vouchers: Held
) -> list[PaidJourney[AwardOption]]:
    payable = [find_payable(side, funds) for side in add_cuts(vouchers, wish, sides)]
    journeys = join_legs(payable, wish.legs, lambda needs: funds.pay(needs) is not None)
    return rank_journeys((j for j in journeys if j.is_bookable and is_within_cap(j, wish.max_cash)), funds)


async def _find_on_other_days(call: LiveCall, wish: TripWish, rates: Rates) -> NearestPlan[AwardOption] | None:
    """The best plan some days earlier or later, asked of the sources only if the wanted days have none."""
    call.taste.left_out.clear()  # those days are part of the wider range, and counted there
    wider = wish.widen(call.today)
    seats = await search_seats(call.ask, call.reference, wider)
    if not rates.quotes:
        rates = await exchange_rates.rates(call.ask, [CURRENCY, *seats.currencies])
    planned = await call.in_session(lambda session: _plan_on_thread(call, session, wider, seats, rates))
    return _choose_nearest(wish, planned.plans)


def _choose_nearest(wish: TripWish, plans: Sequence[PaidJourney[AwardOption]]) -> NearestPlan[AwardOption] | None:
    """Of plans with other days or nights than the wish, the one that differs least from it."""
    best = min(plans, key=lambda p: (p.waits_for_days, _count_days_off(wish, p), p.order), default=None)
    return NearestPlan("dates", best.journey, best, {}) if best else None


def _count_days_off(wish: TripWish, paid: PaidJourney[AwardOption]) -> int:
    day = paid.journey.out.day
    nights = zip(wish.legs[1:], paid.journey.nights, strict=True)
    return max((wish.earliest - day).days, (day - wish.latest).days, 0) + sum(abs(n - leg.nights) for leg, n in nights)


def _choose_plans(
    wish: TripWish, plans: Sequence[PaidJourney[AwardOption]], funds: Funds
) -> dict[str, PaidJourney[AwardOption]]:
    """The best plan between the airports asked for, its fallback, and a cheaper one over an airport nearby."""
    asked_ends = (wish.start.code, wish.end.code)
    asked_plans = [p for p in plans if p.journey.out.ends == asked_ends]
    near = next((p for p in plans if p.journey.out.ends != asked_ends), None)
    chosen_plans: dict[str, PaidJourney[AwardOption]] = {}
    if asked_plans:
        chosen_plans["best"] = asked_plans[0]
        if other := find_fallback(asked_plans, funds):
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
            needs_night = leaves_early(out.departs_at) if leaves else lands_late(out.arrives_at)
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
                    needs_night=needs_night,
                )
            )
    return ways


async def _look_at_flights(call: LiveCall, paid: PaidJourney[AwardOption] | None) -> list[str]:
    """Checks the flights behind a plan's awards: mixed cabins, and nights on the way. Only where one stops and
    the cabin is better than economy: elsewhere the cabin cannot change on the way."""
    offers = [s.offer for s in paid.journey.seats if s.offer.stops and s.offer.cabin != "economy"] if paid else []
    ids = [offer.trip_id for offer in offers if offer.trip_id]
    if not ids:
        return []
    rows = await call.in_session(lambda session: find_award_rows(session, call.account_id, ids))
    remarks = []
    for trip in await look_up_flights(call.ask, rows):
        if trip is None:
            continue
        ends = f"{trip.segments[0].origin} to {trip.segments[-1].destination}" if trip.segments else ""
        if mixed := describe_mixed_cabins(trip.segments, call.reference.miles):
            remarks.append(f"{ends}: {mixed}.")
        remarks += list_nights_between(trip.segments)
    return remarks


async def _ask_fares(
    call: LiveCall, wish: TripWish, plans: Sequence[PaidJourney[AwardOption]], rates: Rates
) -> tuple[list[list[FareOption]], list[Reading[Any]]]:
    """Cash fares on the days of each plan, and the sources' readings; none for several places."""
    if wish.is_tour:
        return [[] for _ in plans], []
    asked_fares = [
        FaresQuestion(
            p.journey.out.offer.origin,
            p.journey.out.offer.destination,
            p.journey.out.day,
            p.journey.back.day if p.journey.back else None,
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
    used = [w.purse.program for ways in best.ways.values() for w in ways if not w.purse.member]
    sentences = describe_plan(facts, best, wish.passengers)
    if used and not best.journey.onward and len(" ".join(sentences)) < _LONG:  # else only in balances_after
        sentences.append(describe_rest(facts, points_left, used))
    if wish.infants and (uncounted := [p for p in best.journey.needs if p not in wish.baby_shares]):
        with_programs = join_names([program_name(facts, program) for program in uncounted])
        sentences.append(f"The sums do not count babies with {with_programs}.")
    if near := plans.get("nearby"):
        words = describe_journey(facts, near.journey, wish.passengers)
        sentences.append(f"Over an airport nearby, without the cost of positioning: {words}.")
    elif near_codes := [code for code, _ in (*wish.start.nearby, *wish.end.nearby)]:
        sentences.append(f"Starting or landing at {' or '.join(near_codes)} is not cheaper.")
    return sentences
