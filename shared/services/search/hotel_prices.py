"""Prices of hotel stays: by night and for whole stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain import hotel_prices
from shared.domain.hotel_prices import NightsPrice, StayPrice
from shared.errors import NoData
from shared.providers.ask import Ask
from shared.providers.contract import HotelSpot, Reading, StayOffer, StaysQuestion
from shared.reference import hotels
from shared.reference.rows.travel import Hotel
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer

VERB = "hotel_stays"
GUESTS = 2
ONE_NIGHT = timedelta(days=1)
Readings = Sequence[Reading[tuple[StayOffer, ...]]]


@dataclass(frozen=True)
class HotelReadings:
    """The sources' answers about stays at some hotels."""

    readings: Readings
    currency: str

    @property
    def coverage(self) -> Coverage:
        return coverage(self.readings)

    @property
    def freshness(self) -> Freshness:
        return freshness(self.readings)

    @property
    def unanswered_sources(self) -> list[str]:
        return [f"{f.name} ({f.reason})" for f in self.coverage.failed]

    def offers(self, hotel_code: str) -> list[list[StayOffer]]:
        """Each source's offers at one hotel."""
        by_source: dict[str, list[StayOffer]] = {}
        for reading in self.readings:
            mine = (o for o in reading.value or () if o.hotel_code == hotel_code)
            by_source.setdefault(reading.source, []).extend(mine)
        return list(by_source.values())

    def night(self, hotel_code: str, day: date) -> NightsPrice:
        dates = (day, day + ONE_NIGHT)
        of_day = (o for of in self.offers(hotel_code) for o in of if (o.check_in, o.check_out) == dates)
        return hotel_prices.find_best_price(of_day, self.currency)

    def stay(self, hotel_code: str, check_in: date, check_out: date, every: int = 0) -> StayPrice:
        """One night in `every` is free by the programme's own rule."""
        return hotel_prices.find_stay_price(self.offers(hotel_code), check_in, check_out, self.currency, every)


def spot(hotel: Hotel) -> HotelSpot:
    return HotelSpot(
        hotel_code=hotels.code(hotel),
        name=hotel.name,
        program=hotel.program,
        city=hotel.city,
        country=hotel.country,
        latitude=None if hotel.lat is None else float(hotel.lat),
        longitude=None if hotel.lon is None else float(hotel.lon),
        property_code=hotel.property_code,
    )


async def search_stays(
    ask: Ask,
    requested_hotels: Sequence[Hotel],
    check_in: date,
    check_out: date,
    *,
    guests: int = GUESTS,
    currency: str = "USD",
    by_night: Sequence[Hotel] = (),
    max_age: timedelta | None = None,
) -> HotelReadings:
    """One fan-out for all the hotels; `by_night` are those where each single night is asked about too.

    Never raises for a source.
    """
    spots, nights = tuple(map(spot, requested_hotels)), (check_out - check_in).days
    questions = [StaysQuestion(spots, check_in, check_in, nights, guests, currency)]
    if by_night and nights > 1:
        questions.append(
            StaysQuestion(tuple(map(spot, by_night)), check_in, check_out - ONE_NIGHT, 1, guests, currency)
        )
    return HotelReadings(await ask.all(VERB, questions, max_age), currency)


async def search_nights(ask: Ask, hotel: Hotel, first: date, last: date, guests: int, currency: str) -> HotelReadings:
    """Each single night of a window at one hotel."""
    question = StaysQuestion((spot(hotel),), first, last, 1, guests, currency)
    return HotelReadings(await ask.all(VERB, [question]), currency)


def require_prices(result: HotelReadings, what: str, *, need_price: bool = True) -> None:
    """Raises BackendUnavailable or ConnectionRequired if none answered, NoData if those that did know nothing.

    Not `known`: an answer is enough, with or without a price. So it is where another source did not answer: that one
    may know.
    """
    require_answer(result.readings, VERB, f"The search for prices of {what}", about="prices or free rooms")
    if need_price and not any(reading.value for reading in result.readings):
        sources = ", ".join(dict.fromkeys(r.source for r in result.readings if r.has_answer))
        rest = f" Not answered: {', '.join(result.unanswered_sources)}." if result.unanswered_sources else ""
        raise NoData(f"No price of {what} is known to {sources}.{rest}", missing=["hotel prices"])
