"""A source of the tests that comes with a new airline and a new hotel programme: it sells seats and stays of both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from decimal import Decimal

from shared.providers.contract import AwardSeat, Provider, SeatsQuestion, StayOffer, StaysQuestion

AIRLINE, CHAIN = "9M", "meridian-circle"


class Client:
    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked = not question.airlines or AIRLINE in question.airlines
        return (_seat(question),) if asked else ()

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        days = [question.earliest + timedelta(days=n) for n in range((question.latest - question.earliest).days + 1)]
        return tuple(
            _stay(hotel.hotel_code, day, question.nights, question.currency)
            for hotel in question.hotels
            if hotel.program == CHAIN
            for day in days
        )


def _seat(question: SeatsQuestion) -> AwardSeat:
    return AwardSeat(
        ref="meridian-1",
        airline=AIRLINE,
        program="virgin-atlantic-flying-club",
        origin=question.origin,
        destination=question.destination,
        date=question.earliest,
        cabin="economy",
        points=15_000,
        taxes=Decimal("90.00"),
        taxes_currency="GBP",
        seats=4,
        stops=0,
        flight_numbers=("9M1",),
        departs_at=None,
        arrives_at=None,
        checked_at=None,
    )


def _stay(hotel_code: str, day: date, nights: int, currency: str) -> StayOffer:
    until = day + timedelta(days=nights)
    price = Decimal(200 * nights)
    return StayOffer(hotel_code, day, until, True, 12_000 * nights, price, currency, "Room", checked_at=None)


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    yield Client()


PROVIDER = Provider(
    name="meridian",
    answers=("award_seats", "hotel_stays"),
    fresh_for=timedelta(hours=1),
    build=connect,
    terms="anyone",
)
