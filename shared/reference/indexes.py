"""Indexes built from the rows: award charts with prices, zones, transfer edges of a day, and names."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any

from shared.domain import names
from shared.domain.airports import Zone
from shared.domain.award_charts import Chart, DistanceBand, Points, Season
from shared.domain.transfers import Bonus, Edge
from shared.reference.airlines import Airline
from shared.reference.rows.award_charts import AwardExample

Tables = dict[str, list[Any]]


def _read_season(text: str) -> Season:
    return "standard" if text == "any" else text  # type: ignore[return-value]


def build_charts(tables: Tables) -> dict[str, tuple[Chart, ...]]:
    """Every chart with its bands and zone prices, by programme."""
    bands: dict[str, dict[str, list[DistanceBand]]] = defaultdict(lambda: defaultdict(list))
    for row in tables["award_chart_bands.csv"]:
        band = DistanceBand(row.min_miles, row.max_miles, _read_season(row.season), row.points)
        bands[row.chart_id][row.cabin].append(band)
    zones: dict[str, dict[str, dict[tuple[str, str], Points]]] = defaultdict(lambda: defaultdict(dict))
    for row in tables["award_chart_zones.csv"]:
        prices = zones[row.chart_id][row.cabin].setdefault((row.from_zone, row.to_zone), {})
        prices[_read_season(row.season)] = row.points
    out: dict[str, list[Chart]] = defaultdict(list)
    for row in tables["award_charts.csv"]:
        out[row.program].append(_build_chart(row, bands[row.chart_id], zones[row.chart_id]))
    return {program: tuple(group) for program, group in out.items()}


def _build_chart(row: Any, bands: Any, zones: Any) -> Chart:
    starts, _, ends = (row.route_scope or "").partition(" to ")
    return Chart(
        chart_id=row.chart_id,
        program=row.program,
        scope=row.scope,
        carriers=frozenset(row.carriers),
        kind=row.chart_type,
        level=row.level,
        overrides=row.overrides_general,
        zone_system=row.zone_system,
        from_zones=frozenset(starts.split("+")) if starts else frozenset(),
        to_zones=frozenset(ends.split("+")) if ends else frozenset(),
        threshold_miles=row.threshold_miles,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        bands={cabin: tuple(group) for cabin, group in bands.items()},
        zones={cabin: dict(group) for cabin, group in zones.items()},
        source_url=row.source_url,
        second_source_url=row.second_source_url,
        as_of=row.as_of,
        audited_on=row.audited_on,
        confidence=row.confidence,
        remark=row.remark,
    )


def build_quotes(tables: Tables) -> dict[tuple[str, str], list[AwardExample]]:
    """The dated one-way prices that name an airline, by programme and airline."""
    out: dict[tuple[str, str], list[AwardExample]] = defaultdict(list)
    for row in tables["award_examples.csv"]:
        for airline in row.airline.split("|") if row.direction == "one_way" and row.airline != "*" else ():
            out[row.program, airline].append(row)
    return dict(out)


def build_zones(tables: Tables) -> dict[str, tuple[Zone, ...]]:
    """The zones of each zone system."""
    out: dict[str, list[Zone]] = defaultdict(list)
    for row in tables["award_zone_members.csv"]:
        out[row.zone_system].append(
            Zone(
                row.zone,
                frozenset(row.airports),
                frozenset(row.airports_exclude),
                frozenset(row.regions),
                frozenset(row.regions_exclude),
                frozenset(row.countries),
                frozenset(row.countries_exclude),
                frozenset(row.continents),
            )
        )
    return {system: tuple(group) for system, group in out.items()}


def build_edges(tables: Tables, on: date) -> Iterable[Edge]:
    """The transfer routes open on a day, each with the best bonus that runs on it; one edge for each ratio by card."""
    running: dict[tuple[str, str], Bonus] = {}
    for row in tables["transfer_bonuses.csv"]:
        if row.is_valid(on):
            bonus = Bonus(row.bonus_percent, row.valid_from, row.valid_to, row.targeted)
            running_bonus = running.get((row.from_program, row.to_program))
            # A targeted bonus reaches only some members, so it never sets the price when an open one exists.
            if running_bonus is None or (running_bonus.targeted, -running_bonus.percent) > (
                bonus.targeted,
                -bonus.percent,
            ):
                running[row.from_program, row.to_program] = bonus
    for row in tables["transfer_partners.csv"]:
        if row.is_valid(on) and (row.status == "active" or row.valid_to is not None):
            yield _build_edge(row, running.get((row.from_program, row.to_program)))


def _build_edge(row: Any, bonus: Bonus | None) -> Edge:
    return Edge(
        source=row.from_program,
        target=row.to_program,
        ratio_from=Fraction(row.ratio_from),
        ratio_to=Fraction(row.ratio_to),
        increment=row.increment,
        minimum=row.min_points,
        posting=row.posting_class,
        posting_text=row.posting_typical,
        fee=row.fee_or_tax,
        cap=row.cap,
        step=row.step_points,
        step_bonus=row.step_bonus or 0,
        block_source=row.min_increment_basis,
        region=row.region,
        bonus=bonus,
        source_url=row.source_url,
        second_source_url=row.second_source_url,
        as_of=row.as_of,
        audited_on=row.audited_on,
        confidence=row.confidence,
        note=row.note,
        cards=row.cards,
    )


def _index_names(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Names as they are compared, and what each stands for; slug or code words first make them unique."""
    index: dict[str, dict[str, None]] = defaultdict(dict)
    for name, thing in pairs:
        if spelled := names.normalize_name(name):
            index[spelled][thing] = None
    return {name: tuple(things) for name, things in index.items()}


def index_programs(tables: Tables) -> dict[str, tuple[str, ...]]:
    """Aliases decide: a shared name lists all it can mean, any other alias one programme."""
    index = _index_names((p.name, p.slug) for p in tables["programs.csv"])
    index |= {names.normalize_name(a.alias): (a.program,) for a in tables["program_aliases.csv"]}
    index |= {names.normalize_name(a.alias): tuple(a.candidates) for a in tables["ambiguous_aliases.csv"]}
    return index


def index_airlines(airlines: Iterable[Airline]) -> dict[str, tuple[str, ...]]:
    return _index_names((name, a.iata) for a in airlines for name in (a.name, a.slug or "", a.iata, a.icao))
