"""Invented cash fares of the airlines that plausibly fly a journey."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.providers.sandbox import draws, market, rates
from shared.reference.load import reference

CABINS = {"economy": 1.0, "premium_economy": 1.75, "business": 3.6, "first": 6.2}
NOISE = 0.14  # the share a price may lie above or below its usual level
LINKS = "https://sandbox.invalid/fare"


def find_fares(question: FaresQuestion, today: date) -> tuple[CashFare, ...]:
    """Cheapest first. Raises `no_data` where no one flies, and answers nothing for days gone by or not on sale."""
    facts = reference()
    if question.origin not in facts.airports or question.destination not in facts.airports:
        raise Unanswered("no_data", "not_served")
    paths = [
        path for a in sorted(facts.airlines) if (path := market.find_path(a, question.origin, question.destination))
    ]
    if not paths:
        raise Unanswered("no_data", "not_served")
    return tuple(sorted(_build_fares(paths, question, today), key=lambda fare: (fare.price, fare.carriers)))


def _build_fares(paths: list[market.Path], question: FaresQuestion, today: date) -> Iterator[CashFare]:
    last = question.return_date or question.date
    for path in paths:
        if question.date < today or last > today + timedelta(days=path.on_sale_days):
            continue
        dollars = sum(_price(path, day, question.cabin, today) for day in _days(question)) * question.passengers
        departs_at, arrives_at, minutes = market.compute_times(path, question.date)
        yield CashFare(
            price=rates.convert(Decimal(dollars), question.currency),
            currency=question.currency if rates.has_rate(question.currency) else "USD",
            cabin=question.cabin,
            carriers=(path.airline,),
            flight_numbers=path.flight_numbers,
            departs_at=departs_at,
            arrives_at=arrives_at,
            duration_minutes=minutes,
            stops=path.stops,
            booking_url=f"{LINKS}/{path.airline}-{path.origin}-{path.destination}-{question.date}-{question.cabin}",
            checked_at=None,
        )


def _days(question: FaresQuestion) -> list[date]:
    return [question.date] + ([question.return_date] if question.return_date else [])


def _price(path: market.Path, day: date, cabin: str, today: date) -> int:
    """Dollars for one passenger and one path."""
    ahead = (day - today).days
    season = 1.9 if ahead <= 7 else 1.35 if ahead <= 21 else 1.0 if ahead <= 200 else 1.08
    noise = draws.draw_fraction("fare", path.airline, path.origin, path.destination, day, cabin)
    full: float = 45 + 0.62 * path.miles**0.78  # about 125 USD for 500 miles, 400 for 3,450, 590 for 6,000
    return round(full * CABINS[cabin] * season * (1 - NOISE + 2 * NOISE * noise))
