"""Invented prices of hotel stays.

A stay is opened at a price on purpose by the overrides' field `stay|HOTEL|DATE` with the value `points:20000`,
`cash:450`, both parted by a comma, or `full`; the price is for the whole stay.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal

from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion
from shared.providers.sandbox import draws, rates
from shared.reference.hotel_awards import build_award
from shared.reference.hotels import find_stored
from shared.reference.load import reference

ROOM = "SANDBOX standard room"
CENTS_PER_POINT = 0.7  # where no value of the programme is known
_FULL_SHARE, _AWARD_SHARE = 0.04, 0.8  # of nights sold out, and of nights that can be had for points


def find_stays(question: StaysQuestion, today: date, overrides: Mapping[str, str]) -> tuple[StayOffer, ...]:
    first = max(question.earliest, today)
    days = [first + timedelta(days=n) for n in range((question.latest - first).days + 1)]
    return tuple(_build_offer(hotel, day, question, today, overrides) for hotel in question.hotels for day in days)


def _build_offer(
    hotel: HotelSpot, day: date, question: StaysQuestion, today: date, overrides: Mapping[str, str]
) -> StayOffer:
    nights = [day + timedelta(days=n) for n in range(question.nights)]
    points, dollars, open_ = _draw_stay(hotel, nights, today)
    cash = rates.convert(dollars, question.currency)
    word = overrides.get(f"stay|{hotel.hotel_code}|{day}", "")
    if word:
        open_ = word != "full"
        points, cash = _apply_override(word, points, cash)
    return StayOffer(
        hotel_code=hotel.hotel_code,
        check_in=day,
        check_out=day + timedelta(days=question.nights),
        available=open_,
        points=points if open_ else None,
        cash=cash if open_ else None,
        currency=(question.currency if rates.has_rate(question.currency) else "USD") if open_ else None,
        room_type=ROOM if open_ else None,
        checked_at=None,
    )


def _draw_stay(hotel: HotelSpot, nights: list[date], today: date) -> tuple[int | None, Decimal, bool]:
    nights_drawn = list(_draw_nights(hotel, nights, today))
    night_points = [points for points, _, _ in nights_drawn]
    points = sum(p for p in night_points if p) if all(night_points) else None
    return points, Decimal(sum(cash for _, cash, _ in nights_drawn)), all(free for _, _, free in nights_drawn)


def _draw_nights(hotel: HotelSpot, nights: list[date], today: date) -> Iterator[tuple[int | None, int, bool]]:
    """Points, dollars and whether a room is free, night by night; drawn again every few days, as seats are.

    The points of a hotel in a category are a level of its chart; elsewhere points and dollars follow from each other
    by what a point of the programme is usually worth.
    """
    levels, cents = _list_levels(hotel, today), _find_cents(hotel)
    usual = 80 + 520 * draws.draw_fraction("hotel", hotel.hotel_code) ** 1.6  # dollars
    for night in nights:
        cell = f"{hotel.hotel_code}|{night}"
        turn = (
            today.toordinal() + int(draws.draw_fraction("phase", cell) * draws.DAYS_PER_DRAW)
        ) // draws.DAYS_PER_DRAW
        place = draws.draw_fraction("night", cell, turn)
        points = levels[int(place * len(levels))] if levels else 500 * round(usual * (0.8 + 0.5 * place) / cents / 5)
        worth = points * cents / 100 if levels else usual
        dollars = round(worth * (0.75 + 0.5 * draws.draw_fraction("rate", cell, turn)))
        award = draws.draw_fraction("award night", cell, turn) < _AWARD_SHARE
        yield points if award else None, dollars, draws.draw_fraction("full", cell, turn) >= _FULL_SHARE


def _list_levels(hotel: HotelSpot, today: date) -> list[int]:
    """The points a night may cost in the hotel's category, the fewest first; none where it has no category."""
    facts = reference()
    fact = find_stored(facts, hotel.hotel_code)
    prices = build_award(facts, fact, today).prices if fact else ()
    return sorted({price.points for price in prices if price.points and price.room == "standard_room"})


def _find_cents(hotel: HotelSpot) -> float:
    """What one point of the hotel's programme is usually worth, in US cents."""
    program = reference().programs.get(hotel.program or "")
    return float(program.value_usd_cents) if program and program.value_usd_cents else CENTS_PER_POINT


def _apply_override(word: str, points: int | None, cash: Decimal) -> tuple[int | None, Decimal]:
    for part in word.split(","):
        kind, _, value = part.partition(":")
        if kind == "points":
            points = int(value)
        elif kind == "cash":
            cash = Decimal(value)
    return points, cash
