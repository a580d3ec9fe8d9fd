"""Journeys half on points, half for cash: a route, a day and hubs go in; the best over each hub comes out."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import Airport, Cabin, Day, Passengers
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Marked, Money, NoDataWord, Part, Result
from mcp_server.toolkit.wording import cities
from mcp_server.views.cash_flights import Fare, resolve_journey, to_fare
from shared.domain.hybrids import LEAST, hubs_between
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.plurals import some
from shared.errors import Fault, Invalid, NoData
from shared.services.search.award_options import AwardOption
from shared.services.search.hybrid_search import CURRENCY, Hybrid, Journeys, Wish, search
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer

NIGHT = timedelta(hours=8)
SEPARATE = (
    "Two separate tickets: if the first flight is late or cancelled, the second airline owes you nothing and your seat"
    " is lost."
)


class HybridJourney(Marked):
    """Points, cash and cost are those of all passengers; the cash is the fare and the taxes of the award."""

    hub: str
    award_leg: AwardOption
    cash_leg: Fare
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
    direct_cash: Fare | None
    direct_cash_cost: Money | NoDataWord
    full_award: AwardOption | None
    full_award_cost: Money | NoDataWord
    hybrids: list[HybridJourney]
    hubs_tried: list[str]
    points_value_cents: float
    currency: str
    unanswered: list[UnansweredLeg]
    coverage: Coverage
    freshness: Freshness


@tool(
    area="search",
    tier=Tier.PREMIUM,
    effect=Effect.READS,
    title="Search hybrid journeys",
    live=True,
    open_world=True,
    meter="search",
)
async def search_hybrid(
    call: LiveCall,
    origin: Airport,
    destination: Airport,
    date: Day,
    cabin: Cabin = "business",
    points_value_cents: Annotated[float, Field(ge=0.1, le=10)] = 1.5,
    passengers: Passengers = 1,
    hubs: Annotated[list[str] | None, Field(max_length=8, description="Default: hubs on the way.")] = None,
) -> HybridJourneys:
    """Combines an award seat on the longer leg with a cash fare on the other, over hubs, by effective cost.

    Each is two separate tickets and says what that risks. Premium.
    """
    start, end = resolve_journey(call, origin, destination, date)
    chosen = _hubs(call, hubs, start, end)
    value = Decimal(str(points_value_cents))
    wish = Wish(start, end, date, cabin, passengers, value)
    found = await search(call.ask, call.reference, wish, chosen)
    require_answer(found.readings, "award_seats and cash_fares", "The search for hybrid journeys", "seats or fares")
    told = coverage(found.readings)
    if not (found.direct or found.award or found.hybrids or told.failed):
        raise NoData(
            f"No source has a seat or a fare from {start} to {end} on {date}, direct or over {' or '.join(chosen)}.",
            missing=["award seats", "cash fares"],
        )
    return HybridJourneys(
        status="partial" if told.failed else "ok",
        message=_message(wish, found, chosen) + cities(call.reference, origin, destination),
        direct_cash=to_fare(found.direct.offer) if found.direct else None,
        direct_cash_cost=_money(found.direct.cost if found.direct else None),
        full_award=found.award.offer if found.award else None,
        full_award_cost=_money(found.award.cost if found.award else None),
        hybrids=[_journey(h, wish) for h in found.hybrids],
        hubs_tried=chosen,
        points_value_cents=points_value_cents,
        currency=CURRENCY,
        unanswered=[UnansweredLeg(**asdict(leg)) for leg in found.unheard],
        coverage=told,
        freshness=freshness(found.readings),
    )


def _hubs(call: LiveCall, named: Sequence[str] | None, origin: str, destination: str) -> list[str]:
    """Those named, else airlines' hubs near the direct way. Raises Invalid and NotFound."""
    facts = call.reference
    if named is None:
        known = (h for airline in facts.airlines.values() for h in airline.hubs if h in facts.airports)
        return hubs_between(origin, destination, known, facts.miles)
    chosen = list(dict.fromkeys(facts.airport(h).code for h in named))
    if not chosen:
        raise Invalid(Fault("hubs", "is empty", "airports, or leave it out for the known hubs"))
    if {origin, destination} & set(chosen):
        raise Invalid(Fault("hubs", "holds an end of the journey", "airports on the way"))
    return chosen


def _money(amount: Decimal | None) -> Decimal | NoDataWord:
    return NO_DATA if amount is None else round_to_minor_unit(amount, CURRENCY)


def _journey(found: Hybrid, wish: Wish) -> HybridJourney:
    option = found.award.offer
    points = option.points * wish.passengers
    worth = points * wish.value / 100
    return HybridJourney(
        hub=found.over.hub,
        award_leg=option,
        cash_leg=to_fare(found.cash.offer),
        award_first=found.over.award_first,
        points=points,
        cash=_money(None if found.cost is None else found.cost - worth),
        currency=CURRENCY,
        effective_cost=_money(found.cost),
        layover_minutes=None if found.layover is None else int(found.layover.total_seconds() // 60),
        warnings=_warnings(found),
        generated_at=option.generated_at,
    )


def _warnings(found: Hybrid) -> list[str]:
    hub, hours = found.over.hub, int(LEAST.total_seconds() // 3600)
    words = [
        SEPARATE,
        f"Bags are not checked through: at {hub} they are fetched and checked in again, which can need a visa there.",
    ]
    if found.layover is None:
        words.append(f"A source does not tell the times: check that at least {some(hours, 'hour')} are left at {hub}.")
    elif found.layover >= NIGHT:
        words.append(f"The wait at {hub} is {some(int(found.layover.total_seconds() // 3600), 'hour')}.")
    if found.cash.offer.city_wide:
        words.append(f"The fare is one of a whole city: check that the flight uses {hub}.")
    if found.award.offer.seats is None:
        words.append("How many award seats are left is not known.")
    if found.cost is None:
        words.append("The taxes of the award, or an exchange rate, are not known, so neither is the cost.")
    return words


def _message(wish: Wish, found: Journeys, hubs: Sequence[str]) -> str:
    words = [f"{some(len(found.hybrids), 'hybrid journey')} over {some(len(hubs), 'hub')}, both legs in"]
    words.append(f"{wish.cabin.replace('_', ' ')}, a point at {wish.value:f} US cents.")
    costs = {f"over {h.over.hub}": h.cost for h in found.hybrids if h.cost is not None}
    if found.direct and found.direct.cost is not None:
        costs["the direct fare"] = found.direct.cost
    if found.award and found.award.cost is not None:
        costs["the full award"] = found.award.cost
    if costs:
        best = min(costs, key=costs.__getitem__)
        words.append(f"Cheapest of all: {best}, {costs[best]:,.2f} {CURRENCY}.")
    if found.unheard:
        legs = list(
            dict.fromkeys(f"{u.kind} {u.origin}-{u.destination} ({u.source}, {u.reason})" for u in found.unheard)
        )
        more = f" and {len(legs) - 4} more" if len(legs) > 4 else ""
        words.append(f"Not answered: {'; '.join(legs[:4])}{more}.")
    return " ".join(words)
