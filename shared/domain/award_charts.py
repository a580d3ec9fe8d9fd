"""Award charts: points by cabin and season for a route, by distance band, zone pair or both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

# lowest: the cheapest seat's price, where the programme announces only that, so a seat can cost more.
Season = Literal["lowest", "off_peak", "standard", "peak"]
SEASONS: tuple[Season, ...] = ("lowest", "off_peak", "standard", "peak")
Points = dict[Season, int]
ANY_DOMESTIC = ("*domestic", "*domestic")  # a price for flights within any one country


@dataclass(frozen=True, slots=True)
class DistanceBand:
    """Points for flights of `least` to `most` miles (both included; None = any longer)."""

    least: int
    most: int | None
    season: Season
    points: int

    def covers(self, miles: int) -> bool:
        return self.least <= miles and (self.most is None or miles <= self.most)

    @property
    def label(self) -> str:
        return f"{self.least}-{self.most} miles" if self.most is not None else f"over {self.least - 1} miles"


@dataclass(frozen=True, slots=True, eq=False)  # identity is enough: each chart is built once
class Chart:
    """One award chart with its prices by cabin."""

    chart_id: str
    program: str
    scope: str
    carriers: frozenset[str]
    kind: str
    level: str
    overrides: bool
    zone_system: str | None
    from_zones: frozenset[str]  # with to_zones: the only routes it prices; empty = every route
    to_zones: frozenset[str]
    threshold_miles: int | None
    valid_from: date | None
    valid_to: date | None
    bands: Mapping[str, Sequence[DistanceBand]]
    zones: Mapping[str, Mapping[tuple[str, str], Points]]
    source_url: str
    second_source_url: str | None
    as_of: str | None
    audited_on: date | None
    confidence: str
    remark: str | None

    def is_valid(self, on: date) -> bool:
        return (self.valid_from is None or self.valid_from <= on) and (self.valid_to is None or on <= self.valid_to)

    @property
    def dynamic(self) -> bool:
        return self.kind == "dynamic"


@dataclass(frozen=True, slots=True)
class ChartRoute:
    """A route, for a chart: miles, both countries, and the zone of each end in its system."""

    miles: int
    countries: tuple[str, str]
    zones: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class CabinPrice:
    """Points by season of one cabin, and the band or zone pair they belong to."""

    points: Points
    place: str
    chart: Chart | None = None  # of the lowest season


@dataclass(frozen=True, slots=True)
class RoutePrice:
    """One programme's price for one airline on one route."""

    program: str
    charts: tuple[Chart, ...]
    miles: int
    cabins: Mapping[str, CabinPrice]

    @property
    def dynamic(self) -> bool:
        return not self.cabins and any(c.dynamic for c in self.charts)

    @property
    def chart(self) -> Chart:
        """The chart to cite for the answer: its kind, source and dates."""
        return self.charts[0]

    def chart_of(self, cabin: str | None) -> Chart:
        """The chart with a cabin's price."""
        price = self.cabins.get(cabin) if cabin else None
        return price.chart if price and price.chart else self.chart


def _is_in_scope(chart: Chart, trip: ChartRoute) -> bool:
    if not chart.from_zones:
        return True
    start, end = trip.zones
    return (start in chart.from_zones and end in chart.to_zones) or (
        end in chart.from_zones and start in chart.to_zones
    )


def _find_by_distance(chart: Chart, trip: ChartRoute, cabin: str) -> CabinPrice | None:
    fits = [b for b in chart.bands.get(cabin, ()) if b.covers(trip.miles)]
    return CabinPrice({b.season: b.points for b in fits}, fits[0].label) if fits else None


def _find_by_zone(chart: Chart, trip: ChartRoute, cabin: str) -> CabinPrice | None:
    pairs = chart.zones.get(cabin, {})
    start, end = trip.countries if chart.kind == "domestic_fixed" else trip.zones
    if start is None or end is None:
        return None
    points = pairs.get((start, end)) or pairs.get((end, start))
    if points is None and chart.kind == "domestic_fixed" and start == end:
        points = pairs.get(ANY_DOMESTIC)
    return CabinPrice(points, f"{start} - {end}") if points else None


def find_cabin_price(chart: Chart, trip: ChartRoute, cabin: str) -> CabinPrice | None:
    """Points by season in one cabin, or None where the chart has no price for the route."""
    if not _is_in_scope(chart, trip):
        return None
    if chart.kind == "distance_bands":
        return _find_by_distance(chart, trip, cabin)
    if chart.kind in ("zones", "domestic_fixed"):
        return _find_by_zone(chart, trip, cabin)
    if chart.kind == "zones_then_distance":
        # A zone pair listed for any cabin overrides distance prices for all cabins.
        has_route = any(_find_by_zone(chart, trip, other) for other in chart.zones)
        return _find_by_zone(chart, trip, cabin) if has_route else _find_by_distance(chart, trip, cabin)
    if chart.kind == "distance_then_zones":
        near = chart.threshold_miles is not None and trip.miles < chart.threshold_miles
        return _find_by_distance(chart, trip, cabin) if near else _find_by_zone(chart, trip, cabin)
    return None


def merge_prices(prices: Iterable[CabinPrice]) -> CabinPrice | None:
    """One price from several charts of equal standing: merges seasons, without those that contradict."""
    options = list(prices)
    if not options:
        return None
    points: Points = {}
    for season in SEASONS:
        figures = {p.points[season] for p in options if season in p.points}
        if len(figures) == 1:
            points[season] = figures.pop()
    return CabinPrice(points, options[0].place) if points else None


def group_charts(charts: Iterable[Chart], airline: str, partner: bool, on: date) -> list[list[Chart]]:
    """The charts that may price an airline's flights, best first; charts in one group have equal rank.

    Own or named charts come before the chart for all other partners, and exceptions before the general rule: those
    of a place (Hawaii) before those of any flight within a country.
    """
    usable = [c for c in charts if c.is_valid(on) and c.scope != "multi_partner"]
    own_charts = [c for c in usable if airline in c.carriers]
    others = [c for c in usable if c.scope == "all_other_partners"] if partner and not own_charts else []
    groups = []
    for level in (own_charts, others):
        groups.append([c for c in level if c.overrides and c.kind != "domestic_fixed"])
        groups.append([c for c in level if c.overrides and c.kind == "domestic_fixed"])
        groups.append([c for c in level if not c.overrides])
    return [g for g in groups if g]


def is_refuted(chart: Chart, quoted: Iterable[tuple[str, int]]) -> bool:
    """Whether a chart that names no airline contradicts an airline's dated prices (cabin and points).

    A price that is nowhere in the chart's column of the cabin shows that the airline is priced apart.
    """
    if chart.scope != "all_other_partners" or chart.dynamic:
        return False
    return any(points not in _list_points(chart, cabin) for cabin, points in quoted)


def _list_points(chart: Chart, cabin: str) -> set[int]:
    by_zone = (points.values() for points in chart.zones.get(cabin, {}).values())
    return {band.points for band in chart.bands.get(cabin, ())}.union(*by_zone)


def _find_group_price(
    group: Sequence[Chart], trips: Mapping[str | None, ChartRoute], cabin: str
) -> tuple[CabinPrice | None, list[Chart]]:
    """One cabin's price from charts of equal rank, and those charts, the one of the lowest season first."""
    prices = [(c, p) for c in group if (p := find_cabin_price(c, trips[c.zone_system], cabin))]
    if len(prices) > 1:
        prices.sort(key=lambda pair: min(SEASONS.index(season) for season in pair[1].points))
    whole = prices[0][1] if len(prices) == 1 else merge_prices(p for _, p in prices)
    return (replace(whole, chart=prices[0][0]), [c for c, _ in prices]) if whole else (None, [])


def find_route_price(
    groups: Sequence[Sequence[Chart]], trips: Mapping[str | None, ChartRoute], cabins: Sequence[str]
) -> RoutePrice | None:
    """The price of every cabin from the first group that has one; None without any chart for this airline.

    Only the exception prices a route it lists in any cabin: a cabin it leaves out has no price.
    """
    if not groups:
        return None
    prices: dict[str, CabinPrice] = {}
    used: list[Chart] = []
    for group in groups:
        for cabin in cabins:
            price, sources = _find_group_price(group, trips, cabin) if cabin not in prices else (None, [])
            if price:
                prices[cabin] = price
                used += [c for c in sources if c not in used]
        if prices and group[0].overrides:
            break
    charts = tuple(used) or tuple(c for g in groups for c in g)
    ordered = {cabin: prices[cabin] for cabin in cabins if cabin in prices}
    return RoutePrice(charts[0].program, charts, next(iter(trips.values())).miles, ordered)
