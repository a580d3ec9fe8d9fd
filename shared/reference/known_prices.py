"""Known prices: what two routes of each chart cost by another source, so that a swapped zone or band is found."""

from collections import Counter
from collections.abc import Iterator, Mapping

from shared import clock
from shared.errors import NotFound
from shared.reference.provenance import find_publisher
from shared.reference.reference import Reference
from shared.reference.rows.award_charts import ChartRow, KnownPrice

TABLE = "award_chart_checks.csv"
LEAST = 2  # known prices that prove a chart
_PRICES = ("award_chart_bands.csv", "award_chart_zones.csv")


def find_faults(reference: Reference, rows: Mapping[int, KnownPrice]) -> Iterator[str]:
    """Known prices that their chart does not give, each with its line.

    They are computed as answers are, so only of a set that has no other fault.
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
    unproved = list_unproved(reference)
    for chart in charts.values():
        if chart.confidence == "high" and chart.chart_id in unproved:
            yield f"award_charts.csv: {chart.chart_id}: confidence high needs {LEAST} known prices in {TABLE}"


def _compare(reference: Reference, chart: ChartRow, row: KnownPrice) -> Iterator[str]:
    today = clock.today()
    on = today if chart.is_valid(today) else chart.valid_to or chart.valid_from or today
    try:
        price = reference.route_price(chart.program, row.airline, row.origin, row.destination, on)
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
    """The charts with prices of which fewer than two are known from elsewhere, and how many are."""
    counts = Counter(row.chart_id for row in reference.rows(TABLE))
    priced = {row.chart_id for name in _PRICES for row in reference.rows(name)}
    charts = (row.chart_id for row in reference.rows("award_charts.csv"))
    return {chart: counts[chart] for chart in charts if chart in priced and counts[chart] < LEAST}
