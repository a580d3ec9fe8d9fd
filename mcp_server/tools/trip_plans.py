"""Trip plans: live award seats paid from saved balances, with the best plan and a fallback."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date as Date
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import AirportOrCity, Amount, Cabin, Day, Passengers
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Result
from mcp_server.toolkit.wording import program_name
from mcp_server.views.cash_flights import resolve_journey
from mcp_server.views.trip_plans import CURRENCY, Plan, to_plan, travel_dates
from shared.db.balances import PointsBalance
from shared.db.cards import list_open_slugs
from shared.domain import transfer_options
from shared.domain.dates import format_day, format_days
from shared.domain.exchange_rates import Rates
from shared.domain.funding import Funds
from shared.domain.hybrids import parse_local_time
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse
from shared.domain.transfers import Network
from shared.domain.trip_plans import (
    Journey,
    PaidJourney,
    PlanSeat,
    find_fallback,
    find_payable,
    pair_journeys,
    rank_journeys,
)
from shared.domain.valuations import choose_value
from shared.errors import Fault, Invalid
from shared.providers.contract import FaresQuestion, Reading, SeatsQuestion
from shared.reference.load import Reference
from shared.services.search import availability, exchange_rates, fares
from shared.services.search.ask_each import ask_each
from shared.services.search.availability import list_offers
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer

MAX_WINDOW_DAYS = 14


class TripPlans(Result):
    best: Plan | None
    fallback: Plan | None
    considered: int
    no_plan_reasons: list[str]
    coverage: Coverage
    freshness: Freshness


@dataclass(frozen=True)
class _Wish:
    """What the caller wants, with names resolved."""

    origin: str
    destination: str
    earliest: Date
    latest: Date
    nights: int | None
    cabin: str
    passengers: int
    programs: frozenset[str]
    max_cash: Decimal | None

    @property
    def questions(self) -> list[SeatsQuestion]:
        """The return leaves `nights` after the outbound flight lands, which can be the day after its departure."""
        out = SeatsQuestion(self.origin, self.destination, self.earliest, self.latest)
        if self.nights is None:
            return [out]
        first, last = self.earliest + timedelta(days=self.nights), self.latest + timedelta(days=self.nights + 1)
        return [out, SeatsQuestion(self.destination, self.origin, first, last)]

    @property
    def words(self) -> str:
        seats = "a seat" if self.passengers == 1 else f"{self.passengers} seats"
        return f"{seats} in {self.cabin.replace('_', ' ')}"


@dataclass(frozen=True)
class _Planned:
    """Plans that the balances can pay, how many journeys were considered, and the reasons when there is none."""

    plans: list[PaidJourney[AwardOption]]
    considered: int
    balances_as_of: Date | None
    reasons: list[str] = field(default_factory=list)


@tool(area="search", tier=Tier.PREMIUM, effect=Effect.READS, live=True, open_world=True, meter="search")
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
    max_cash: Amount | None = None,
) -> TripPlans:
    """Plans an award trip in a window of at most 14 days: seats, how the saved balances pay, cash, steps, fallback.

    Steps confirm the live seat before any transfer. max_cash caps the taxes in USD. Premium.
    """
    wish = _build_wish(
        call, origin, destination, earliest_date, latest_date, nights, cabin, passengers, programs, max_cash
    )
    answers = await ask_each(call.ask, availability.VERB, wish.questions)
    readings = [r for sources in answers for r in sources]
    require_answer(readings, availability.VERB, "Planning a trip")
    taxed = {seat.taxes_currency for r in readings for seat in r.value or ()}
    rates = await exchange_rates.rates(call.ask, [CURRENCY, *taxed])
    planned = await call.in_session(lambda session: _plan_on_thread(call, session, wish, answers, rates))
    best_plans = [p for p in (planned.plans[0] if planned.plans else None, find_fallback(planned.plans)) if p]
    priced, fare_readings = await _ask_fares(call, wish, best_plans, rates)
    plans = [
        to_plan(call.reference, p, f, passengers, planned.balances_as_of or call.today)
        for p, f in zip(best_plans, priced, strict=True)
    ]
    sources = coverage([*readings, *fare_readings])
    return TripPlans(
        status="partial" if sources.failed else "ok",
        message=_describe_plans(
            call.reference, wish, planned, best_plans, [f"{f.name} ({f.reason})" for f in sources.failed]
        ),
        best=plans[0] if plans else None,
        fallback=plans[1] if len(plans) > 1 else None,
        considered=planned.considered,
        no_plan_reasons=planned.reasons,
        coverage=sources,
        freshness=freshness([*readings, *fare_readings]),
    )


def _build_wish(
    call: LiveCall,
    origin: str,
    destination: str,
    earliest: Date,
    latest: Date,
    nights: int | None,
    cabin: str,
    passengers: int,
    programs: Sequence[str] | None,
    max_cash: Decimal | None,
) -> _Wish:
    """Raises Invalid, NotFound and Candidates."""
    if latest < earliest:
        raise Invalid(Fault("latest_date", "is before earliest_date", f"{earliest} or later"))
    if (latest - earliest).days > MAX_WINDOW_DAYS:
        raise Invalid(
            Fault("latest_date", f"is more than {MAX_WINDOW_DAYS} days after earliest_date", "a shorter window")
        )
    if earliest < call.today:
        raise Invalid(Fault("earliest_date", "is in the past", f"{call.today} or later"))
    start, end = resolve_journey(call, origin, destination, earliest)
    named = frozenset(call.reference.program(name).slug for name in programs or ())
    return _Wish(start, end, earliest, latest, nights, cabin, passengers, named, max_cash)


def _plan_on_thread(
    call: LiveCall, session: Session, wish: _Wish, answers: Sequence[Sequence[Reading[Any]]], rates: Rates
) -> _Planned:
    """Matches seats with the saved balances; runs on a database thread."""
    balances = list(session.scalars(select(PointsBalance)))
    programs = call.reference.programs
    purses = [
        Purse(row.program, row.balance, choose_value(row.own_cents, programs[row.program].value_usd_cents))
        for row in balances
        if row.balance
    ]
    routes = call.reference.routes(call.today, list_open_slugs(session, call.today))
    sides = [_find_seats(call, wish, readings, rates) for readings in answers]
    fit = [[s for s in side if _is_under_cap(s, wish)] for side in sides]
    considered = sum(1 for _ in _join_sides(fit, wish))
    funds = Funds(routes, purses)
    usable = _join_sides([find_payable(side, funds) for side in fit], wish)
    plans = [p for p in rank_journeys(usable, funds) if _is_within_cap(p.journey, wish)]
    as_of = min((row.as_of for row in balances if row.balance), default=None)
    cheapest = min(_join_sides(fit, wish), key=lambda j: j.rough, default=None) if not plans else None
    return _Planned(
        plans, considered, as_of, [] if plans else _explain_no_plan(call, wish, sides, cheapest, purses, routes)
    )


def _join_sides(sides: Sequence[Sequence[PlanSeat[AwardOption]]], wish: _Wish) -> Iterator[Journey[AwardOption]]:
    return pair_journeys(sides[0], sides[1] if len(sides) > 1 else None, wish.nights)


def _find_seats(
    call: LiveCall, wish: _Wish, readings: Sequence[Reading[Any]], rates: Rates
) -> list[PlanSeat[AwardOption]]:
    options = list_offers(readings, call.account_id, (wish.cabin,), wish.passengers)
    return [
        _to_seat(call, o, wish.passengers, rates) for o in options if not wish.programs or o.program in wish.programs
    ]


def _to_seat(call: LiveCall, option: AwardOption, passengers: int, rates: Rates) -> PlanSeat[AwardOption]:
    program = call.reference.programs.get(option.program)
    taxes = rates.amount(option.taxes, option.taxes_currency, CURRENCY)
    lands = parse_local_time(option.arrives_at, "UTC")  # only the local day is used
    return PlanSeat(
        offer=option,
        program=option.program,
        flight=f"{option.airline}|{option.origin}|{option.date}",
        points=option.points * passengers,
        taxes=None if taxes is None else taxes * passengers,
        value=program.value_usd_cents if program else None,
        day=option.date,
        lands_on=lands.date() if lands else option.date,
        stops=option.stops,
    )


def _is_under_cap(seat: PlanSeat[AwardOption], wish: _Wish) -> bool:
    """Unknown taxes are never under a cap."""
    return wish.max_cash is None or (seat.taxes is not None and seat.taxes <= wish.max_cash)


def _is_within_cap(journey: Journey[AwardOption], wish: _Wish) -> bool:
    return wish.max_cash is None or (journey.taxes is not None and journey.taxes <= wish.max_cash)


def _explain_no_plan(
    call: LiveCall,
    wish: _Wish,
    sides: Sequence[Sequence[PlanSeat[AwardOption]]],
    cheapest: Journey[AwardOption] | None,
    purses: Sequence[Purse],
    routes: Network,
) -> list[str]:
    """Sentences that say why there is no plan."""
    ways = [(wish.origin, wish.destination), (wish.destination, wish.origin)]
    reasons = [f"No {a}-{b} award for {wish.words} was seen." for (a, b), s in zip(ways, sides, strict=False) if not s]
    if wish.programs:
        names = " and ".join(program_name(call.reference, slug) for slug in sorted(wish.programs))
        reasons.append(f"Only awards of {names} were considered.")
    if all(sides) and cheapest is None:
        cap = f" with taxes of at most {wish.max_cash:f} {CURRENCY}" if wish.max_cash is not None else ""
        back = f" and back after {pluralize(wish.nights, 'night')}" if wish.nights else ""
        unknown = " Unknown taxes count as too much." if cap else ""
        reasons.append(f"No award goes there{back}{cap}.{unknown}")
    if not purses:
        reasons.append("No points balances are kept here; add one with update_points_balance.")
    if cheapest:
        reasons.append(_describe_shortfall(call, cheapest, purses, routes))
    return reasons


def _describe_shortfall(call: LiveCall, journey: Journey[AwardOption], purses: Sequence[Purse], routes: Network) -> str:
    """The points the cheapest journey needs and those that are missing."""
    lacking = {
        p: transfer_options.find_shortfall(transfer_options.find_ways(routes, purses, p, n), n)
        for p, n in journey.needs.items()
    }
    needed = _describe_points(call.reference, journey.needs)
    missing = _describe_points(call.reference, {program: points for program, points in lacking.items() if points})
    lack = f"Missing: {missing}." if missing else "Each part can be paid alone, but not both."
    return f"The cheapest award on {format_day(journey.out.day)} takes {needed}. {lack}"


def _describe_points(facts: Reference, points: Mapping[str, int]) -> str:
    return " and ".join(f"{number:,} points of {program_name(facts, slug)}" for slug, number in points.items())


async def _ask_fares(
    call: LiveCall, wish: _Wish, plans: Sequence[PaidJourney[AwardOption]], rates: Rates
) -> tuple[list[list[FareOption]], list[Reading[Any]]]:
    """Cash fares on the days of each plan, and the readings of the sources that were asked."""
    days = [travel_dates(p.journey) for p in plans]
    ends = (wish.origin, wish.destination)
    questions = [
        FaresQuestion(*ends, out, back, wish.cabin, wish.passengers, CURRENCY) for out, back in dict.fromkeys(days)
    ]
    answers = dict(zip(dict.fromkeys(days), await ask_each(call.ask, fares.VERB, questions), strict=True))
    readings = [r for answer in answers.values() for r in answer]
    if not rates.quotes:
        rates = await exchange_rates.rates(call.ask, [CURRENCY, *(f.currency for r in readings for f in r.value or ())])
    return [fares.sort_by_price(fares.options(answers[d], wish.cabin), rates, CURRENCY) for d in days], readings


def _describe_plans(
    facts: Reference, wish: _Wish, planned: _Planned, plans: Sequence[PaidJourney[AwardOption]], failed: Sequence[str]
) -> str:
    sentences = [
        f"{wish.origin} to {wish.destination}, {format_days(wish.earliest, wish.latest)}:"
        f" {pluralize(planned.considered, 'award journey')} considered."
    ]
    if plans:
        best = plans[0].journey
        back = f", back on {format_day(best.back.day)}" if best.back else ""
        points = _describe_points(facts, best.needs)
        cost = plans[0].cost
        price = (
            ""
            if cost is None
            else f" It costs about {cost:,.2f} {CURRENCY}, taxes and the value of the points included."
        )
        sentences.append(f"Best: out on {format_day(best.out.day)}{back}, {points}.{price}")
        sentences.append("Confirm the live seat before any transfer.")
    else:
        sentences += ["There is no plan.", *planned.reasons]
    if failed:
        sentences.append(f"No answer from {', '.join(failed)}, so there may be better plans.")
    return " ".join(sentences)
