"""Keys of the files of facts: what names a row, how rows are sorted, and which must not hold on the same day."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import pairwise
from operator import attrgetter
from typing import Any

Tables = Mapping[str, Mapping[int, Any]]  # rows by line, by file
# The key of each file: unique, and the sort order of its rows.
KEYS: dict[str, tuple[str, ...]] = {
    "programs.csv": ("slug",),
    "program_aliases.csv": ("alias",),
    "ambiguous_aliases.csv": ("alias",),
    "outside_names.csv": ("name",),
    "points_expiry.csv": ("program",),
    "points_pooling.csv": ("program",),
    "program_sites.csv": ("program",),
    "booking_links.csv": ("program",),
    "phantom_seats.csv": ("program", "airline"),
    "primary_hosts.csv": ("host",),
    "watched_sources.csv": ("name",),
    "transfer_partners.csv": ("from_program", "to_program", "cards", "valid_from"),
    "transfer_bonuses.csv": ("from_program", "to_program", "valid_to"),
    "award_charts.csv": ("chart_id",),
    "award_chart_gaps.csv": ("program", "scope"),
    "award_chart_zones.csv": ("chart_id", "cabin", "from_zone", "to_zone", "season"),
    "award_chart_bands.csv": ("chart_id", "cabin", "season", "min_miles"),
    "award_zone_members.csv": ("zone_system", "zone"),
    "award_chart_checks.csv": ("chart_id", "airline", "origin", "destination", "cabin", "season"),
    "airlines.csv": ("iata", "icao"),
    "airline_facts.csv": ("airline", "topic", "value"),
    "alliance_members.csv": ("airline", "valid_from"),
    "alliance_tiers.csv": ("program", "alliance_tier"),
    "routes.csv": ("carrier", "origin", "destination"),
    "route_lists.csv": ("carrier", "area"),
    "home_areas.csv": ("kind", "area"),
    "scheduled_airports.csv": ("country",),
    "cards.csv": ("slug",),
    "card_earn.csv": ("card_slug", "category", "valid_from"),
    "card_credits.csv": ("card_slug", "credit", "valid_from"),
    "card_fees.csv": ("card_slug",),
    "issuer_rules.csv": ("rule", "valid_from"),
    "welcome_offers.csv": ("card_slug", "valid_from"),
    "voucher_types.csv": ("slug",),
    "hotels.csv": ("slug",),
    "hotel_categories.csv": ("hotel", "valid_from"),
    "hotel_lists.csv": ("list",),
    "hotel_point_values.csv": ("program", "points"),
    "hotel_list_members.csv": ("country", "city", "name"),
    "lounges.csv": ("slug",),
    "lounge_entry.csv": ("network", "holder", "valid_from"),
    "lounge_memberships.csv": ("membership",),
    "other_servers.csv": ("name",),
    "buy_points.csv": ("program",),
    "continents.csv": ("continent", "countries"),
    "city_spellings.csv": ("name",),
    "climate_normals.csv": ("airport",),
    "mail_forwarders.csv": ("domain",),
    "mail_senders.csv": ("domain",),
    "region_spellings.csv": ("country", "name"),
    "uk_duty_rates.csv": ("band", "lowest_class", "valid_from"),
    "uk_duty_destinations.csv": ("country",),
    "uk_duty_exempt_airports.csv": ("airport",),
    "folio/rules.csv": ("id",),
    "folio/line_kinds.csv": ("rank", "language"),
    "folio/benefits.csv": ("chain", "tier", "benefit"),
    "folio/food_credits.csv": ("chain", "brand"),
    "folio/dispute_refs.csv": ("id",),
    "folio/chains.csv": ("chain",),
    "statements/layouts.csv": ("layout",),
    "statements/headers.csv": ("layout", "number"),
    "statements/merchants.csv": ("rank",),
    "statements/chains.csv": ("name", "country"),
    "statements/mcc.csv": ("mcc",),
    "statements/issuer_categories.csv": ("issuer", "name"),
    "statements/line_types.csv": ("layout", "type"),
}

# What a dated fact is about: rows with the same values must not hold on the same day.
DATED: dict[str, tuple[str, ...]] = {
    "alliance_members.csv": ("airline",),
    "lounge_entry.csv": ("network", "holder"),
    "transfer_partners.csv": ("from_program", "to_program", "cards"),
    "transfer_bonuses.csv": ("from_program", "to_program", "targeted"),
    "points_sales.csv": ("program", "kind", "targeted"),
    "award_charts.csv": ("chart_id",),
    "cards.csv": ("slug",),
    "card_earn.csv": ("card_slug", "category"),
    "card_credits.csv": ("card_slug", "credit"),
    "issuer_rules.csv": ("rule",),
    "welcome_offers.csv": ("card_slug",),
    "elite_tiers.csv": ("program", "tier", "metric"),
    "status_matches.csv": ("offer_id",),
    "uk_duty_rates.csv": ("band", "lowest_class"),
    "hotel_categories.csv": ("hotel",),
    "hyatt_award_chart.csv": ("program", "category", "level", "room"),
}


def list_rows(tables: Tables, name: str) -> Iterator[tuple[str, Any]]:
    """Each row of a file with its file and line."""
    for number, row in tables[name].items():
        yield f"{name}:{number}", row


def sort_key(values: Iterable[Any]) -> tuple[tuple[bool, Any], ...]:
    """The values of a key as rows are sorted by them: an empty cell comes first."""
    return tuple((value is not None, value) for value in values)


def check_keys(tables: Tables) -> Iterator[str]:
    for name, fields in KEYS.items():
        read_key = attrgetter(*fields)
        before: Any = None
        for number, row in tables[name].items():
            key = read_key(row)
            if before is not None and not _is_sorted(before, key):
                values = key if len(fields) > 1 else (key,)
                same = f"{' '.join(map(str, values))} stands twice"
                order = f"rows are sorted by {', '.join(fields)}, and this one is out of order"
                yield f"{name}:{number}: {same if key == before else order}"
            before = key


def _is_sorted(before: Any, key: Any) -> bool:
    """Whether two keys are in order. Plain comparison is enough unless an empty cell decides."""
    try:
        return bool(before < key)
    except TypeError:
        first, second = ((k if isinstance(k, tuple) else (k,)) for k in (before, key))
        return sort_key(first) < sort_key(second)


def check_windows(tables: Tables) -> Iterator[str]:
    """A dated fact begins before it ends, and no two rows about the same thing hold on one day."""
    for name in DATED:
        windows: dict[tuple[Any, ...], list[tuple[str, Any]]] = {}
        for where, row in list_rows(tables, name):
            if row.known_from and row.valid_to and row.known_from > row.valid_to:
                yield f"{where}: it ends before it starts"
            windows.setdefault(tuple(getattr(row, f) for f in DATED[name]), []).append((where, row))
        for rows in windows.values():
            yield from _find_overlaps(rows)


def _find_overlaps(rows: list[tuple[str, Any]]) -> Iterator[str]:
    ordered = sorted(rows, key=lambda pair: pair[1].known_from or date.min)
    for (earlier, before), (where, row) in pairwise(ordered):
        if (row.known_from or date.min) <= (before.valid_to or date.max):
            yield f"{where}: it overlaps in time with {earlier}; end one before the other begins"
