"""The sandbox as a provider, with the faults the operator set in SANDBOX_FAULT."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal, TypeVar

import anyio
import anyio.to_thread

from shared import clock
from shared.domain.names import normalize_name
from shared.providers.contract import (
    AirportDelay,
    AwardSeat,
    AwardTrip,
    CashFare,
    DelaysQuestion,
    FaresQuestion,
    HotelSpot,
    Rate,
    RatesQuestion,
    SeatsQuestion,
    StayOffer,
    StaysQuestion,
    TripQuestion,
    Unanswered,
)
from shared.providers.sandbox import carriers, draws, market, overrides
from shared.providers.sandbox.timetable import compute_times
from shared.reference.hotel_awards import build_award
from shared.reference.hotels import find_stored
from shared.reference.load import reference
from shared.settings import settings

# Invented exchange rates: the same round figures every day, so that none is mistaken for a real rate.

PER_EURO = {
    "EUR": Decimal(1),
    "USD": Decimal("1.10"),
    "GBP": Decimal("0.85"),
    "CAD": Decimal("1.50"),
    "AUD": Decimal("1.65"),
    "CHF": Decimal("0.95"),
    "JPY": Decimal(165),
    "SEK": Decimal("11.50"),
    "NOK": Decimal("11.70"),
    "DKK": Decimal("7.46"),
    "SGD": Decimal("1.48"),
    "HKD": Decimal("8.60"),
    "NZD": Decimal("1.80"),
    "MXN": Decimal(20),
    "BRL": Decimal(6),
    "INR": Decimal(92),
    "PLN": Decimal("4.30"),
    "ISK": Decimal(150),
}


def has_rate(currency: str) -> bool:
    return currency in PER_EURO


def convert(dollars: Decimal, currency: str) -> Decimal:
    """Converts dollars; unchanged if the table lacks the currency."""
    factor = PER_EURO.get(currency, PER_EURO["USD"]) / PER_EURO["USD"]
    return (dollars * factor).quantize(Decimal("0.01"))


def list_rates(currencies: Sequence[str], today: date) -> tuple[Rate, ...]:
    codes = currencies or tuple(PER_EURO)
    return tuple(Rate(currency, PER_EURO[currency], today) for currency in codes if currency in PER_EURO)


# Invented prices of hotel stays.
#
# A stay is opened at a price on purpose by the overrides' field `stay|HOTEL|DATE` with the value `points:20000`,
# `cash:450`, both parted by a comma, or `full`; the price is for the whole stay.

ROOM = "SANDBOX standard room"
CENTS_PER_POINT = 0.7  # if the programme's value is unknown
_FULL_SHARE, _AWARD_SHARE = 0.04, 0.8  # of nights sold out, and of nights available for points
# Dollars of a usual night by words of a brand; the first match counts, and a hotel without a brand is in between.
USUAL_NIGHT = {
    720: "waldorf ritz regis edition conrad lxr raffles regent park&hyatt luxury six&senses alila impression fairmont",
    420: "jw w&hotels andaz intercontinental grand&hyatt sofitel kimpton thompson signia zilara ziva secrets",
    95: "express ibis hampton fairfield comfort quality super microtel days&inn motel sleep&inn econo travelodge",
    150: "courtyard garden&inn novotel crowne radisson wyndham hyatt&place hyatt&house cambria aloft moxy mercure",
    250: "westin hilton curio autograph sheraton pullman unbound meridien swissotel marriott hyatt",
}
_NO_BRAND = 170
# The price level of a night there.
_PLACES = {
    "new york": 1.5, "london": 1.45, "paris": 1.45, "tokyo": 1.3, "kyoto": 1.3, "wailea": 1.6, "san francisco": 1.2,
    "MV": 2.1, "PF": 2.0, "SC": 1.8, "BM": 1.6, "CH": 1.4, "FJ": 1.4, "MU": 1.3, "AE": 1.1, "TR": 0.7, "PH": 0.65,
    "IN": 0.6, "TH": 0.6, "ID": 0.6, "EG": 0.6, "CN": 0.6, "VN": 0.55, "MY": 0.55,
}  # fmt: skip
MOST_POINTS = {"hilton-honors": 250_000, "ihg-one-rewards": 250_000, "marriott-bonvoy": 200_000}  # of a standard room


def find_stays(question: StaysQuestion, today: date, overrides: Mapping[str, str]) -> tuple[StayOffer, ...]:
    first = max(question.earliest, today)
    days = [first + timedelta(days=n) for n in range((question.latest - first).days + 1)]
    return tuple(_build_offer(hotel, day, question, today, overrides) for hotel in question.hotels for day in days)


def _build_offer(
    hotel: HotelSpot, day: date, question: StaysQuestion, today: date, overrides: Mapping[str, str]
) -> StayOffer:
    nights = [day + timedelta(days=n) for n in range(question.nights)]
    points, dollars, open_ = _draw_stay(hotel, nights, today)
    cash = convert(dollars, question.currency)
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
        currency=(question.currency if has_rate(question.currency) else "USD") if open_ else None,
        room_type=ROOM if open_ else None,
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
    usual, most = find_usual_night(hotel), MOST_POINTS.get(hotel.program or "", 1_000_000)
    for night in nights:
        cell = f"{hotel.hotel_code}|{night}"
        turn = (
            today.toordinal() + int(draws.draw_fraction("phase", cell) * draws.DAYS_PER_DRAW)
        ) // draws.DAYS_PER_DRAW
        place = draws.draw_fraction("night", cell, turn)
        by_cash = min(most, 500 * round(usual * (0.8 + 0.5 * place) / cents / 5))
        points = levels[int(place * len(levels))] if levels else by_cash
        worth = points * cents / 100 if levels else usual
        dollars = round(worth * (0.75 + 0.5 * draws.draw_fraction("rate", cell, turn)))
        award = draws.draw_fraction("award night", cell, turn) < _AWARD_SHARE
        yield points if award else None, dollars, draws.draw_fraction("full", cell, turn) >= _FULL_SHARE


def find_usual_night(hotel: HotelSpot) -> float:
    """The usual price of a night in dollars, by brand and place."""
    fact = find_stored(reference(), hotel.hotel_code)
    words = set(normalize_name(f"{fact.brand if fact else ''} {hotel.name}").split())
    base = next(
        (dollars for dollars, brands in USUAL_NIGHT.items() for b in brands.split() if words >= set(b.split("&"))),
        _NO_BRAND,
    )
    place = _PLACES.get(normalize_name(hotel.city)) or _PLACES.get(hotel.country, 1.0)
    return base * place * (0.85 + 0.35 * draws.draw_fraction("hotel", hotel.hotel_code))


def _list_levels(hotel: HotelSpot, today: date) -> list[int]:
    """The points a night may cost in the hotel's category, the fewest first; empty without a category."""
    facts = reference()
    fact = find_stored(facts, hotel.hotel_code)
    prices = build_award(facts, fact, today).prices if fact else ()
    return sorted({price.points for price in prices if price.points and price.room == "standard_room"})


def _find_cents(hotel: HotelSpot) -> float:
    """The usual value of a point of the hotel's programme, in US cents."""
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


# Invented cash fares of the airlines that plausibly fly a journey.

CABINS = {"economy": 1.0, "premium_economy": 1.75, "business": 3.6, "first": 6.2}
NOISE = 0.14  # the share a price may lie above or below its usual level
LINKS = "https://sandbox.invalid/fare"


def find_fares(question: FaresQuestion, today: date) -> tuple[CashFare, ...]:
    """Fares, cheapest first. Raises `no_data` if no one flies; empty for days past or not on sale."""
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
        if question.cabin not in carriers.list_cabins(path.airline, path.origin, path.destination):
            continue
        if question.date < today or last > today + timedelta(days=path.on_sale_days):
            continue
        dollars = sum(_price(path, day, question.cabin, today) for day in _days(question)) * question.passengers
        departs_at, arrives_at, minutes = compute_times(path, question.date)
        yield CashFare(
            price=convert(Decimal(dollars), question.currency),
            currency=question.currency if has_rate(question.currency) else "USD",
            cabin=question.cabin,
            carriers=(path.airline,),
            flight_numbers=path.flight_numbers,
            departs_at=departs_at,
            arrives_at=arrives_at,
            duration_minutes=minutes,
            stops=path.stops,
            booking_url=f"{LINKS}/{path.airline}-{path.origin}-{path.destination}-{question.date}-{question.cabin}",
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


# Invented airport delays.
#
# One is set on purpose by the overrides' field `delay|AIRPORT` with a number of minutes, `stop` or `none`.

REASON = "SANDBOX invented delay"
_DELAY_SHARE = 0.1  # of three-hour spans


def find_delays(airport: str, now: datetime, overrides: Mapping[str, str]) -> tuple[AirportDelay, ...]:
    if airport not in reference().airports:
        raise Unanswered("not_covered", "airport_not_covered")
    word = overrides.get(f"delay|{airport}") or _draw_delay(airport, now)
    if word == "none":
        return ()
    minutes = None if word == "stop" else int(word)
    kind: Literal["ground_stop", "departure"] = "ground_stop" if minutes is None else "departure"
    return (AirportDelay(airport, kind, minutes, minutes, REASON),)


def _draw_delay(airport: str, now: datetime) -> str:
    span = f"{now:%Y-%m-%d}|{now.hour // 3}"
    if draws.draw_fraction("delay", airport, span) >= _DELAY_SHARE:
        return "none"
    return str(15 + 5 * int(22 * draws.draw_fraction("minutes", airport, span) ** 2))


T = TypeVar("T")


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator["Sandbox"]:
    yield Sandbox()


class Sandbox:
    """One client per question. Draws on a thread, as a window may have thousands of cells."""

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        return await _run_draw(lambda: market.find_seats(question, clock.today(), overrides.read_overrides()))

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        return await _run_draw(lambda: market.find_trip(question.ref, clock.today(), overrides.read_overrides()))

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        return await _run_draw(lambda: find_fares(question, clock.today()))

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        return await _run_draw(lambda: find_stays(question, clock.today(), overrides.read_overrides()))

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        return await _run_draw(lambda: find_delays(question.airport, clock.now(), overrides.read_overrides()))

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        return await _run_draw(lambda: list_rates(question.currencies, clock.today()))


async def _run_draw(draw: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
    if await _apply_fault():
        return ()
    return await anyio.to_thread.run_sync(draw, abandon_on_cancel=True)


async def _apply_fault() -> bool:
    """Acts as SANDBOX_FAULT says; returns whether the answer is to be empty."""
    word, _, seconds = (settings().sandbox_fault or "").partition(":")
    if word == "down":
        raise Unanswered("down", "fault")
    if word == "quota":
        raise Unanswered("quota_exhausted", "quota", retry_after=3600)
    if word == "slow":
        await anyio.sleep(float(seconds.rstrip("s")))
    return word == "empty"
