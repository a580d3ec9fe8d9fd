"""Hybrid journeys: an award seat on one leg and a cash fare on the other, over a hub."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date as Date
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Effect, LiveCall, Marked, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Day, Passengers
from mcp_server.toolkit.wording import airline_name, program_name
from mcp_server.views.cash_flights import Fare, resolve_journey, to_fare
from shared.domain.dates import format_weekday
from shared.domain.flight_times import format_flight_times, is_over_night
from shared.domain.flights_behind import describe_night
from shared.domain.hybrids import MIN_CONNECTION, find_hubs
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.party_prices import Per, describe_price, describe_travellers, format_amount, price_party
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.reference.load import Reference
from shared.services.search.award_options import AwardOption
from shared.services.search.hybrid_search import CURRENCY, Hybrid, Journeys, Wish, search
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer

BAGS = "Bags are not checked through: at the hub they are fetched and checked in again, which can need a visa there."
LONG_WAIT = timedelta(hours=8)
SEPARATE_TICKETS = (
    "Two separate tickets: if the first flight is late or cancelled, the second airline owes you nothing and your seat"
    " is lost."
)


class AwardLeg(Part):
    """Points and taxes are per person; get_award_trip_details shows more by `trip_id`."""

    trip_id: str | None
    airline: str
    program: str
    origin: str
    destination: str
    date: Date
    cabin: str
    points: int
    taxes: Money | None
    taxes_currency: str | None
    per: Per
    seats: int | None
    stops: int | None
    flight_numbers: list[str]
    departs_at: str | None
    arrives_at: str | None
    source: str
    age_seconds: int


class CashLeg(Part):
    """The price is for all passengers."""

    price: Money
    currency: str
    carriers: list[str]
    flight_numbers: list[str]
    departs_at: str | None
    arrives_at: str | None
    stops: int | None
    booking_url: str | None
    city_wide: bool
    source: str
    age_seconds: int


class HybridJourney(Marked):
    """Points, cash and cost are those of all passengers; the cash is the fare and the taxes of the award."""

    hub: str
    award_leg: AwardLeg
    cash_leg: CashLeg
    award_first: bool
    points: int
    cash: Money | NoDataWord
    currency: str
    effective_cost: Money | NoDataWord
    layover_minutes: int | None
    warnings: list[str]


class UnansweredLeg(Part):
    origin: str
    destination: str
    kind: str
    source: str
    reason: str


class HybridJourneys(Result):
    """`warnings` hold for each of the hybrids."""

    direct_cash: Fare | None
    direct_cash_cost: Money | NoDataWord
    full_award: AwardOption | None
    full_award_cost: Money | NoDataWord
    hybrids: list[HybridJourney]
    warnings: list[str]
    hubs_tried: list[str]
    points_value_cents: float
    currency: str
    unanswered: list[UnansweredLeg]
    coverage: Coverage
    freshness: Freshness


@tool(
    "search",
    Tier.PREMIUM,
    Effect.READS,
    "Combine a cash hop with an award",
    live=True,
    open_world=True,
    meter="search",
    condenses=True,
)
async def search_hybrid(
    call: LiveCall,
    origin: AirportOrCity,
    destination: AirportOrCity,
    date: Day,
    cabin: Cabin = "business",
    points_value_cents: Annotated[float, Field(ge=0.1, le=10)] = 1.5,
    passengers: Passengers = 1,
    hubs: Annotated[list[AirportOrCity] | None, Field(max_length=8)] = None,
) -> HybridJourneys:
    """Combines a cheap cash flight to a hub (positioning) with an award from there, when none starts at home.

    For "Nothing starts at my city: could I go from elsewhere?" Against all cash and all points; points per person. Two
    separate tickets, with their risks. Premium.
    """
    start, end = resolve_journey(call, origin, destination, date)[0]
    hub_codes = _resolve_hubs(call, hubs, start, end)
    value = Decimal(str(points_value_cents))
    wish = Wish(start, end, date, cabin, passengers, value, call.taste)
    journeys = await search(call.ask, call.reference, wish, hub_codes)
    require_answer(journeys.readings, "award_seats and cash_fares", "The search for hybrid journeys", "seats or fares")
    asked_sources = coverage(journeys.readings)
    if not (journeys.direct or journeys.award or journeys.hybrids or asked_sources.failed):
        raise NoData(
            f"No source has a seat or a fare from {start} to {end} on {format_weekday(date)}, direct or over"
            f" {' or '.join(hub_codes)}.",
            missing=["award seats", "cash fares"],
        )
    return HybridJourneys(
        status="partial" if asked_sources.failed else "ok",
        message=_describe_journeys(call.reference, wish, journeys, hub_codes)
        + (f" Journeys are from {start} to {end}." if (start, end) != (origin, destination) else ""),
        direct_cash=to_fare(journeys.direct.offer) if journeys.direct else None,
        direct_cash_cost=_to_money(journeys.direct.cost if journeys.direct else None),
        full_award=journeys.award.offer if journeys.award else None,
        full_award_cost=_to_money(journeys.award.cost if journeys.award else None),
        hybrids=[_to_journey(h, wish) for h in journeys.hybrids],
        warnings=[SEPARATE_TICKETS, BAGS] if journeys.hybrids else [],
        hubs_tried=hub_codes,
        points_value_cents=points_value_cents,
        currency=CURRENCY,
        unanswered=[UnansweredLeg(**asdict(leg)) for leg in journeys.unheard],
        coverage=asked_sources,
        freshness=freshness(journeys.readings),
    )


def _resolve_hubs(call: LiveCall, named: Sequence[str] | None, origin: str, destination: str) -> list[str]:
    """The named hubs, else hubs of airlines near the direct route. Raises Invalid and NotFound."""
    facts = call.reference
    if named is None:
        airline_hubs = (h for airline in facts.airlines.values() for h in airline.hubs if h in facts.airports)
        return find_hubs(origin, destination, airline_hubs, facts.miles)
    codes = list(dict.fromkeys(facts.airport(h).code for h in named))
    if not codes:
        raise Invalid(Fault("hubs", "is empty", "airports, or leave it out for the known hubs"))
    if {origin, destination} & set(codes):
        raise Invalid(Fault("hubs", "holds an end of the journey", "airports on the way"))
    return codes


def _to_money(amount: Decimal | None) -> Decimal | NoDataWord:
    return NO_DATA if amount is None else round_to_minor_unit(amount, CURRENCY)


def _to_journey(journey: Hybrid, wish: Wish) -> HybridJourney:
    option = journey.award.offer
    points = option.points * wish.passengers
    worth = points * wish.value / 100
    fare = journey.cash.offer
    return HybridJourney(
        hub=journey.over.hub,
        award_leg=AwardLeg.model_validate(option),
        cash_leg=CashLeg.from_row(fare, price=round_to_minor_unit(fare.price, fare.currency)),
        award_first=journey.over.award_first,
        points=points,
        cash=_to_money(None if journey.cost is None else journey.cost - worth),
        currency=CURRENCY,
        effective_cost=_to_money(journey.cost),
        layover_minutes=None if journey.layover is None else int(journey.layover.total_seconds() // 60),
        warnings=_build_warnings(journey),
        generated_at=option.generated_at,
    )


def _build_warnings(journey: Hybrid) -> list[str]:
    """Builds the warnings of just this journey."""
    hub, hours = journey.over.hub, int(MIN_CONNECTION.total_seconds() // 3600)
    warnings = [f"Two separate tickets. Bags are not checked through at {hub}."]
    if journey.layover is None:
        warnings.append(f"The flight times are not known: leave at least {pluralize(hours, 'hour')} at {hub}.")
    elif night := _describe_night(journey):
        warnings.append(night)
    elif journey.layover >= LONG_WAIT:
        warnings.append(f"The wait at {hub} is {pluralize(int(journey.layover.total_seconds() // 3600), 'hour')}.")
    if journey.cash.offer.city_wide:
        warnings.append(f"The fare is for the whole city: check that the flight uses {hub}.")
    if journey.award.offer.seats is None:
        warnings.append("How many award seats are left is not known.")
    if journey.cost is None:
        warnings.append("The taxes of the award, or an exchange rate, are not known, so neither is the cost.")
    return warnings


def _describe_night(journey: Hybrid) -> str:
    """The hotel night between the two flights; empty where there is none."""
    first, second = (journey.award, journey.cash) if journey.over.award_first else (journey.cash, journey.award)
    if first.lands and second.leaves and is_over_night(first.lands, second.leaves):
        return describe_night(journey.over.hub, first.lands, second.leaves)
    return ""


def _describe_journeys(facts: Reference, wish: Wish, journeys: Journeys, hubs: Sequence[str]) -> str:
    sentences = []
    costs = {f"over {h.over.hub}": h.cost for h in journeys.hybrids if h.cost is not None}
    if journeys.direct and journeys.direct.cost is not None:
        costs["the direct fare"] = journeys.direct.cost
    if journeys.award and journeys.award.cost is not None:
        costs["the full award"] = journeys.award.cost
    if costs:
        best = min(costs, key=costs.__getitem__)
        sentences.append(
            f"Cheapest of all: {best}, {costs[best]:,.2f} {CURRENCY} for {describe_travellers(wish.passengers)}."
        )
    sentences.append(
        f"{pluralize(len(journeys.hybrids), 'hybrid journey')} over {pluralize(len(hubs), 'hub')}, both legs in"
        f" {wish.cabin.replace('_', ' ')}, a point valued at {wish.value:f} US cents."
    )
    if journeys.hybrids:
        sentences.append(_describe_best(facts, wish, journeys.hybrids[0]))
    if journeys.unheard:
        legs = list(
            dict.fromkeys(f"{u.kind} {u.origin}-{u.destination} ({u.source}, {u.reason})" for u in journeys.unheard)
        )
        more = f" and {len(legs) - 4} more" if len(legs) > 4 else ""
        sentences.append(f"No answer for {'; '.join(legs[:4])}{more}.")
    return " ".join(sentences)


def _describe_best(facts: Reference, wish: Wish, best: Hybrid) -> str:
    """The award and the fare of the cheapest hybrid, with their times."""
    award, fare = best.award.offer, best.cash.offer
    seat = " ".join(filter(None, [format_weekday(award.date), format_flight_times(award.departs_at, award.arrives_at)]))
    price = describe_price(price_party(award, wish.passengers), program_name(facts, award.program))
    times = format_flight_times(fare.departs_at, fare.arrives_at)
    onward = " ".join(filter(None, [format_weekday(best.cash.day), times]))
    return (
        f"Best hybrid over {best.over.hub}: award {award.origin}-{award.destination} with"
        f" {airline_name(facts, award.airline)}, {seat}, {price}; fare on {onward},"
        f" {format_amount(fare.price, fare.currency)} in all. They are two separate tickets."
        f" {_describe_night(best)}".rstrip()
    )
