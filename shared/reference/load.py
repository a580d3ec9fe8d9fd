"""Loading of the reference data: one frozen, checked `Reference` per process."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from shared.domain import names
from shared.domain.card_credits import CYCLES
from shared.domain.issuer_rules import COUNTING, KINDS
from shared.domain.plans import CABINS
from shared.domain.status_tiers import Requirement, parse_ways
from shared.processes.garbage_collection import pause_collection
from shared.reference import (
    airlines,
    airports,
    booking_links,
    fact_life,
    flights,
    folio,
    keys,
    known_prices,
    lounges,
    phantom_seats,
    spending,
    surcharges,
    watched_sources,
)
from shared.reference.fact_life import ANY
from shared.reference.keys import Tables, list_rows
from shared.reference.overrides import Override, apply_overrides
from shared.reference.provenance import check_provenance
from shared.reference.reference import Reference
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact
from shared.reference.tables import ReferenceError, read_rows

# The one home of each fact that could be in two places, so that two answers never differ.

# For each file: the column with a row's subject, and the values that belong in another file.
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


def find_home_faults(tables: Tables) -> Iterator[str]:
    """Rows that belong in another file, and values of points without a publisher."""
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


# Consistency checks over all files of facts, each fault with file and line.

_KINDS = ("airline", "hotel", "bank")
_OUTSIDE_KINDS = (*_KINDS, "rail", "shop")
_CHART_KINDS = (
    "distance_bands",
    "zones",
    "zones_then_distance",
    "distance_then_zones",
    "domestic_fixed",
    "dynamic",
    "not_captured",
)
_SEASONS = ("any", "lowest", "off_peak", "standard", "peak")
_PRICES = ("award_chart_bands.csv", "award_chart_zones.csv")
_MIN_RATIO, _MAX_RATIO = Decimal("0.03"), Decimal(20)  # points worth a dollar become miles
_RANGES: dict[str, tuple[str, Decimal | int, Decimal | int]] = {
    "programs.csv": ("value_usd_cents", Decimal("0.1"), 10),
    "release_windows.csv": ("days_before_departure", 200, 370),
    "earning_rates.csv": ("percent_of_distance", 0, 500),
    "cards.csv": ("annual_fee", 0, 3_000),
    "card_earn.csv": ("multiplier", 0, 26),
    "card_credits.csv": ("amount", 1, 2_000),
    "card_fees.csv": ("foreign_fee_percent", 0, 5),
    "issuer_rules.csv": ("limit", 1, 10),
    "welcome_offers.csv": ("amount", 50, 500_000),
    "hyatt_award_chart.csv": ("points", 3_000, 75_000),
    "climate_normals.csv": ("jan", -50, 40),
    "voucher_types.csv": ("validity_months", 1, 60),
}
_SMALL_UNITS = {"HKD": 10, "INR": 100, "JPY": 200}  # of which this many are at most a dollar: fees in them are higher
_PROGRAMME_FIELDS = ("program", "from_program", "to_program", "booked_with")


def find_faults(tables: Tables, airports: Collection[str], broken: Collection[str] = ()) -> list[str]:
    """Every fault across the files; an empty list means the facts can be used.

    Skips a check that looks up keys in a file with unreadable rows: it would blame correct rows.
    """
    out: list[str] = []
    for check, looks_in in _CHECKS.items():
        if not any(name in broken for name in looks_in):
            out += check(tables)
    return out + list(_check_airports(tables, airports))


def _check_programmes(tables: Tables) -> Iterator[str]:
    slugs = {row.slug for row in tables["programs.csv"].values()}
    for where, row in list_rows(tables, "programs.csv"):
        if row.kind not in _KINDS:
            yield f"{where}: kind {row.kind!r} is not one of {', '.join(_KINDS)}"
    for name, rows in tables.items():
        fields = [f for f in _PROGRAMME_FIELDS if rows and hasattr(next(iter(rows.values())), f)]
        for where, row in list_rows(tables, name) if fields else ():
            for field in fields:
                if (slug := getattr(row, field)) is not None and slug not in slugs:
                    yield f"{where}: {field} {slug!r} is not a programme of programs.csv"


def _check_sites(tables: Tables) -> Iterator[str]:
    """Checks that links for spending points lead to the programme's host."""
    hosts = {row.host for row in tables["primary_hosts.csv"].values()}
    for where, row in list_rows(tables, "program_sites.csv"):
        parts = urlsplit(row.booking_url)
        if parts.scheme != "https" or (parts.hostname or "").removeprefix("www.") not in hosts:
            yield f"{where}: {row.booking_url!r} is no https address of a host in primary_hosts.csv"


def _check_names(tables: Tables) -> Iterator[str]:
    """Checks that a name means one programme, or is listed with all its meanings.

    A bank's bare name means none of its programmes of countries, unless one of them has the slug without a country.
    """
    slugs = {row.slug: row for row in tables["programs.csv"].values()}
    shared = {row.alias for row in tables["ambiguous_aliases.csv"].values()}
    countries: dict[str, set[str]] = defaultdict(set)  # of banks, by the first words of their names
    for row in slugs.values():
        words = names.normalize_name(row.name).split() if row.kind == "bank" else []
        for count in range(1, len(words)):
            countries[" ".join(words[:count])].add(row.home_country)
    for where, row in list_rows(tables, "program_aliases.csv"):
        if row.alias in shared:
            yield f"{where}: {row.alias!r} is also listed as ambiguous"
        elif len(row.program.rpartition("-")[2]) == 2 and row.program in slugs:
            elsewhere = countries[names.normalize_name(row.alias)] - {slugs[row.program].home_country}
            if elsewhere:
                also = ", ".join(sorted(elsewhere))
                yield f"{where}: programmes of {also} begin with {row.alias!r} too: list all in ambiguous_aliases.csv"
    for where, row in list_rows(tables, "ambiguous_aliases.csv"):
        yield from (f"{where}: {c!r} is not a programme" for c in row.candidates if c not in slugs)


def _check_ratios(tables: Tables) -> Iterator[str]:
    """Checks a transfer by itself, without other files."""
    for where, row in list_rows(tables, "transfer_partners.csv"):
        if row.ratio_from is None or row.ratio_to is None:
            if row.status != "doubtful" or row.ratio_from != row.ratio_to:
                yield f"{where}: a route without a ratio is doubtful, and has neither ratio_from nor ratio_to"
        elif row.ratio_from <= 0 or row.ratio_to <= 0:
            yield f"{where}: a ratio must be positive"
        elif not _MIN_RATIO <= row.ratio_to / row.ratio_from <= _MAX_RATIO:
            yield f"{where}: {row.ratio_from}:{row.ratio_to} is not a believable ratio"
        if row.from_program == row.to_program:
            yield f"{where}: a programme cannot transfer to itself"
        if row.posting_class not in ("instant", "hours", "days", "unknown"):
            yield f"{where}: posting_class {row.posting_class!r} is not known"
    for where, row in list_rows(tables, "transfer_bonuses.csv"):
        if not 1 <= row.bonus_percent <= 300:
            yield f"{where}: bonus_percent {row.bonus_percent} is outside 1 to 300"


def _check_transfers(tables: Tables) -> Iterator[str]:
    cards = {row.slug for row in tables["cards.csv"].values()}
    edges = {(row.from_program, row.to_program) for row in tables["transfer_partners.csv"].values()}
    for where, row in list_rows(tables, "transfer_partners.csv"):
        yield from (f"{where}: card {card!r} is not in cards.csv" for card in row.cards if card not in cards)
    for where, row in list_rows(tables, "transfer_bonuses.csv"):
        if (row.from_program, row.to_program) not in edges:
            yield f"{where}: a bonus on a route that transfer_partners.csv does not list"


def _check_charts(tables: Tables) -> Iterator[str]:
    zones = {(row.zone_system, row.zone) for row in tables["award_zone_members.csv"].values()}
    systems = {system for system, _ in zones}
    priced_charts = {row.chart_id for n in _PRICES for row in tables[n].values()}
    for where, row in list_rows(tables, "award_charts.csv"):
        if row.chart_type not in _CHART_KINDS:
            yield f"{where}: chart_type {row.chart_type!r} is not known"
        elif row.chart_type not in ("dynamic", "not_captured") and row.chart_id not in priced_charts:
            yield f"{where}: {row.chart_id} has no prices"
        if row.zone_system and row.zone_system not in systems:
            yield f"{where}: zone_system {row.zone_system!r} has no members"
        named = row.route_scope.replace(" to ", "+").split("+") if row.route_scope else ()
        yield from (
            f"{where}: {z!r} is no zone of {row.zone_system}" for z in named if (row.zone_system, z) not in zones
        )


def _check_prices(tables: Tables) -> Iterator[str]:
    charts = {row.chart_id for row in tables["award_charts.csv"].values()}
    for name in _PRICES:
        for where, row in list_rows(tables, name):
            if row.chart_id not in charts:
                yield f"{where}: chart_id {row.chart_id!r} is not in award_charts.csv"
            if row.cabin not in CABINS:
                yield f"{where}: cabin {row.cabin!r} is not a cabin"
            if row.season not in _SEASONS:
                yield f"{where}: season {row.season!r} is not one of {', '.join(_SEASONS)}"
            if not 1_000 <= row.points <= 600_000:
                yield f"{where}: {row.points} points is outside 1,000 to 600,000"


def _check_bands(tables: Tables) -> Iterator[str]:
    """Checks that bands of a chart, cabin and season do not overlap and never get cheaper with distance."""
    before: Any = None
    for where, row in list_rows(tables, "award_chart_bands.csv"):
        same = before and (row.chart_id, row.cabin, row.season) == (before.chart_id, before.cabin, before.season)
        if same and (before.max_miles is None or row.min_miles <= before.max_miles):
            yield f"{where}: the band overlaps the one before it"
        if same and row.points < before.points:
            yield f"{where}: the price falls from {before.points} to {row.points}"
        before = row


def _check_zones(tables: Tables) -> Iterator[str]:
    continents = {row.continent for row in tables["continents.csv"].values()}
    for where, row in list_rows(tables, "award_zone_members.csv"):
        yield from (f"{where}: {c!r} is not a continent" for c in row.continents if c not in continents)
        for field in ("countries", "countries_exclude", "regions", "regions_exclude", "airports", "airports_exclude"):
            yield from (f"{where}: {field} {c!r} is not in capitals" for c in getattr(row, field) if c != c.upper())


def _check_ranges(tables: Tables) -> Iterator[str]:
    """Numbers outside the range of plausible values: typing errors."""
    for name, (field, least, most) in _RANGES.items():
        for where, row in list_rows(tables, name):
            top = most * _SMALL_UNITS.get(getattr(row, "fee_currency", ""), 1)
            if (value := getattr(row, field)) is not None and not least <= value <= top:
                yield f"{where}: {field} {value} is outside {least} to {top}"


def _check_tiers(tables: Tables) -> Iterator[str]:
    """Checks that a higher tier never needs less of the same metric."""
    reached: dict[tuple[str, str], int] = {}
    for where, row in sorted(list_rows(tables, "elite_tiers.csv"), key=lambda pair: pair[1].rank):
        below = reached.get((row.program, row.metric), 0)
        if 0 < row.threshold < below:
            yield f"{where}: {row.tier} asks for less {row.metric} than the tier below it"
        reached[row.program, row.metric] = max(row.threshold, below)


def _check_tier_ways(tables: Tables) -> Iterator[str]:
    """Checks that ways to a tier are readable, and that the first has the tier's threshold."""
    for where, row in list_rows(tables, "elite_tiers.csv"):
        try:
            ways = parse_ways(row.ways)
            parse_ways(row.keep_ways)
        except ValueError:
            yield f"{where}: ways and keep_ways are counters with their numbers, such as pqp:22000+pqf:60"
            continue
        if ways and row.threshold and Requirement(row.metric, row.threshold) not in ways[0]:
            yield f"{where}: the first way does not ask for {row.threshold} {row.metric}"


def _check_earning(tables: Tables) -> Iterator[str]:
    paid: set[tuple[str, ...]] = set()
    for where, row in list_rows(tables, "earning_rates.csv"):
        for letter in row.booking_classes:
            key = (row.program, row.airline, row.scope, letter)
            if key in paid:
                yield f"{where}: booking class {letter} of {row.airline} is paid twice"
            paid.add(key)


_EARNED_BY_CARD = ("each anniversary with", "a year with")


def _check_cards(tables: Tables) -> Iterator[str]:
    slugs = {row.slug for row in tables["cards.csv"].values()}
    for name in ("card_earn.csv", "card_credits.csv", "card_fees.csv", "welcome_offers.csv"):
        for where, row in list_rows(tables, name):
            if row.card_slug not in slugs:
                yield f"{where}: card_slug {row.card_slug!r} is not in cards.csv"
    vouchers = {row.slug for row in tables["voucher_types.csv"].values()}
    earned = {slug for row in tables["cards.csv"].values() for slug in row.voucher_slugs}
    for where, row in list_rows(tables, "cards.csv"):
        yield from (
            f"{where}: voucher {v!r} is not in voucher_types.csv" for v in row.voucher_slugs if v not in vouchers
        )
    for where, row in list_rows(tables, "voucher_types.csv"):
        if row.slug not in earned and any(words in row.how_earned for words in _EARNED_BY_CARD):
            yield f"{where}: a card earns {row.slug} each year, and no card of cards.csv has it"


def _check_card_rules(tables: Tables) -> Iterator[str]:
    """Checks for known cycles and kinds, and for an issuer and cards of the catalogue."""
    cards = {row.slug: row for row in tables["cards.csv"].values()}
    issuers = {(card.issuer, card.country) for card in cards.values()}
    for where, row in list_rows(tables, "card_fees.csv"):
        if row.foreign_fee_percent is None and row.additional_card_fee is None:
            yield f"{where}: neither a fee abroad nor one of an additional card is known"
        if row.confidence == "low":
            yield f"{where}: a fee of confidence low would be told as certain"
    for where, row in list_rows(tables, "card_credits.csv"):
        if row.cycle not in CYCLES:
            yield f"{where}: cycle {row.cycle!r} is not one of {', '.join(CYCLES)}"
    for where, row in list_rows(tables, "issuer_rules.csv"):
        if row.kind not in KINDS:
            yield f"{where}: kind {row.kind!r} is not one of {', '.join(KINDS)}"
        if (row.issuer, row.country) not in issuers:
            yield f"{where}: no card of {row.issuer} in {row.country} is in cards.csv"
        if row.kind in COUNTING and row.limit is None:
            yield f"{where}: kind {row.kind} needs a limit"
        named = (card for card in (*row.cards, *row.blockers) if card != ANY and card not in cards)
        yield from (f"{where}: card {card!r} is not in cards.csv" for card in named)


_HOTEL_CATEGORIES = frozenset("12345678ABCDEF")


def _check_hotels(tables: Tables) -> Iterator[str]:
    slugs = {row.slug for row in tables["hotels.csv"].values()}
    for where, row in list_rows(tables, "hotels.csv"):
        if (row.lat is None) != (row.lon is None):
            yield f"{where}: of a place both lat and lon are known, or neither"
    for where, row in list_rows(tables, "hotel_categories.csv"):
        if row.hotel not in slugs:
            yield f"{where}: hotel {row.hotel!r} is not in hotels.csv"
        if row.category not in _HOTEL_CATEGORIES:
            yield f"{where}: category {row.category!r} is not 1 to 8 or A to F"
    yield from _find_free_night_faults(tables)
    lists = {row.list for row in tables["hotel_lists.csv"].values()}
    for where, row in list_rows(tables, "hotel_list_members.csv"):
        if row.hotel is not None and row.hotel not in slugs:
            yield f"{where}: hotel {row.hotel!r} is not in hotels.csv"
        yield from (f"{where}: {name!r} is not in hotel_lists.csv" for name in row.lists if name not in lists)


def _find_free_night_faults(tables: Tables) -> Iterator[str]:
    cards = {row.slug for row in tables["cards.csv"].values()}
    tiers = {(row.program, row.tier) for row in tables["elite_tiers.csv"].values()}
    for where, row in list_rows(tables, "hotel_programmes.csv"):
        if row.free_night_every is not None and not 3 <= row.free_night_every <= 7:
            yield f"{where}: free_night_every {row.free_night_every} is not 3 to 7"
        if row.free_night_tier is not None and (row.program, row.free_night_tier) not in tiers:
            yield f"{where}: free_night_tier {row.free_night_tier!r} is no tier of {row.program}"
        yield from (f"{where}: {slug!r} is not in cards.csv" for slug in row.free_night_cards if slug not in cards)


def _check_vouchers(tables: Tables) -> Iterator[str]:
    """Checks that limits can be compared with a booking: known cabins, airlines and categories, and bounds in order."""
    airlines_known = {row.iata for row in tables["airlines.csv"].values()}
    for where, row in list_rows(tables, "voucher_types.csv"):
        for field, allowed in (
            ("cabins", CABINS),
            ("airlines", airlines_known),
            ("categories", _HOTEL_CATEGORIES),
        ):
            yield from (f"{where}: {field} {v!r} is not known" for v in getattr(row, field) if v not in allowed)
        for field, low, high in (
            ("min_people", 1, 9),
            ("max_people", row.min_people or 1, 9),
            ("max_nights", 1, 30),
            ("max_points", 5_000, 200_000),
        ):
            if (number := getattr(row, field)) is not None and not low <= number <= high:
                yield f"{where}: {field} {number} is not {low} to {high}"
        if not all(0 < share <= 1 for share in (row.companion_share, row.solo_share) if share is not None):
            yield f"{where}: companion_share and solo_share are above 0 and at most 1"
        if row.added_points is not None and row.max_points is None:
            yield f"{where}: added_points {row.added_points!r} is of a voucher without max_points"
        if row.added_points not in (None, "any") and not row.added_points.isdecimal():
            yield f"{where}: added_points {row.added_points!r} is not a number or any"


_VOUCHER_KINDS = ("companion", "upgrade", "free_night", "credit", "lounge")
_POINT_VALUE_KINDS = ("night", "bill")
_OFFER_KINDS = ("match", "challenge")
_EARN_UNITS = ("points_per_unit", "percent")


def _check_kinds(tables: Tables) -> Iterator[str]:
    """Checks values that results declare as enumerations."""
    for name, field, allowed in (
        ("outside_names.csv", "kind", _OUTSIDE_KINDS),
        ("voucher_types.csv", "kind", _VOUCHER_KINDS),
        ("voucher_types.csv", "booking_kind", (None, "award", "cash")),
        ("voucher_types.csv", "used_by", (None, "booking", "travel")),
        ("status_matches.csv", "kind", _OFFER_KINDS),
        ("status_matches.csv", "from_kind", (None, "airline", "hotel")),
        ("card_earn.csv", "unit", _EARN_UNITS),
        ("hotel_point_values.csv", "kind", _POINT_VALUE_KINDS),
    ):
        for where, row in list_rows(tables, name):
            if (value := getattr(row, field)) not in allowed:
                yield f"{where}: {field} {value!r} is not one of {', '.join(filter(None, allowed))}"


def _check_status_matches(tables: Tables) -> Iterator[str]:
    slugs = {row.slug for row in tables["programs.csv"].values()}
    tiers = {(row.program, row.tier) for row in tables["elite_tiers.csv"].values()}
    tiered = {program for program, _ in tiers}
    for where, row in list_rows(tables, "status_matches.csv"):
        yield from (f"{where}: {p!r} is not a programme" for p in row.from_programs if p not in (ANY, *slugs))
        if row.to_program in tiered and (row.to_program, row.to_tier) not in tiers:
            yield f"{where}: {row.to_tier!r} is no tier of {row.to_program}"


# Each check, with the files it looks keys up in.
_CHECKS: dict[Callable[[Tables], Iterator[str]], tuple[str, ...]] = {
    _check_sites: ("program_sites.csv", "primary_hosts.csv"),
    keys.check_keys: (),
    keys.check_windows: (),
    _check_programmes: ("programs.csv",),
    _check_names: ("programs.csv", "ambiguous_aliases.csv"),
    _check_ratios: (),
    _check_transfers: ("transfer_partners.csv", "cards.csv"),
    _check_charts: ("award_zone_members.csv",),
    _check_prices: ("award_charts.csv",),
    _check_bands: (),
    _check_zones: ("continents.csv",),
    _check_ranges: (),
    _check_tiers: (),
    _check_tier_ways: (),
    _check_earning: (),
    _check_cards: ("cards.csv", "voucher_types.csv"),
    _check_card_rules: ("cards.csv",),
    _check_vouchers: ("voucher_types.csv", "airlines.csv"),
    _check_hotels: ("hotels.csv", "hotel_lists.csv", "hotel_programmes.csv", "cards.csv", "elite_tiers.csv"),
    surcharges.find_faults: (),
    booking_links.find_faults: ("primary_hosts.csv",),
    phantom_seats.find_faults: ("airlines.csv",),
    lounges.find_faults: ("lounge_memberships.csv", "cards.csv", "elite_tiers.csv"),
    _check_kinds: (),
    _check_status_matches: ("programs.csv", "elite_tiers.csv"),
    find_home_faults: (),
    fact_life.find_faults: (),
    fact_life.find_alliance_faults: ("alliance_members.csv", "programs.csv"),
    fact_life.find_partner_faults: ("programs.csv", "program_partners.csv"),
    airlines.find_faults: ("airlines.csv", "programs.csv"),
    flights.find_faults: flights.TABLES,
    folio.find_faults: tuple(folio.TABLES),
    spending.find_faults: tuple(spending.TABLES),
    watched_sources.find_faults: (watched_sources.TABLE,),
}

_AIRPORT_FIELDS: dict[str, Callable[[Any], Iterable[str]]] = {
    "routes.csv": lambda row: (row.origin, row.destination),
    "lounges.csv": lambda row: (row.airport,),
    "uk_duty_exempt_airports.csv": lambda row: (row.airport,),
    "climate_normals.csv": lambda row: (row.airport,),
    "scheduled_airports.csv": lambda row: row.airports,
    "airline_facts.csv": lambda row: (row.value,) if row.topic == "hub" else (),
    "status_run_routes.csv": lambda row: row.routing.split("-"),
}


def _check_airports(tables: Tables, airports: Collection[str]) -> Iterator[str]:
    for name, codes in _AIRPORT_FIELDS.items():
        for where, row in list_rows(tables, name):
            yield from (f"{where}: {code!r} is not an airport" for code in codes(row) if code not in airports)


__all__ = ["FOLDER", "Reference", "ReferenceError", "load", "reference", "replace"]

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Loaded:
    reference: Reference
    tables: dict[str, list[Any]]
    seconds: float


def read_tables(folder: Path, overrides: Sequence[Override] = ()) -> dict[str, list[Any]]:
    """Every file's rows, with the corrections applied. Raises ReferenceError naming all faults at once."""
    return load(folder, overrides).tables


def _read_lines(folder: Path, overrides: Sequence[Override]) -> dict[str, dict[int, Any]]:
    faults: list[str] = []
    lines: dict[str, dict[Any, Any]] = {}
    broken: set[str] = set()
    for name, row in FILES.items():
        before = len(faults)
        lines[name] = read_rows(folder, name, row, faults)
        if len(faults) > before:
            broken.add(name)
    apply_overrides(lines, overrides, faults)
    hosts = frozenset(row.host for row in lines["primary_hosts.csv"].values())
    for name, row in FILES.items():
        if issubclass(row, Fact):
            faults += check_provenance(name, lines[name], hosts)
    faults += find_faults(lines, airports.load_codes(), broken)
    if faults:
        raise ReferenceError(faults)
    return lines


def load(folder: Path = FOLDER, overrides: Sequence[Override] = ()) -> Loaded:
    started = time.perf_counter()
    with pause_collection():
        lines = _read_lines(folder, overrides)
        tables = {name: list(rows.values()) for name, rows in lines.items()}
        reference = Reference(tables)
        if faults := list(known_prices.find_faults(reference, lines[known_prices.TABLE])):
            raise ReferenceError(faults)
        return Loaded(reference, tables, time.perf_counter() - started)


_current: list[Reference] = []
_loading = threading.Lock()


def reference() -> Reference:
    """Returns the facts, loaded once per process and shared, read-only, by all calls."""
    if not _current:
        with _loading:
            if not _current:
                _current.append(load().reference)
    return _current[0]


def replace(new: Reference) -> None:
    """Replaces the reference data of the process; calls in progress keep the old object."""
    _current[:] = [new]
