"""Award charts for results: prices by zone, distance or category, side by side for each season."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from mcp_server.toolkit.provenance import Audited, Verified, describe_audited, describe_verified
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part
from shared.domain.award_charts import Chart, Points, RoutePrice
from shared.domain.dates import format_iso_day
from shared.reference.hotel_awards import find_programme
from shared.reference.reference import Reference
from shared.reference.rows.award_charts import AwardExample, ChartGap
from shared.reference.rows.programmes import Program
from shared.reference.rows.travel import HotelPointValue, HyattPrice

Season = Literal["lowest", "off_peak", "standard", "peak"]
Scope = Literal["own", "partner"]
ChartKind = Literal["zone", "distance", "region_pair", "category", "fixed", "dynamic"]
KIND_SHOWN: dict[str, ChartKind] = {
    "distance_bands": "distance",
    "distance_then_zones": "distance",
    "zones": "region_pair",
    "zones_then_distance": "region_pair",
    "domestic_fixed": "zone",
    "dynamic": "dynamic",
}


class Seasons(Part):
    lowest: int | None  # the cheapest seat; others cost more
    off_peak: int | None
    standard: int | None
    peak: int | None


class ChartPlace(Part):
    kind: str
    zone_or_band: str | None
    distance_miles: int


class Example(Verified):
    """A dated single price, quoted where no chart speaks."""

    airline: str
    origin: str
    destination: str
    cabin: str
    points: int
    direction: str
    level: str


class MissingChart(Audited):
    """Why there is no chart here."""

    sentence: str


class RateRow(Part):
    chart_id: str
    carriers: list[str]
    cabin: str
    zone_or_band: str
    lowest: int | None  # the cheapest seat; others cost more
    off_peak: int | None
    standard: int | None
    peak: int | None


class ChartPrice(NamedTuple):
    """What a chart says of a cabin at a band or zone pair. Rows are made only of those shown: one chart has 739."""

    chart: Chart
    cabin: str
    place: str
    points: Points


class CategoryRow(Part):
    """One category of a hotel chart: the points of each level a night can have."""

    category: int
    room: str
    levels: dict[str, int | NoDataWord]


class ValueRow(Part):
    """What points are worth at every hotel of a programme: a night of one unit, or an amount of any bill."""

    kind: Literal["night", "bill"]
    points: int
    unit: str | None
    amount: Money | None
    currency: str | None


class WholeChart(Part):
    kind: ChartKind
    rows: list[RateRow] | list[CategoryRow] | list[ValueRow]
    seasons: list[str]


def to_seasons(price: RoutePrice, cabin: str) -> Seasons | NoDataWord:
    cabin_price = price.cabins.get(cabin)
    if cabin_price is None:
        return NO_DATA
    points = cabin_price.points
    return Seasons(
        lowest=points.get("lowest"),
        off_peak=points.get("off_peak"),
        standard=points.get("standard"),
        peak=points.get("peak"),
    )


def has_seasons(price: RoutePrice) -> bool:
    return any("peak" in p.points or "off_peak" in p.points for p in price.cabins.values())


# Built rows are cached: get_program_rates takes 517 us instead of 693, get_pricing 459 instead of 628. When all
# charts and examples were asked for that is 6 MB.
_KEPT = 512


@lru_cache(maxsize=_KEPT)
def to_example(row: AwardExample) -> Example:
    prices = {name: getattr(row, name) for name in Example.model_fields.keys() - Verified.model_fields.keys()}
    return Example(**prices, **describe_verified(row))


def to_scope(program: Program, airline: str) -> Scope:
    return "own" if airline in program.iata else "partner"


def list_examples(reference: Reference, program: Program, scope: Scope, airline: str | None) -> list[Example]:
    """Dated prices of one airline, or of all flights of the scope."""
    # Examples of one airline, or all; a star stands for any partner.
    fits = {airline} if airline in program.iata else {airline, "*"}
    examples = [
        to_example(r) for r in reference.examples(program.slug) if airline is None or fits & set(r.airline.split("|"))
    ]
    return [e for e in examples if (set(e.airline.split("|")) <= set(program.iata)) == (scope == "own")]


def describe_quotes(examples: list[Example]) -> str:
    return "Dated examples are quoted." if examples else "No dated example of a price is known."


def put_route_first(
    reference: Reference, examples: list[Example], start: str, end: str, cabin: str | None
) -> tuple[list[Example], str]:
    """The examples with those of a route and cabin first, and a sentence that names these; empty without one."""
    pairs = {(row.origin, row.destination) for row in reference.find_examples(start, end, cabin)}
    here = [e for e in examples if (e.origin, e.destination) in pairs and cabin in (None, e.cabin)]
    prices = "; ".join(
        f"{e.cabin.replace('_', ' ')} {e.points:,} {e.direction.replace('_', ' ')} ({e.level}),"
        f" {f'seen {format_iso_day(e.as_of)}' if e.as_of else 'undated'}"
        for e in here[:4]
    )
    others = [e for e in examples if e not in here]
    return [*here, *others], f" Dated prices of this route: {prices}." if here else ""


def find_chart_gap(reference: Reference, program: str, scope: Scope, airline: str | None = None) -> ChartGap | None:
    """Why the programme's chart of one airline, or of own or partner flights, is missing, where that is known."""
    gaps = {r.scope: r for r in reference.rows("award_chart_gaps.csv") if r.program == program}
    return (gaps.get(airline) if airline else None) or gaps.get(scope)


def to_gap(row: ChartGap) -> MissingChart:
    return MissingChart(sentence=row.reason, **describe_audited(row))


@lru_cache(maxsize=_KEPT)
def list_rates(chart: Chart, cabin: str | None) -> tuple[ChartPrice, ...]:
    """One row for each band or zone pair of each cabin, with its seasons side by side."""
    prices: dict[tuple[str, str], Points] = {}
    for name, bands in chart.bands.items():
        for band in bands:
            prices.setdefault((name, band.label), {})[band.season] = band.points
    for name, pairs in chart.zones.items():
        for (start, end), points in pairs.items():
            prices[name, f"{start} - {end}"] = points
    return tuple(
        ChartPrice(chart, name, place, points) for (name, place), points in prices.items() if cabin in (None, name)
    )


@lru_cache(maxsize=_KEPT)
def to_rate_rows(chart: Chart, cabin: str | None, most: int) -> tuple[RateRow, ...]:
    """The rows of its first rates, at most that many."""
    return tuple(_to_rate_row(rate) for rate in list_rates(chart, cabin)[:most])


def _to_rate_row(rate: ChartPrice) -> RateRow:
    return RateRow(
        chart_id=rate.chart.chart_id,
        carriers=sorted(rate.chart.carriers),
        cabin=rate.cabin,
        zone_or_band=rate.place,
        lowest=rate.points.get("lowest"),
        off_peak=rate.points.get("off_peak"),
        standard=rate.points.get("standard"),
        peak=rate.points.get("peak"),
    )


def to_category_rows(prices: Sequence[HyattPrice]) -> list[CategoryRow]:
    """One row for each category and room, with its levels side by side."""
    levels = dict.fromkeys(row.level for row in prices)
    by_category: dict[tuple[int, str], dict[str, int | NoDataWord]] = {}
    for row in prices:
        place = by_category.setdefault((row.category, row.room), dict.fromkeys(levels, NO_DATA))
        place[row.level] = NO_DATA if row.points is None else row.points
    return [CategoryRow(category=c, room=room, levels=points) for (c, room), points in sorted(by_category.items())]


def describe_caveats(charts: Sequence[Chart]) -> list[str]:
    notes = [f"{c.chart_id}: {c.remark}" for c in charts if c.remark]
    dynamic = [f"{', '.join(sorted(c.carriers)) or 'all others'}: dynamic, no chart" for c in charts if c.dynamic]
    return [*notes, *dynamic, "Stopovers, surcharges and taxes are not part of a chart."]


def describe_hotel_caveats(prices: Sequence[HyattPrice]) -> list[str]:
    """Sentences on what the levels of a category chart mean, and do not."""
    levels = dict.fromkeys(row.level for row in prices)
    caveats = ["The hotel decides the level of a night."]
    if "moderate" in levels:
        caveats.append("This chart has no standard level: off-peak, standard and peak ended with the chart before it.")
    if any(row.points is None for row in prices):
        caveats.append("A level that reads no_data was not found in any source.")
    return caveats


def to_value_row(value: HotelPointValue) -> ValueRow:
    return ValueRow.model_validate(value)


def describe_values(values: Sequence[HotelPointValue]) -> str:
    """A sentence on the value of a programme's points."""
    bills = [f"{v.points:,} points pay {v.currency} {v.amount:,.2f} of a bill" for v in values if v.kind == "bill"]
    nights = [f"{v.points:,}" for v in values if v.kind == "night"]
    if nights:
        unit = next((v.unit for v in values if v.unit), "room")
        bills.append(f"a {unit} costs {', '.join(nights[:-1])} or {nights[-1]} points a night, by hotel")
    return "; ".join(bills)


def describe_categories(prices: Sequence[HyattPrice]) -> str:
    """The points of a night by category, from the lowest level to the highest."""
    by_category: dict[int, list[int]] = {}
    for row in prices:
        if row.points is not None:
            by_category.setdefault(row.category, []).append(row.points)
    ranges = [f"category {c} {min(points):,} to {max(points):,}" for c, points in sorted(by_category.items())]
    levels = ", ".join(dict.fromkeys(row.level.replace("_", " ") for row in prices))
    return f"In points, from the first level to the last ({levels}): {'; '.join(ranges)}."


def explain_no_chart(facts: Reference, program: Program) -> str:
    """Why a programme without flights has no chart here."""
    rules = find_programme(facts, program.slug)
    if rules and "dynamic" in rules.award_pricing:
        return f"{program.name} has no award chart: its nights are priced dynamically."
    return f"No award chart of {program.name} is known; it prices no flights itself."
