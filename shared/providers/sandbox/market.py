"""Who sells what in the sandbox: charts and hubs of the reference data meet the draws, and marked seats come out.

Nothing is offered that no chart prices, that no airline would fly, or that is not on sale yet; there the sandbox has no
answer, as a real source would have none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.domain.award_charts import RoutePrice, Season
from shared.domain.plans import CABINS
from shared.providers.contract import AwardSeat, AwardTrip, BookingLink, SeatsQuestion, Segment, Unanswered
from shared.providers.sandbox import draw, overrides
from shared.reference.load import reference

DETOUR = 1.4  # a connection over a hub may be this much longer than the direct way
ON_SALE_DAYS = 355  # where no release window of the airline is known
LINKS = "https://sandbox.invalid/award"
LETTERS = {"economy": "Y", "premium_economy": "W", "business": "J", "first": "F"}  # in a reference, which must be short


@dataclass(frozen=True, eq=False)  # each is made once, and asked for its times thousands of times
class Path:
    """How an airline would fly a route: nonstop from or to one of its hubs, or over the best of them."""

    airline: str
    origin: str
    destination: str
    miles: int
    hub: str | None
    on_sale_days: int

    @property
    def stops(self) -> int:
        return 1 if self.hub else 0

    @cached_property
    def flight_numbers(self) -> tuple[str, ...]:
        points = [self.origin, *filter(None, [self.hub]), self.destination]
        return tuple(draw.flight_number(self.airline, a, b) for a, b in pairwise(points))


@lru_cache(maxsize=32_768)  # a hundred airlines for each route that is watched
def path(airline: str, origin: str, destination: str) -> Path | None:
    """None where the airline does not plausibly fly."""
    facts = reference()
    hubs = [h for h in facts.airlines[airline].hubs if h in facts.airports]
    direct = facts.miles(origin, destination)
    window = facts.release_window(airline)
    days = window.days_before_departure if window else ON_SALE_DAYS
    if origin in hubs or destination in hubs:
        return Path(airline, origin, destination, direct, None, days)
    over = {h: facts.miles(origin, h) + facts.miles(h, destination) for h in hubs}
    best = min(over, key=over.__getitem__, default=None)
    if best is None or over[best] > DETOUR * direct:
        return None
    return Path(airline, origin, destination, over[best], best, days)


def _sellers(airline: str, origin: str, destination: str, on: date) -> Iterator[RoutePrice]:
    """What each programme with a chart for this airline asks on this route, of those booking on this day."""
    facts = reference()
    for slug in facts.pricing(airline, on):
        price = facts.route_price(slug, airline, origin, destination, on)
        if price and price.cabins:
            yield price


def points(price: RoutePrice, cabin: str, day: date) -> int | None:
    """The chart's price of a day; which days are peak is drawn, since no programme publishes all of them."""
    asked = price.cabins[cabin].points if cabin in price.cabins else {}
    season: Season = "peak" if draw.peak(price.program, day) else "off_peak"
    return asked.get(season) or asked.get("standard") or next(iter(asked.values()), None)


def rows(question: SeatsQuestion, today: date, told: Mapping[str, str]) -> tuple[AwardSeat, ...]:
    """The open seats of a window as they look today. Raises `no_data` where nobody flies or no chart has a price."""
    facts = reference()
    if question.origin not in facts.airports or question.destination not in facts.airports:
        raise Unanswered("no_data", "not_served")
    airlines = [a for a in question.airlines or sorted(facts.airlines) if a in facts.airlines]
    markets = [m for a in airlines for m in _markets(a, question.origin, question.destination, today)]
    if not markets:
        raise Unanswered("no_data", "not_served")
    first = max(question.earliest, today)
    days = [first + timedelta(days=ahead) for ahead in range((question.latest - first).days + 1)]
    return tuple(seat for market in markets for seat in _window(market, days, told))


@dataclass(frozen=True, eq=False)
class _Market:
    """One programme that sells one airline on a route, as charts stood on the day of looking."""

    way: Path
    price: RoutePrice
    today: date

    @cached_property
    def name(self) -> str:
        return f"{self.way.airline}_{self.price.program}_{self.way.origin}_{self.way.destination}"


@lru_cache(maxsize=32_768)
def _markets(airline: str, origin: str, destination: str, today: date) -> tuple[_Market, ...]:
    way = path(airline, origin, destination)
    return tuple(_Market(way, price, today) for price in _sellers(airline, origin, destination, today)) if way else ()


def _window(market: _Market, days: Sequence[date], told: Mapping[str, str]) -> Iterator[AwardSeat]:
    last = market.today + timedelta(days=market.way.on_sale_days)
    for day in days:
        if day > last:
            return
        drawn = draw.seats(market.name, day, market.today)
        for cabin, count in (_told(market, day, drawn, told) if told else drawn).items():
            asked = points(market.price, cabin, day)
            if asked is not None:  # nothing where the chart has no price
                yield _seat(market, day, cabin, asked, count)


def _told(market: _Market, day: date, drawn: Mapping[str, int], told: Mapping[str, str]) -> dict[str, int]:
    """What was drawn, and what somebody said instead."""
    way, seats = market.way, dict(drawn)
    for cabin in CABINS:
        where = f"{way.origin}-{way.destination}|{day}|{cabin}"
        wanted, count = overrides.told(told, where, way.airline, market.price.program)
        if wanted is False:
            seats.pop(cabin, None)
        elif wanted:
            seats[cabin] = count or seats.get(cabin, 1)
    return seats


def _seat(market: _Market, day: date, cabin: str, points: int, count: int) -> AwardSeat:
    way, program = market.way, market.price.program
    date_ = day.isoformat().replace("-", "")
    ref = f"sbx_{market.name}_{date_}_{LETTERS[cabin]}"
    leaves, lands, _ = times(way, day)
    return AwardSeat(
        ref=ref,
        airline=way.airline,
        program=program,
        origin=way.origin,
        destination=way.destination,
        date=day,
        cabin=cabin,
        points=points,
        taxes=draw.taxes(cabin, way.miles),
        taxes_currency="USD",
        seats=count,
        stops=way.stops,
        flight_numbers=way.flight_numbers,
        departs_at=leaves,
        arrives_at=lands,
        aircraft="SANDBOX",
        booking_url=f"{LINKS}/{ref}",
        checked_at=None,
    )


@lru_cache(maxsize=32_768)
def times(way: Path, day: date) -> tuple[str, str | None, int]:
    """Local times of the airports and minutes under way. A flight leaves at the same time in every cabin."""
    flight = f"{way.airline}|{way.origin}|{way.destination}|{day}"
    leaves = datetime(day.year, day.month, day.day) + timedelta(minutes=draw.departure(flight))  # noqa: DTZ001 - local
    minutes = 5 * round((way.miles / 500 * 60 + 35 + 95 * way.stops) / 5)
    return f"{leaves:%Y-%m-%dT%H:%M}", _later(leaves, minutes, way.origin, way.destination), minutes


_zone = lru_cache(maxsize=512)(ZoneInfo)  # which itself remembers no more than eight, and reads the others anew


def _later(leaves: datetime, minutes: int, origin: str, destination: str) -> str | None:
    """The local time at the destination so many minutes after a local time at the origin."""
    try:
        here, there = (_zone(reference().airports[a].tz) for a in (origin, destination))
    except (ZoneInfoNotFoundError, ValueError):
        return None
    return f"{(leaves.replace(tzinfo=here) + timedelta(minutes=minutes)).astimezone(there):%Y-%m-%dT%H:%M}"


def trip(ref: str, today: date, told: Mapping[str, str]) -> tuple[AwardTrip, ...]:
    """The flights behind a seat as it looks today; raises `no_data` when it is gone or was never offered."""
    seat = _named(ref, today, told)
    way = path(seat.airline, seat.origin, seat.destination) if seat else None
    if seat is None or way is None:
        raise Unanswered("no_data", "gone")
    return (
        AwardTrip(
            ref=ref,
            cabin=seat.cabin,
            points=seat.points,
            taxes=seat.taxes,
            taxes_currency=seat.taxes_currency,
            stops=way.stops,
            duration_minutes=times(way, seat.date)[2],
            seats=seat.seats,
            segments=_segments(way, seat),
            links=(BookingLink(seat.program, "SANDBOX, books nothing", f"{LINKS}/{ref}"),),
            checked_at=None,
        ),
    )


def _named(ref: str, today: date, told: Mapping[str, str]) -> AwardSeat | None:
    parts = ref.split("_", 6)
    if len(parts) != 7 or parts[0] != "sbx" or not parts[5].isdigit() or len(parts[5]) != 8:
        return None
    _, airline, program, origin, destination, day, letter = parts
    asked = datetime.strptime(day, "%Y%m%d").date()  # noqa: DTZ007 - a day, not a moment
    try:
        seats = rows(SeatsQuestion(origin, destination, asked, asked, (airline,)), today, told)
    except Unanswered:
        return None
    return next((s for s in seats if (s.program, LETTERS[s.cabin]) == (program, letter)), None)


def _segments(way: Path, seat: AwardSeat) -> tuple[Segment, ...]:
    """Nonstop, or two legs of which only the ends' times are drawn."""
    points = [way.origin, *filter(None, [way.hub]), way.destination]
    ends = list(pairwise(points))
    return tuple(
        Segment(
            flight_number=number,
            operating_carrier=way.airline,
            aircraft=seat.aircraft,
            origin=a,
            destination=b,
            departs_at=seat.departs_at if a == way.origin else None,
            arrives_at=seat.arrives_at if b == way.destination else None,
            cabin=seat.cabin,
            fare_class=None,
        )
        for number, (a, b) in zip(way.flight_numbers, ends, strict=True)
    )
