"""Hybrid search: one leg on points and one for cash, over each hub."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any

import anyio

from shared.domain.exchange_rates import Rates
from shared.domain.hybrids import HybridLeg, find_best_pair, is_award_first, parse_local_time
from shared.domain.preferences import AirlineTaste
from shared.providers.ask import Ask
from shared.providers.contract import FaresQuestion, Reading, SeatsQuestion
from shared.reference.reference import Reference
from shared.services.search import availability, exchange_rates, fares
from shared.services.search.ask_each import ask_each
from shared.services.search.availability import list_offers
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption

CURRENCY = "USD"
Answers = Mapping[Any, list[Reading[Any]]]


@dataclass(frozen=True)
class Wish:
    """The request. `value` is the worth of a point to the asker, in US cents."""

    origin: str
    destination: str
    day: date
    cabin: str
    passengers: int
    value: Decimal
    taste: AirlineTaste = field(default_factory=AirlineTaste, compare=False)

    def fares(self, origin: str, destination: str, day: date) -> FaresQuestion:
        return FaresQuestion(origin, destination, day, None, self.cabin, self.passengers, CURRENCY)


@dataclass(frozen=True)
class Over:
    """One hub, and its leg on points."""

    hub: str
    award_first: bool

    def seats(self, wish: Wish) -> SeatsQuestion:
        """Seats; for a second leg also the next day's, as the first may land then."""
        if self.award_first:
            return SeatsQuestion(wish.origin, self.hub, wish.day, wish.day)
        return SeatsQuestion(self.hub, wish.destination, wish.day, wish.day + timedelta(days=1))


@dataclass(frozen=True)
class Hybrid:
    over: Over
    award: HybridLeg[AwardOption]
    cash: HybridLeg[FareOption]
    layover: timedelta | None
    cost: Decimal | None


@dataclass(frozen=True)
class UnansweredLeg:
    """A leg without an answer from a source."""

    origin: str
    destination: str
    kind: str
    source: str
    reason: str


@dataclass(frozen=True)
class Journeys:
    direct: HybridLeg[FareOption] | None
    award: HybridLeg[AwardOption] | None
    hybrids: list[Hybrid]
    readings: list[Reading[Any]]
    unheard: list[UnansweredLeg]


async def search(ask: Ask, facts: Reference, wish: Wish, hubs: Sequence[str]) -> Journeys:
    """Searches in two rounds, since the day of a cash flight after an award depends on its arrival."""
    over = [Over(h, is_award_first(wish.origin, h, wish.destination, facts.miles)) for h in hubs]
    full = SeatsQuestion(wish.origin, wish.destination, wish.day, wish.day)
    direct = wish.fares(wish.origin, wish.destination, wish.day)
    before = {x.hub: wish.fares(wish.origin, x.hub, wish.day) for x in over if not x.award_first}
    seats, cash = await _ask_both(ask, [full, *(x.seats(wish) for x in over)], [direct, *before.values()])
    onward = {
        x.hub: question for x in over if x.award_first and (question := _build_onward_question(facts, wish, x, seats))
    }
    cash |= await _ask_questions(ask, fares.VERB, list(onward.values()))
    rates = await exchange_rates.rates(ask, [CURRENCY, *_currencies(seats, cash)])
    legs = _Legs(facts, wish, rates, ask.account_id)
    return Journeys(
        direct=min(legs.cash(direct, cash), key=lambda leg: leg.order, default=None),
        award=min(legs.award(full, seats), key=lambda leg: leg.order, default=None),
        hybrids=_find_hybrids(legs, over, seats, cash, before | onward),
        readings=[r for answers in (seats, cash) for answer in answers.values() for r in answer],
        unheard=[*_list_unanswered("award", seats), *_list_unanswered("cash", cash)],
    )


async def _ask_both(ask: Ask, seats: Sequence[SeatsQuestion], cash: Sequence[FaresQuestion]) -> list[dict[Any, Any]]:
    answers: list[dict[Any, Any]] = [{}, {}]

    async def put(at: int, verb: str, questions: Sequence[Any]) -> None:
        answers[at] = await _ask_questions(ask, verb, questions)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put, 0, availability.VERB, seats)
        tasks.start_soon(put, 1, fares.VERB, cash)
    return answers


async def _ask_questions(ask: Ask, verb: str, questions: Sequence[Any]) -> dict[Any, list[Reading[Any]]]:
    return dict(zip(questions, await ask_each(ask, verb, questions), strict=True))


def _build_onward_question(facts: Reference, wish: Wish, over: Over, seats: Answers) -> FaresQuestion | None:
    """Cash fares from the hub on the day one can continue from the cheapest award; None without an award.

    If an award's landing is unknown, asks for the next day, in time for any flight to a hub.
    """
    offers = list_offers(seats[over.seats(wish)], None, (wish.cabin,), wish.passengers)
    awards = [offer for offer in offers if offer.airline not in wish.taste.avoided]
    if not awards:
        return None
    best = min(awards, key=lambda a: (a.arrives_at is None, a.points))
    lands = parse_local_time(best.arrives_at, facts.airports[over.hub].tz)
    next_day = HybridLeg(best, best.date, None, lands, None).next_from
    return wish.fares(over.hub, wish.destination, next_day or wish.day + timedelta(days=1))


def _currencies(seats: Answers, cash: Answers) -> set[str | None]:
    taxes = {s.taxes_currency for answer in seats.values() for r in answer for s in r.value or ()}
    return taxes | {f.currency for answer in cash.values() for r in answer for f in r.value or ()}


@dataclass(frozen=True)
class _Legs:
    """Answers as legs with times and costs."""

    facts: Reference
    wish: Wish
    rates: Rates
    account_id: int | None

    def award(self, question: SeatsQuestion, seats: Answers) -> list[HybridLeg[AwardOption]]:
        wish, ends = self.wish, (question.origin, question.destination)
        options = wish.taste.choose(list_offers(seats[question], self.account_id, (wish.cabin,), wish.passengers))
        return [self._award(option) for option in options if (option.origin, option.destination) == ends]

    def _award(self, option: AwardOption) -> HybridLeg[AwardOption]:
        taxes = self.rates.amount(option.taxes, option.taxes_currency, CURRENCY)
        each = None if taxes is None else taxes + option.points * self.wish.value / 100
        cost = None if each is None else each * self.wish.passengers
        return HybridLeg(option, option.date, *self._times(option, option.origin, option.destination), cost)

    def cash(self, question: FaresQuestion, cash: Answers) -> list[HybridLeg[FareOption]]:
        offers = self.wish.taste.choose(fares.options(cash[question], question.cabin), attrgetter("carriers"))
        options = fares.sort_by_price(offers, self.rates, CURRENCY)
        return [self._cash(f, question) for f in options]

    def _cash(self, option: FareOption, question: FaresQuestion) -> HybridLeg[FareOption]:
        cost = option.converted.amount if option.converted else None
        return HybridLeg(option, question.date, *self._times(option, question.origin, question.destination), cost)

    def _times(self, option: AwardOption | FareOption, origin: str, destination: str) -> tuple[Any, Any]:
        start, end = self.facts.airports[origin].tz, self.facts.airports[destination].tz
        return parse_local_time(option.departs_at, start), parse_local_time(option.arrives_at, end)


def _find_hybrids(
    legs: _Legs, over: Sequence[Over], seats: Answers, cash: Answers, fares_of: Mapping[str, FaresQuestion]
) -> list[Hybrid]:
    """The best of each hub, cheapest first."""
    hybrids = []
    for x in over:
        if x.hub not in fares_of:
            continue
        award, paid = legs.award(x.seats(legs.wish), seats), legs.cash(fares_of[x.hub], cash)
        if x.award_first:
            if best := find_best_pair(award, paid):
                hybrids.append(Hybrid(x, best.first, best.second, best.layover, best.cost))
        elif other := find_best_pair(paid, award):
            hybrids.append(Hybrid(x, other.second, other.first, other.layover, other.cost))
    return sorted(hybrids, key=lambda h: (h.cost is None, h.cost or Decimal(0), h.over.hub))


def _list_unanswered(kind: str, answers: Answers) -> list[UnansweredLeg]:
    """Lists failed sources, without unconfigured ones, which never answer."""
    return [
        UnansweredLeg(question.origin, question.destination, kind, r.source, r.status)
        for question, answer in answers.items()
        for r in answer
        if not r.has_answer and r.status != "not_configured"
    ]
