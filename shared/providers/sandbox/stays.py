"""Invented prices of hotel stays: hotels and days of arrival go in, points, cash and room come out, marked.

A stay is opened at a price on purpose by the overrides' field `stay|HOTEL|DATE` with the value `points:20000`,
`cash:450`, both parted by a comma, or `full`; the price is for the whole stay.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal

from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion
from shared.providers.sandbox import draw, rates

ROOM = "SANDBOX standard room"
CENTS_PER_POINT = 0.7
_FULL, _AWARDS = 0.04, 0.8  # how often a night is sold out, and how often one that is not can be had for points


def rows(question: StaysQuestion, today: date, told: Mapping[str, str]) -> tuple[StayOffer, ...]:
    first = max(question.earliest, today)
    days = [first + timedelta(days=n) for n in range((question.latest - first).days + 1)]
    return tuple(_offer(hotel, day, question, today, told) for hotel in question.hotels for day in days)


def _offer(hotel: HotelSpot, day: date, question: StaysQuestion, today: date, told: Mapping[str, str]) -> StayOffer:
    nights = [day + timedelta(days=n) for n in range(question.nights)]
    points, dollars, open_ = _drawn(hotel, nights, today)
    cash = rates.convert(dollars, question.currency)
    word = told.get(f"stay|{hotel.hotel_code}|{day}", "")
    if word:
        open_ = word != "full"
        points, cash = _told(word, points, cash)
    return StayOffer(
        hotel_code=hotel.hotel_code,
        check_in=day,
        check_out=day + timedelta(days=question.nights),
        available=open_,
        points=points if open_ else None,
        cash=cash if open_ else None,
        currency=(question.currency if rates.known(question.currency) else "USD") if open_ else None,
        room_type=ROOM if open_ else None,
        checked_at=None,
    )


def _drawn(hotel: HotelSpot, nights: list[date], today: date) -> tuple[int | None, Decimal, bool]:
    each = list(_nights(hotel, nights, today))
    asked = [points for points, _, _ in each]
    points = sum(p for p in asked if p) if all(asked) else None
    return points, Decimal(sum(cash for _, cash, _ in each)), all(free for _, _, free in each)


def _nights(hotel: HotelSpot, nights: list[date], today: date) -> Iterator[tuple[int | None, int, bool]]:
    """Points, dollars and whether a room is free, night by night; drawn anew every few days, as seats are."""
    level = 5000 + 500 * int(110 * draw.u("hotel", hotel.hotel_code) ** 1.4)
    for night in nights:
        cell = f"{hotel.hotel_code}|{night}"
        turn = (today.toordinal() + int(draw.u("phase", cell) * draw.HOLDS)) // draw.HOLDS
        points = 500 * round(level * (0.8 + 0.5 * draw.u("night", cell, turn)) / 500)
        dollars = round(level * CENTS_PER_POINT / 100 * (0.75 + 0.5 * draw.u("rate", cell, turn)))
        award = draw.u("award night", cell, turn) < _AWARDS
        yield points if award else None, dollars, draw.u("full", cell, turn) >= _FULL


def _told(word: str, points: int | None, cash: Decimal) -> tuple[int | None, Decimal]:
    for part in word.split(","):
        kind, _, value = part.partition(":")
        if kind == "points":
            points = int(value)
        elif kind == "cash":
            cash = Decimal(value)
    return points, cash
