"""Facts that could stand in two places: the one home of each, so that two answers never differ."""

from collections.abc import Iterator
from statistics import median

from shared.reference.keys import Tables, list_rows

# Of each file: the column that says what a row is about, and which of its values have another home.
OTHER_HOMES: dict[str, tuple[str, dict[str, str]]] = {
    "program_facts.csv": (
        "topic",
        {"expiry": "points_expiry.csv", "pooling": "points_pooling.csv", "change_cancel_fee": "cancellation_fees.csv"},
    ),
    "status_earning_rules.csv": (
        "rule",
        {"xp_per_segment": "elite_flying_blue_xp.csv", "tier_threshold": "elite_tiers.csv"},
    ),
}


def find_faults(tables: Tables) -> Iterator[str]:
    """Rows about something another file is the home of, and values of points no publisher gave."""
    yield from _find_unpublished_values(tables)
    for name, (field, homes) in OTHER_HOMES.items():
        for where, row in list_rows(tables, name):
            if home := homes.get(getattr(row, field)):
                yield f"{where}: {field} {getattr(row, field)!r} stands in {home}"


def _find_unpublished_values(tables: Tables) -> Iterator[str]:
    """The usual value of a point is the median of the published ones: opinions of publishers, never ours."""
    for where, row in list_rows(tables, "programs.csv"):
        published = [v for v in (row.value_tpg, row.value_upgraded_points, row.value_omaat) if v is not None]
        if row.value_usd_cents != (median(published) if published else None):
            yield f"{where}: value_usd_cents {row.value_usd_cents} is not the median of the published values"
