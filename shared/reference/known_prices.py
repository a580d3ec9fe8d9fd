"""Known prices: two prices of each chart from another source, so that a swapped zone or band is noticed."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress

from shared import clock
from shared.domain.award_charts import RoutePrice
from shared.errors import NotFound
from shared.reference.provenance import find_publisher
from shared.reference.reference import Reference
from shared.reference.rows.award_charts import ChartRow, KnownPrice

TABLE = "award_chart_checks.csv"
LEAST = 2  # known prices needed to prove a chart
_PRICES = ("award_chart_bands.csv", "award_chart_zones.csv")


def find_faults(reference: Reference, rows: Mapping[int, KnownPrice]) -> Iterator[str]:
    """Known prices that their chart does not give, each with its line.

    They are computed like answers, so only if the set has no other fault.
    """
    charts: dict[str, ChartRow] = {row.chart_id: row for row in reference.rows("award_charts.csv")}
    for number, row in rows.items():
        where = f"{TABLE}:{number}"
        chart = charts.get(row.chart_id)
        if chart is None:
            yield f"{where}: {row.chart_id} is not in award_charts.csv"
        elif find_publisher(row.source_url) == find_publisher(chart.source_url):
            yield f"{where}: its source is that of {row.chart_id}; another one is needed"
        else:
            yield from (f"{where}: {fault}" for fault in _compare(reference, chart, row))
    yield from _check_columns(reference)
    unproved, unreached = list_unproved(reference), list_unreached(reference)
    for chart in charts.values():
        if chart.confidence != "high":
            continue
        where = f"award_charts.csv: {chart.chart_id}: confidence high needs"
        if chart.chart_id in unproved:
            yield f"{where} {LEAST} known prices in {TABLE}"
        if zones := unreached.get(chart.chart_id):
            yield f"{where} a known price of each zone; none of {', '.join(zones)}"


def _check_columns(reference: Reference) -> Iterator[str]:
    """One price out of order may have moved the others of its cabin by a band, as Delta's once in Flying Club."""
    proved = {(row.chart_id, row.cabin) for row in reference.rows(TABLE)}
    priced = {(row.chart_id, row.cabin) for row in reference.rows("award_chart_bands.csv")}
    for cell in reference.rows("award_chart_rejected.csv"):
        column = cell.chart_id, cell.cabin
        if "out of order" in cell.reason and column in priced - proved:
            yield f"award_chart_rejected.csv: {cell.chart_id} {cell.cabin}: the bands next to it need a known price"


def _find_price(reference: Reference, chart: ChartRow, row: KnownPrice) -> RoutePrice | None:
    """The charts' price on a day when this one is in force. Raises NotFound for an airport that is not known."""
    today = clock.today()
    on = today if chart.is_valid(today) else chart.valid_to or chart.valid_from or today
    return reference.route_price(chart.program, row.airline, row.origin, row.destination, on)


def _compare(reference: Reference, chart: ChartRow, row: KnownPrice) -> Iterator[str]:
    try:
        price = _find_price(reference, chart, row)
    except NotFound as error:
        yield str(error)
        return
    cabin = price.cabins.get(row.cabin) if price else None
    priced_by = cabin.chart.chart_id if cabin and cabin.chart else "no chart"
    points = cabin.points.get(row.season) if cabin else None  # type: ignore[call-overload]
    what = f"{row.airline} {row.origin}-{row.destination} in {row.cabin}"
    if priced_by != row.chart_id:
        yield f"{what} is priced by {priced_by}, not by {row.chart_id}"
    elif points != row.points:
        yield f"{what}, {row.season}, costs {row.points:,} by the source, {points or 'nothing':,} by {row.chart_id}"


def list_unproved(reference: Reference) -> dict[str, int]:
    """Charts with fewer than two prices known from elsewhere, and how many are known."""
    counts = Counter(row.chart_id for row in reference.rows(TABLE))
    priced = {row.chart_id for name in _PRICES for row in reference.rows(name)}
    charts = (row.chart_id for row in reference.rows("award_charts.csv"))
    return {chart: counts[chart] for chart in charts if chart in priced and counts[chart] < LEAST}


def list_unreached(reference: Reference) -> dict[str, list[str]]:
    """Zones of zone charts that no known price begins or ends in: one of them may have a wrong country."""
    zones: defaultdict[str, set[str]] = defaultdict(set)
    for row in reference.rows("award_chart_zones.csv"):
        zones[row.chart_id].update((row.from_zone, row.to_zone))
    charts: dict[str, ChartRow] = {row.chart_id: row for row in reference.rows("award_charts.csv")}
    for row in reference.rows(TABLE):
        if row.chart_id not in zones or row.chart_id not in charts:
            continue
        with suppress(NotFound):
            price = _find_price(reference, charts[row.chart_id], row)
            if cabin := price.cabins.get(row.cabin) if price else None:
                zones[row.chart_id].difference_update(cabin.place.split(" - "))
    return {chart: sorted(names) for chart, names in zones.items() if names and chart in charts}
