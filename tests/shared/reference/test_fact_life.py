"""The life of facts: what the loader refuses to count, and the prices every chart is held against."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from shared.domain.offers import find_state
from shared.reference import fact_life, keys, known_prices
from shared.reference.load import reference
from shared.reference.provenance import check_provenance
from shared.reference.reference import Reference
from shared.reference.rows import FILES
from shared.reference.rows.award_charts import RejectedCell
from shared.reference.rows.fact import OfferRow

Tables = dict[str, dict[int, Any]]


@pytest.fixture
def tables() -> Tables:
    return {name: dict(enumerate(reference().rows(name), 2)) for name in FILES}


def change(tables: Tables, name: str, where: Mapping[str, Any], **cells: Any) -> int:
    """Changes the first row with such values; its line."""
    number, row = next(
        (n, r) for n, r in tables[name].items() if all(getattr(r, field) == value for field, value in where.items())
    )
    tables[name][number] = replace(row, **cells)
    return number


def list_faults(tables: Tables) -> list[str]:
    pairs = (fact_life.find_alliance_faults(tables), fact_life.find_partner_faults(tables))
    return [*fact_life.find_faults(tables), *(fault for faults in pairs for fault in faults)]


NO_END = {"valid_to": None}
# What must not stand in a file: the file, a row, what is changed in it, and what is said of it.
SLIPS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("welcome_offers.csv", NO_END, {"note": "Special offer"}, "called special needs valid_to"),
    ("welcome_offers.csv", NO_END, {"extra": "a limited time"}, "called limited needs valid_to"),
    ("welcome_offers.csv", NO_END, {"note": "raised from 20,000"}, "called raised needs valid_to"),
    (
        "welcome_offers.csv",
        {"card_slug": "us-amex-delta-gold"},
        {"valid_to": None, "note": "50,000 after 2,000 in June"},
        "raised from 50,000 needs valid_to",
    ),
    ("status_matches.csv", NO_END, {"remark": "A promotional fee."}, "called promotional needs valid_to"),
    (
        "transfer_bonuses.csv",
        {"from_program": "citi-thankyou-rewards", "to_program": "cathay-asia-miles"},
        {"valid_from": date(2026, 8, 28)},
        "it holds one day only",
    ),
    (
        "transfer_bonuses.csv",
        {"from_program": "marriott-bonvoy"},
        {"valid_from": date(2026, 10, 5), "note": "only its last day is known"},
        "leave valid_from empty",
    ),
    ("transfer_partners.csv", {"status": "active"}, {"status": "perhaps"}, "is not one of active, ended, doubtful"),
    (
        "transfer_partners.csv",
        {"status": "doubtful", "source_url": "general knowledge"},
        {"status": "active"},
        "no page with a day shows an active route",
    ),
    (
        "transfer_partners.csv",
        {"status": "active", "confidence": "low", "valid_to": None},
        {"note": "an undated guide"},
        "no page with a day shows an active route",
    ),
    (
        "transfer_partners.csv",
        {"status": "active", "note": None},
        {"note": "two lists no longer have it"},
        "the status is doubtful or ended",
    ),
    *(
        ("transfer_partners.csv", {"status": "active", "note": None}, {"note": note}, "the status is doubtful or ended")
        for note in (
            "another country's ratio fell: check the ratio",
            "lists of August name Flying Club only; use that route",
        )
    ),
    ("transfer_partners.csv", {"status": "active", "note": None}, {"status": "doubtful"}, "says in its note why"),
    (  # SAS left Star Alliance in 2024
        "carrier_surcharges.csv",
        {"booked_with": "ana-mileage-club", "operating_carrier": "AC"},
        {"operating_carrier": "SK"},
        "program_partners.csv has no SK for ana-mileage-club",
    ),
    (  # ITA Airways joined on 1 April 2026, and Miles & More had no row for it
        "program_partners.csv",
        {"program": "lufthansa-miles-and-more", "airline": "A3"},
        {"airline": "B6"},
        "lufthansa-miles-and-more has no row for it",
    ),
    (
        "transfer_partners.csv",
        {"status": "active"},
        {"note": "a partner, but no page shows its ratio; that of KrisFlyer is shown"},
        "leave ratio_from and ratio_to empty",
    ),
    ("issuer_rules.csv", {"rule": "citi-48"}, {"cards": ()}, "it is not known whom it holds for"),
    ("issuer_rules.csv", {"rule": "citi-8"}, {"cards": ("*", "us-citi-strata")}, "cards holds * for all, and others"),
    ("issuer_rules.csv", {"rule": "chase-24"}, {"months": None}, "its text says 24 months, and months holds None"),
    ("issuer_rules.csv", {"rule": "citi-65"}, {"days": 64}, "its text says 65 days, and days holds 64"),
    ("award_charts.csv", {"chart_id": "cx_self"}, {"note": "the split is not known"}, "take out the prices"),
    (
        "award_charts.csv",
        {"chart_id": "cx_self"},
        {"remark": "Some destinations cost more than others."},
        "take out the prices",
    ),
    (
        "program_facts.csv",
        {"program": "ana-mileage-club", "topic": "infants"},
        {"answer": "10% of the miles; a child with a seat the same as an adult"},
        "of the topic children",
    ),
    (
        "program_facts.csv",
        {"program": "atmos-rewards", "topic": "partner_end"},
        {"answer": "awards on LATAM flights end on 2026-10-01"},
        "which is wrong after that day",
    ),
]


def test_the_files_have_none_of_these_faults(tables: Tables) -> None:
    assert list_faults(tables) == []


def test_each_fault_is_told_with_its_line(tables: Tables) -> None:
    for name, where, cells, text in SLIPS:
        broken = {file: dict(rows) for file, rows in tables.items()}
        number = change(broken, name, where, **cells)
        faults = list_faults(broken)
        assert any(fault.startswith(f"{name}:{number}: ") and text in fault for fault in faults), (cells, faults)


def test_a_carrier_that_an_alliance_sells_is_in_it(tables: Tables) -> None:
    members = tables["alliance_members.csv"]
    others = {n: r for n, r in members.items() if r.airline != "AZ"}
    elsewhere = {n: replace(r, alliance="oneworld") if r.airline == "AZ" else r for n, r in members.items()}
    for tables["alliance_members.csv"] in (others, elsewhere):
        (fault,) = fact_life.find_alliance_faults(tables)
        assert fault.startswith("program_partners.csv:")
        assert "programmes of star_alliance sell AZ by the alliance" in fault


def test_a_partner_by_an_alliance_ends_with_its_membership() -> None:
    """Asiana leaves Star Alliance on 16 December 2026."""
    sold = [reference().partner("ana-mileage-club", "OZ", date(2026, 12, day)) for day in (16, 17)]
    assert sold == [True, False]
    assert reference().partner("ana-mileage-club", "UA", date(2026, 12, 17))


def test_a_value_from_memory_makes_its_row_low(tables: Tables) -> None:
    hosts = frozenset(row.host for row in reference().rows("primary_hosts.csv"))
    pair = {"from_program": "british-airways-club", "to_program": "iberia-club"}
    number = change(tables, "transfer_partners.csv", pair, posting_source="general knowledge")
    (fault,) = check_provenance("transfer_partners.csv", tables["transfer_partners.csv"], hosts)
    assert fault.startswith(f"transfer_partners.csv:{number}: posting_source is general knowledge")


def test_an_unknown_first_day_overlaps_with_nothing_before_the_source_had_it(tables: Tables) -> None:
    bonuses = tables["transfer_bonuses.csv"]
    number, row = next((n, r) for n, r in bonuses.items() if r.valid_from is None and "2026-10" in r.as_of)
    assert list(keys.check_windows({**{name: {} for name in keys.DATED}, "transfer_bonuses.csv": bonuses})) == []
    assert not row.is_valid(date(2026, 9, 1))
    assert row.is_valid(row.valid_to)
    assert number


def test_every_offer_is_past_sixty_days_after_it_was_seen() -> None:
    later = date(2027, 6, 1)
    for name, kind in FILES.items():
        if issubclass(kind, OfferRow):
            states = {find_state(row, later) for row in reference().rows(name) if row.as_of}
            assert states <= {"past", "running"}, name


# Known prices.


def build_with(**files: list[Any]) -> Reference:
    tables = {name: list(reference().rows(name)) for name in FILES}
    return Reference(tables | {f"{name}.csv": rows for name, rows in files.items()})


def find_price_faults(facts: Reference) -> list[str]:
    return list(known_prices.find_faults(facts, dict(enumerate(facts.rows(known_prices.TABLE), 2))))


def test_a_swapped_zone_is_found() -> None:
    """EVA's dear airports of North America stood once as its cheap ones, 5,000 a way in every answer."""
    names = {"NA": "NA1", "NA1": "NA"}
    zones = [
        replace(row, zone=names.get(row.zone, row.zone)) if row.zone_system == "br_self" else row
        for row in reference().rows("award_zone_members.csv")
    ]
    faults = find_price_faults(build_with(award_zone_members=zones))
    assert len(faults) == 2
    assert all("award_chart_checks.csv:" in fault and "by br_self" in fault for fault in faults)


def test_a_changed_price_of_a_known_route_is_found() -> None:
    bands = [
        replace(row, points=row.points + 1_000) if row.chart_id == "qf_self" else row
        for row in reference().rows("award_chart_bands.csv")
    ]
    assert len(find_price_faults(build_with(award_chart_bands=bands))) == known_prices.LEAST


def test_a_known_price_names_a_chart_and_another_source() -> None:
    checks = list(reference().rows(known_prices.TABLE))
    chart = next(row for row in reference().rows("award_charts.csv") if row.chart_id == checks[0].chart_id)
    checks[0] = replace(checks[0], source_url=chart.source_url)
    checks[1] = replace(checks[1], chart_id="nowhere")
    checks[2] = replace(checks[2], origin="QQQ")
    faults = find_price_faults(build_with(award_chart_checks=checks))
    assert "another one is needed" in faults[0]
    assert "nowhere is not in award_charts.csv" in faults[1]
    assert any(fault.startswith("award_chart_checks.csv:4: ") for fault in faults)


def test_a_chart_without_two_known_prices_is_listed_and_never_high() -> None:
    unproved = known_prices.list_unproved(reference())
    charts = {row.chart_id: row for row in reference().rows("award_charts.csv")}
    assert "sk_self" in unproved
    assert "nh_self" not in unproved
    assert not [chart for chart in unproved if charts[chart].confidence == "high"]
    high = [replace(row, confidence="high") if row.chart_id == "sk_self" else row for row in charts.values()]
    faults = "; ".join(find_price_faults(build_with(award_charts=high)))
    assert "award_charts.csv: sk_self: confidence high needs 2 known prices" in faults
    assert "award_charts.csv: sk_self: confidence high needs a known price of each zone; none of " in faults


def test_each_zone_of_a_chart_that_is_high_has_a_known_price() -> None:
    """China stood once with Hong Kong in the Star Alliance chart of KrisFlyer."""
    zones = []
    for row in reference().rows("award_zone_members.csv"):
        if row.zone_system == "sq_sa" and row.zone in ("AS3", "AS5"):
            moved = [*row.countries, "CN"] if row.zone == "AS3" else [c for c in row.countries if c != "CN"]
            row = replace(row, countries=tuple(moved))
        zones.append(row)
    assert any("by sq_sa" in fault for fault in find_price_faults(build_with(award_zone_members=zones)))
    assert "sq_sa" not in known_prices.list_unreached(reference())


def test_bands_next_to_a_price_out_of_order_need_a_known_price() -> None:
    """The business prices of Delta in Flying Club stood one band off, next to two that were left out."""
    rejected = [*reference().rows("award_chart_rejected.csv"), RejectedCell("ek_g3", "economy", "price out of order")]
    checks = [row for row in reference().rows(known_prices.TABLE) if row.chart_id != "ek_g3"]
    faults = find_price_faults(build_with(award_chart_rejected=rejected, award_chart_checks=checks))
    assert faults == ["award_chart_rejected.csv: ek_g3 economy: the bands next to it need a known price"]


@pytest.mark.parametrize(
    ("program", "airline", "route", "cabin", "points"),
    [
        ("eva-air-infinity-mileagelands", "BR", ("TPE", "SFO"), "business", {"standard": 75_000}),
        ("eva-air-infinity-mileagelands", "BR", ("TPE", "ORD"), "business", {"standard": 80_000}),
        ("cathay-asia-miles", "CX", ("HKG", "NRT"), "economy", {"standard": 13_000}),
        ("cathay-asia-miles", "CX", ("HKG", "NRT"), "business", {"standard": 33_000}),
        ("cathay-asia-miles", "CX", ("HKG", "SIN"), "economy", {"standard": 9_000}),
        ("etihad-guest", "EY", ("AUH", "LHR"), "economy", {"lowest": 30_000}),
        ("atmos-rewards", "AS", ("SEA", "JFK"), "economy", {"lowest": 12_500}),
        (
            "ana-mileage-club",
            "NH",
            ("HND", "HNL"),
            "economy",
            {"off_peak": 17_500, "standard": 20_000, "peak": 32_500},
        ),
        ("thai-royal-orchid-plus", "TG", ("BKK", "PER"), "business", {"standard": 47_500}),
        ("korean-air-skypass", "KE", ("ICN", "LAX"), "business", {"off_peak": 62_500}),
        ("korean-air-skypass", "KE", ("ICN", "SIN"), "economy", {"off_peak": 20_000, "peak": 30_000}),
        ("lufthansa-miles-and-more", "SQ", ("FRA", "SIN"), "business", {"standard": 100_000}),
        ("ana-mileage-club", "UA", ("SFO", "AKL"), "business", {"standard": 72_500}),
    ],
)
def test_charts_and_kinds_of_routes(
    program: str, airline: str, route: tuple[str, str], cabin: str, points: dict[str, int]
) -> None:
    price = reference().route_price(program, airline, *route)
    assert price is not None
    assert price.cabins[cabin].points == points


def test_where_the_split_is_not_known_there_is_no_number() -> None:
    price = reference().route_price("cathay-asia-miles", "CX", "TPE", "NRT")
    assert price is not None
    assert not price.cabins


def test_anas_price_on_partners_from_japan_depends_on_the_connection_so_it_is_not_told() -> None:
    price = reference().route_price("ana-mileage-club", "UA", "NRT", "SFO")
    assert price is not None
    assert not price.cabins


def test_lifemiles_has_no_fixed_chart_of_partners() -> None:
    price = reference().route_price("avianca-lifemiles", "LH", "JFK", "FRA")
    assert price is not None
    assert price.dynamic
