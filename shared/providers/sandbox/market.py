"""The sandbox's award market: seats drawn for the charts and the known flights of the reference data.

It offers no flight that no airline would fly, no cabin it lacks, and nothing not yet on sale; there it has
no answer, like a real source. Prices come from charts. An airline's own programme without a chart for
a route has invented prices that change by the day; partners do not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import groupby, pairwise

from shared.domain.award_charts import RoutePrice, Season
from shared.domain.plans import CABINS
from shared.providers.contract import AwardSeat, AwardTrip, BookingLink, SeatsQuestion, Segment, Unanswered
from shared.providers.sandbox import carriers, draws
from shared.providers.sandbox.overrides import find_override
from shared.providers.sandbox.timetable import compute_times
from shared.reference.load import reference

DETOUR = 1.4  # a connection over a hub may be this much longer than the direct route
MIN_KNOWN = 10  # known flights from which an airline's list counts as complete
SHORT_MILES = 2_500  # for a flight of an airline without such a list
MEDIUM_MILES = 1_500  # an airline without a flight this short has none at home
LEAST_MILES = 100  # nobody flies between two airports of one city
ON_SALE_DAYS = 355  # if the airline's release window is unknown
PARTNER_SHARE = 0.75  # of an airline's seats for its own members that partners also sell
# Points of a programme whose prices follow no chart: a base, and points a mile, in economy on a usual day.
DYNAMIC_POINTS, DYNAMIC_PER_MILE = 4_500, 5.2
DYNAMIC_CABINS = {"economy": 1.0, "premium_economy": 1.7, "business": 3.1, "first": 4.4}
LINKS = "https://sandbox.invalid/award"
LETTERS = {"economy": "Y", "premium_economy": "W", "business": "J", "first": "F"}  # in a reference, which must be short


@dataclass(frozen=True, eq=False)  # compared by identity: it is the key of a cache that is read for every seat
class Path:
    """How an airline would fly a route: nonstop where it is known to, or over the best of its hubs."""

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
        return tuple(draws.invent_flight_number(self.airline, a, b) for a, b in pairwise(points))


@lru_cache(maxsize=32_768)  # a hundred airlines for each watched route
def find_path(airline: str, origin: str, destination: str) -> Path | None:
    """The path; None if the airline does not plausibly fly."""
    facts = reference()
    hubs = [h for h in facts.airlines[airline].hubs if h in facts.airports]
    direct = facts.miles(origin, destination)
    window = facts.release_window(airline)
    days = window.days_before_departure if window else ON_SALE_DAYS
    if _is_flown(airline, origin, destination):
        return Path(airline, origin, destination, direct, None, days)
    over = {
        h: facts.miles(origin, h) + facts.miles(h, destination)
        for h in hubs
        if h not in (origin, destination)
        and (
            not _is_domestic(origin, destination) or _is_domestic(origin, h)
        )  # nobody sells a trip at home over abroad
        and _is_flown(airline, origin, h)
        and _is_flown(airline, h, destination)
    }
    best = min(over, key=over.__getitem__, default=None)
    if best is None or over[best] > DETOUR * direct:
        return None
    return Path(airline, origin, destination, over[best], best, days)


def _is_flown(airline: str, origin: str, destination: str) -> bool:
    """Whether an airline is known to fly there without a stop; where no list says so, whether it is a plausible
    flight from one of its hubs: within a country, or a short one of an airline with few known flights."""
    facts = reference()
    route = facts.find_flight(airline, origin, destination).route
    hubs = facts.airlines[airline].hubs
    if route != "unknown" or (origin not in hubs and destination not in hubs):
        return route == "known"
    if _is_domestic(origin, destination):
        is_far = facts.miles(origin, destination) >= LEAST_MILES
        return is_far and _flies_short(airline) and facts.airports_with_flights.issuperset((origin, destination))
    return facts.miles(origin, destination) <= SHORT_MILES and not _has_known_flights(airline)


def _is_domestic(origin: str, destination: str) -> bool:
    facts = reference()
    return facts.airport(origin).country == facts.airport(destination).country


@lru_cache(maxsize=512)
def _flies_short(airline: str) -> bool:
    """Whether an airline is not known for long flights alone."""
    facts = reference()
    flights = facts.flights.get(airline)
    pairs = [(a, b) for a, ends in flights.pairs.items() for b in ends] if flights else []
    distances = [facts.miles(*pair) for pair in pairs if facts.airports.keys() >= set(pair)]
    return min(distances, default=0) <= MEDIUM_MILES


@lru_cache(maxsize=512)
def _has_known_flights(airline: str) -> bool:
    """Whether enough of an airline's flights are known to make an unknown one unlikely."""
    flights = reference().flights.get(airline)
    return flights is not None and sum(map(len, flights.pairs.values())) >= 2 * MIN_KNOWN


def _prices(airline: str, origin: str, destination: str, on: date) -> Iterator[RoutePrice]:
    """The prices of programmes with a chart for this airline on this route, for bookings on this day.

    The airline's own programme without a chart in force is drawn from its last one: sandbox prices are invented anyway.
    """
    facts = reference()
    charts = [(slug, on) for slug in facts.pricing(airline, on)]
    own = facts.airlines[airline].program
    if own and not facts.charts(own, on) and (ended := facts.last_chart_day(own)):
        charts.append((own, ended))
    for slug, day in charts:
        price = facts.route_price(slug, airline, origin, destination, day)
        if price and price.cabins:
            yield price


def find_points(price: RoutePrice, cabin: str, day: date) -> int | None:
    """The chart's price of a day; which days are peak is drawn, since no programme publishes them all."""
    by_season = price.cabins[cabin].points if cabin in price.cabins else {}
    season: Season = "peak" if draws.is_peak(price.program, day) else "off_peak"
    return by_season.get(season) or by_season.get("standard") or next(iter(by_season.values()), None)


def find_seats(question: SeatsQuestion, today: date, overrides: Mapping[str, str]) -> tuple[AwardSeat, ...]:
    """Today's open seats in a window. Raises `no_data` if no one flies or no chart has a price."""
    facts = reference()
    if question.origin not in facts.airports or question.destination not in facts.airports:
        raise Unanswered("no_data", "not_served")
    airlines = [a for a in question.airlines or sorted(facts.airlines) if a in facts.airlines]
    markets = [m for a in airlines for m in _markets(a, question.origin, question.destination, today)]
    if not markets:
        raise Unanswered("no_data", "not_served")
    first = max(question.earliest, today)
    days = [first + timedelta(days=ahead) for ahead in range((question.latest - first).days + 1)]
    return tuple(
        seat
        for _, its_markets in groupby(markets, key=lambda market: market.path)
        for seat in _window(list(its_markets), days, overrides)
    )


@dataclass(frozen=True)
class _Market:
    """One programme that sells one airline on a route, by the charts of the day of looking; without a price it asks
    what it likes."""

    path: Path
    program: str
    price: RoutePrice | None
    today: date
    own: bool

    @cached_property
    def name(self) -> str:
        return f"{self.path.airline}_{self.program}_{self.path.origin}_{self.path.destination}"

    def find_points(self, cabin: str, day: date) -> int | None:
        """Its price in a cabin; None if it sells none."""
        if self.price is not None:
            return find_points(self.price, cabin, day)
        return invent_points(self.program, self.path, cabin, day) if self.own else None


def _markets(airline: str, origin: str, destination: str, today: date) -> Iterator[_Market]:
    """The airline's own programme comes first: partners sell some of its seats."""
    path = find_path(airline, origin, destination)
    if path is None:
        return
    own = reference().airlines[airline].program
    prices = {price.program: price for price in _prices(airline, origin, destination, today)}
    if own:
        yield _Market(path, own, prices.pop(own, None), today, own=True)
    for program, price in prices.items():
        yield _Market(path, program, price, today, own=False)


@lru_cache(maxsize=65_536)
def invent_points(program: str, path: Path, cabin: str, day: date) -> int:
    """Invents a price without a chart, in steps of 500: by distance and cabin, dearer in peak weeks and some days."""
    usual = (DYNAMIC_POINTS + DYNAMIC_PER_MILE * path.miles) * DYNAMIC_CABINS[cabin]
    season = 1.3 if draws.is_peak(program, day) else 1.0
    noise = 0.85 + 0.4 * draws.draw_fraction("points", program, path.origin, path.destination, day, cabin)
    return 500 * max(8, round(usual * season * noise / 500))


def _window(markets: Sequence[_Market], days: Sequence[date], overrides: Mapping[str, str]) -> Iterator[AwardSeat]:
    """The seats of one airline, of all programmes that sell it."""
    first = markets[0]
    path = first.path
    cabins = carriers.list_cabins(path.airline, path.origin, path.destination)
    last = first.today + timedelta(days=path.on_sale_days)
    for day in days:
        if day > last:
            return
        own_cabins = draws.draw_seats(first.name, day, first.today)
        for market in markets:
            open_cabins = own_cabins if market is first else _draw_shared(market, day, own_cabins)
            if overrides:
                open_cabins = _apply_overrides(market, day, open_cabins, overrides)
            for cabin, count in open_cabins.items():
                points = market.find_points(cabin, day) if cabin in cabins else None
                if points is not None:
                    yield _build_seat(market, day, cabin, points, count)


def _draw_shared(market: _Market, day: date, own_cabins: Mapping[str, int]) -> dict[str, int]:
    """The airline's open seats that a partner sells."""
    return {
        cabin: count
        for cabin, count in own_cabins.items()
        if draws.draw_fraction("partner", market.name, day, cabin) < PARTNER_SHARE
    }


def _apply_overrides(
    market: _Market, day: date, open_cabins: Mapping[str, int], overrides: Mapping[str, str]
) -> dict[str, int]:
    path, seats = market.path, dict(open_cabins)
    for cabin in CABINS:
        cell = f"{path.origin}-{path.destination}|{day}|{cabin}"
        is_open, count = find_override(overrides, cell, path.airline, market.program)
        if is_open is False:
            seats.pop(cabin, None)
        elif is_open:
            seats[cabin] = count or seats.get(cabin, 1)
    return seats


def _build_seat(market: _Market, day: date, cabin: str, points: int, count: int) -> AwardSeat:
    path, program = market.path, market.program
    ref = f"sbx_{market.name}_{day:%Y%m%d}_{LETTERS[cabin]}"
    departs_at, arrives_at, _ = compute_times(path, day)
    return AwardSeat(
        ref=ref,
        airline=path.airline,
        program=program,
        origin=path.origin,
        destination=path.destination,
        date=day,
        cabin=cabin,
        points=points,
        taxes=carriers.estimate_taxes(path.airline, program, path.origin, path.destination, cabin, day),
        taxes_currency="USD",
        seats=count,
        stops=path.stops,
        flight_numbers=path.flight_numbers,
        departs_at=departs_at,
        arrives_at=arrives_at,
    )


def find_trip(ref: str, today: date, overrides: Mapping[str, str]) -> tuple[AwardTrip, ...]:
    """The flights behind a seat today; raises `no_data` if it is gone or was never offered."""
    seat = _find_seat(ref, today, overrides)
    path = find_path(seat.airline, seat.origin, seat.destination) if seat else None
    if seat is None or path is None:
        raise Unanswered("no_data", "gone")
    return (
        AwardTrip(
            ref=ref,
            cabin=seat.cabin,
            points=seat.points,
            taxes=seat.taxes,
            taxes_currency=seat.taxes_currency,
            stops=path.stops,
            duration_minutes=compute_times(path, seat.date)[2],
            seats=seat.seats,
            segments=_segments(path, seat),
            links=(BookingLink(seat.program, "SANDBOX, books nothing", f"{LINKS}/{ref}"),),
            checked_at=None,
        ),
    )


def _find_seat(ref: str, today: date, overrides: Mapping[str, str]) -> AwardSeat | None:
    parts = ref.split("_", 6)
    if len(parts) != 7 or parts[0] != "sbx" or not parts[5].isdigit() or len(parts[5]) != 8:
        return None
    _, airline, program, origin, destination, day, letter = parts
    departure_day = datetime.strptime(day, "%Y%m%d").date()  # noqa: DTZ007 - a day, not a moment
    try:
        seats = find_seats(
            SeatsQuestion(origin, destination, departure_day, departure_day, (airline,)), today, overrides
        )
    except Unanswered:
        return None
    return next((s for s in seats if (s.program, LETTERS[s.cabin]) == (program, letter)), None)


def _segments(path: Path, seat: AwardSeat) -> tuple[Segment, ...]:
    """One leg, or two; only the times of the ends are drawn."""
    points = [path.origin, *filter(None, [path.hub]), path.destination]
    ends = list(pairwise(points))
    return tuple(
        Segment(
            flight_number=number,
            operating_carrier=path.airline,
            aircraft="SANDBOX",
            origin=a,
            destination=b,
            departs_at=seat.departs_at if a == path.origin else None,
            arrives_at=seat.arrives_at if b == path.destination else None,
            cabin=seat.cabin,
            fare_class=None,
        )
        for number, (a, b) in zip(path.flight_numbers, ends, strict=True)
    )
