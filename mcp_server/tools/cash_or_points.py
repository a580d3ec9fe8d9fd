"""Cash compared with points for one route and day: live on paid plans, from stored prices on Free."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

import anyio
from sqlalchemy.orm import Session

from mcp_server.toolkit import NO_DATA, Effect, LiveCall, Marked, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Cabin, Day, SearchedAirport
from mcp_server.toolkit.wording import program_name
from mcp_server.views.cash_flights import ConvertedMoney, resolve_journey, to_converted_money
from shared.domain.airport_pairs import Pair
from shared.domain.cash_or_points import AwardPrice, advise, value_point
from shared.domain.dates import format_weekday
from shared.domain.exchange_rates import Rates
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.party_prices import Per, describe_price, format_amount, price_party
from shared.domain.plans import Plan
from shared.domain.valuations import VALUATION_CURRENCY
from shared.errors import NoData
from shared.providers.contract import FaresQuestion, Reading, SeatsQuestion
from shared.reference.load import Reference
from shared.services.search import availability, exchange_rates, fares, price_memory
from shared.services.search.ask_each import ask_each
from shared.services.search.availability import list_offers
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer

MAX_OPTIONS = 10
NOT_LIVE = "Seen in searches of the last 14 days; prices and seats may have changed since."


class CashSide(Marked):
    amount: Money
    currency: str
    converted: ConvertedMoney | None
    carriers: list[str]
    source: str
    mode: Literal["live", "cached", "sandbox"]
    provider_checked_at: datetime | None
    age_seconds: int


class AwardSide(Marked):
    program: str
    airline: str
    points: int
    taxes: Money | None
    taxes_currency: str | None
    per: Per
    taxes_converted: ConvertedMoney | None
    source: str
    mode: Literal["live", "cached", "sandbox"]
    provider_checked_at: datetime | None
    age_seconds: int


class UsualValuation(Part):
    """US cents for one point, as published."""

    cents: Money
    program: str
    as_of: str | None


class Comparison(Result):
    cash: CashSide | NoDataWord
    award: AwardSide | NoDataWord
    cents_per_point: Money | NoDataWord
    usual_valuation: UsualValuation | NoDataWord
    recommendation: Literal["cash", "points"] | NoDataWord
    award_options: list[AwardOption]
    options_found: int
    coverage: Coverage
    freshness: Freshness


@dataclass(frozen=True)
class _Sides:
    """Readings of both sides, and whether they were searched live."""

    seats: Sequence[Reading[Any]]
    fares: Sequence[Reading[Any]]
    live: bool

    @property
    def readings(self) -> list[Reading[Any]]:
        return [*self.seats, *self.fares]


@dataclass(frozen=True)
class _PricedAward:
    """An offer with its taxes in US dollars and the usual value of its points."""

    option: AwardOption
    award: AwardPrice


@tool("search", Tier.FREE, Effect.READS, "Compare cash and points", live=True, open_world=True, condenses=True)
async def compare_cash_vs_points(
    call: LiveCall, origin: SearchedAirport, destination: SearchedAirport, date: Day, cabin: Cabin = "economy"
) -> Comparison:
    """Compares cash and points for a flight: pay money or redeem miles, and whether it is a good deal.

    For "Should I use miles or just pay?" Cheapest fare and award, cents per point, for one traveller. Free accounts:
    cached data, top 3. Free.
    """
    routes = resolve_journey(call, origin, destination, date)
    where = f"{origin} to {destination} on {format_weekday(date)} in {cabin.replace('_', ' ')}"
    sides = await (_read_stored if call.plan is Plan.FREE else _ask_sources)(call, routes, date, cabin)
    fare_options = call.taste.choose(fares.options(sides.fares, cabin), attrgetter("carriers"))
    seats = call.taste.choose(list_offers(sides.seats, call.account_id if sides.live else None, (cabin,), 1))
    if not fare_options and not seats and not coverage(sides.readings).failed:
        raise NoData(_describe_nothing(call, where), missing=["cash fare", "award seats"])
    rates = await exchange_rates.rates(
        call.ask, [VALUATION_CURRENCY, *(f.currency for f in fare_options), *(s.taxes_currency for s in seats)]
    )
    priced_fares = fares.sort_by_price(fare_options, rates, VALUATION_CURRENCY)
    awards = sorted((_price_award(call, s, rates) for s in seats), key=lambda p: p.award.order)
    fare = fares.find_cheapest(priced_fares) or next(iter(priced_fares), None)
    return _build_comparison(call, where, sides, rates, fare, awards)


async def _ask_sources(call: LiveCall, routes: Sequence[Pair], day: Date, cabin: str) -> _Sides:
    """Searches both sides concurrently within one time budget. Raises a Refusal if neither answered."""
    answers: dict[str, Sequence[Reading[Any]]] = {}

    async def put(verb: str, questions: Sequence[Any]) -> None:
        answers[verb] = [reading for answer in await ask_each(call.ask, verb, questions) for reading in answer]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put, availability.VERB, _build_seats_questions(routes, day))
        tasks.start_soon(put, fares.VERB, _build_fares_questions(routes, day, cabin))
    sides = _Sides(answers[availability.VERB], answers[fares.VERB], live=True)
    require_answer(sides.readings, "award_seats and cash_fares", "The comparison of cash and points", "seats or fares")
    return sides


def _build_seats_questions(routes: Sequence[Pair], day: Date) -> list[SeatsQuestion]:
    return [SeatsQuestion(*route, day, day) for route in routes]


def _build_fares_questions(routes: Sequence[Pair], day: Date, cabin: str) -> list[FaresQuestion]:
    return [FaresQuestion(*route, day, None, cabin, 1, VALUATION_CURRENCY) for route in routes]


async def _read_stored(call: LiveCall, routes: Sequence[Pair], day: Date, cabin: str) -> _Sides:
    """Cached answers; for sources without one, what earlier searches saw."""
    seats = await call.ask.get_cached(availability.VERB, _build_seats_questions(routes, day))
    cash = await call.ask.get_cached(fares.VERB, _build_fares_questions(routes, day, cabin))

    def read_sightings(session: Session) -> tuple[Sequence[Reading[Any]], Sequence[Reading[Any]]]:
        places = [(session, call.account_id, *route, day, cabin) for route in routes]
        return (
            [reading for where in places for reading in price_memory.seats_seen(*where)],
            [reading for where in places for reading in price_memory.fares_seen(*where)],
        )

    older_seats, older_fares = await call.in_session(read_sightings)
    return _Sides(_add_older(seats, older_seats), _add_older(cash, older_fares), live=False)


def _add_older(stored: Sequence[Reading[Any]], older: Sequence[Reading[Any]]) -> list[Reading[Any]]:
    answered_by = {r.source for r in stored}
    return [*stored, *(r for r in older if r.source not in answered_by)]


def _describe_nothing(call: LiveCall, where: str) -> str:
    if call.plan is Plan.FREE:
        return f"Nothing is stored for {where}. Free accounts see stored prices; Premium searches live."
    return f"No source has a cash fare or an award seat from {where}."


def _price_award(call: LiveCall, option: AwardOption, rates: Rates) -> _PricedAward:
    program = call.reference.programs.get(option.program)
    taxes = rates.amount(option.taxes, option.taxes_currency, VALUATION_CURRENCY)
    return _PricedAward(option, AwardPrice(option.points, taxes, program.value_usd_cents if program else None))


def _build_comparison(
    call: LiveCall,
    where: str,
    sides: _Sides,
    rates: Rates,
    fare: FareOption | None,
    awards: Sequence[_PricedAward],
) -> Comparison:
    amount = fare.converted.amount if fare and fare.converted else None
    best = awards[0] if awards else None
    value = value_point(amount, best.award) if best else None
    advised = advise(amount, best.award) if best else None
    coverage_now, age = coverage(sides.readings), freshness(sides.readings)
    top_awards = awards[: call.limits.results or MAX_OPTIONS]
    return Comparison(
        status="partial" if coverage_now.failed else "ok",
        message=_describe_comparison(call.reference, where, fare, best, _list_unanswered(coverage_now)),
        cash=_to_cash_side(fare) if fare else NO_DATA,
        award=_to_award_side(best.option, rates) if best else NO_DATA,
        cents_per_point=NO_DATA if value is None else round(value, 4),
        usual_valuation=_to_usual_valuation(call, best) if best else NO_DATA,
        recommendation=advised or NO_DATA,
        award_options=[p.option for p in top_awards],
        options_found=len(awards),
        coverage=coverage_now,
        freshness=age if sides.live or age.mode == "sandbox" else replace(age, note=NOT_LIVE),
    )


def _list_unanswered(coverage: Coverage) -> list[str]:
    """Sources that could have answered and did not; sources that are not configured are only in the coverage."""
    missing = [*coverage.failed, *(s for s in coverage.skipped if s.reason != "not_configured")]
    return [f"{f.name} ({f.reason})" for f in missing]


def _to_cash_side(fare: FareOption) -> CashSide:
    same = ("currency", "carriers", "source", "mode", "provider_checked_at", "age_seconds", "generated_at")
    money = {"amount": round_to_minor_unit(fare.price, fare.currency), "converted": to_converted_money(fare.converted)}
    return CashSide.model_validate({name: getattr(fare, name) for name in same} | money)


def _to_award_side(option: AwardOption, rates: Rates) -> AwardSide:
    taxes = option.taxes
    converted = (
        rates.convert(taxes, option.taxes_currency, VALUATION_CURRENCY)
        if taxes is not None and option.taxes_currency
        else None
    )
    fields = {n: getattr(option, n) for n in AwardSide.model_fields if n != "taxes_converted"}
    return AwardSide.model_validate(fields | {"taxes_converted": to_converted_money(converted)})


def _to_usual_valuation(call: LiveCall, best: _PricedAward) -> UsualValuation | NoDataWord:
    if best.award.usual is None:
        return NO_DATA
    slug = best.option.program
    return UsualValuation(cents=best.award.usual, program=slug, as_of=call.reference.programs[slug].as_of)


def _describe_comparison(
    facts: Reference, where: str, fare: FareOption | None, best: _PricedAward | None, silent: Sequence[str]
) -> str:
    amount = fare.converted.amount if fare and fare.converted else None
    sentences = [f"From {where}, one traveller:"]
    sentences.append(f"cash {format_amount(fare.price, fare.currency)};" if fare else "no cash fare is known;")
    program = program_name(facts, best.option.program) if best else ""
    sentences.append(
        f"award {describe_price(price_party(best.option, 1), program)}." if best else "no award seat is known."
    )
    value = value_point(amount, best.award) if best else None
    advised = advise(amount, best.award) if best else None
    if value is not None:
        sentences.append(f"A point buys {value:.2f} US cents here.")
    if advised and best:
        sentences.append(
            f"It is usually worth {best.award.usual:f}, so {'use points' if advised == 'points' else 'pay cash'}."
        )
    elif fare and best:
        sentences.append(f"No recommendation: {_describe_missing(amount, best, program)}.")
    if fare and fare.city_wide:
        sentences.append("The fare is one of whole cities: check which airports it uses.")
    if silent:
        sentences.append(f"No answer from {', '.join(silent)}.")
    return " ".join(sentences)


def _describe_missing(amount: object, best: _PricedAward, whose: str) -> str:
    if amount is None:
        return "no current exchange rate for the fare is known"
    if best.award.taxes is None:
        return "the taxes of the award, or a current exchange rate for them, are not known"
    return f"no value of a point of {whose} is published"
