"""Invented cash fares: a journey goes in, what each airline that plausibly flies it would ask comes out, marked."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.providers.sandbox import draw, market, rates
from shared.reference.load import reference

CABINS = {"economy": 1.0, "premium_economy": 1.75, "business": 3.6, "first": 6.2}
NOISE = 0.14  # either way
LINKS = "https://sandbox.invalid/fare"


def rows(question: FaresQuestion, today: date) -> tuple[CashFare, ...]:
    """Cheapest first. Raises `no_data` where nobody flies, and answers nothing for days gone by or not on sale."""
    facts = reference()
    if question.origin not in facts.airports or question.destination not in facts.airports:
        raise Unanswered("no_data", "not_served")
    ways = [w for a in sorted(facts.airlines) if (w := market.path(a, question.origin, question.destination))]
    if not ways:
        raise Unanswered("no_data", "not_served")
    return tuple(sorted(_fares(ways, question, today), key=lambda fare: (fare.price, fare.carriers)))


def _fares(ways: list[market.Path], question: FaresQuestion, today: date) -> Iterator[CashFare]:
    last = question.return_date or question.date
    for way in ways:
        if question.date < today or last > today + timedelta(days=way.on_sale_days):
            continue
        dollars = sum(_price(way, day, question.cabin, today) for day in _days(question)) * question.passengers
        leaves, lands, minutes = market.times(way, question.date)
        yield CashFare(
            price=rates.convert(Decimal(dollars), question.currency),
            currency=question.currency if rates.known(question.currency) else "USD",
            cabin=question.cabin,
            carriers=(way.airline,),
            flight_numbers=way.flight_numbers,
            departs_at=leaves,
            arrives_at=lands,
            duration_minutes=minutes,
            stops=way.stops,
            booking_url=f"{LINKS}/{way.airline}-{way.origin}-{way.destination}-{question.date}-{question.cabin}",
            checked_at=None,
        )


def _days(question: FaresQuestion) -> list[date]:
    return [question.date] + ([question.return_date] if question.return_date else [])


def _price(way: market.Path, day: date, cabin: str, today: date) -> int:
    """Dollars for one passenger and one way."""
    ahead = (day - today).days
    season = 1.9 if ahead <= 7 else 1.35 if ahead <= 21 else 1.0 if ahead <= 200 else 1.08
    drawn = draw.u("fare", way.airline, way.origin, way.destination, day, cabin)
    full: float = 38 + 1.15 * way.miles**0.78
    return round(full * CABINS[cabin] * season * (1 - NOISE + 2 * NOISE * drawn))
