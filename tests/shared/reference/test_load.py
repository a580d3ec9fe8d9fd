"""The reviewed files as they are, and what happens when they are not."""

import re
import shutil
from datetime import date
from pathlib import Path

import pytest

from shared.errors import Candidates, NotFound
from shared.reference.load import FOLDER, ReferenceError, read_tables, reference
from shared.reference.rows import FILES

COUNTS = {
    "programs.csv": 90,
    "program_aliases.csv": 673,
    "outside_names.csv": 560,
    "transfer_partners.csv": 545,
    "transfer_bonuses.csv": 72,
    "award_charts.csv": 146,
    "award_chart_gaps.csv": 10,
    "award_chart_bands.csv": 1_444,
    "award_chart_zones.csv": 4_089,
    "award_zone_members.csv": 457,
    "release_windows.csv": 65,
    "cancellation_fees.csv": 32,
    "earning_rates.csv": 175,
    "airlines.csv": 270,
    "airline_facts.csv": 495,
    "alliance_members.csv": 61,
    "cards.csv": 192,
    "card_earn.csv": 595,
    "welcome_offers.csv": 113,
    "voucher_types.csv": 55,
    "hotels.csv": 1_774,
    "hotel_categories.csv": 1_729,
    "hotel_list_members.csv": 3_483,
    "hyatt_award_chart.csv": 64,
    "lounges.csv": 1_366,
    "routes.csv": 9_450,
}


def test_every_file_is_read_and_no_file_is_forgotten() -> None:
    assert sorted(p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.csv")) == sorted(FILES)
    assert {name: len(reference().rows(name)) for name in COUNTS} == COUNTS


def test_the_slugs_of_programmes_are_plain_words() -> None:
    slugs = list(reference().programs)
    assert len(slugs) == 90
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", s) for s in slugs)


def test_all_faults_are_told_at_once_with_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "data"
    shutil.copytree(FOLDER, broken)
    _edit(broken / "transfer_partners.csv", 2, ",2,1,", ",two,1,")
    _edit(broken / "programs.csv", 2, ",hotel,", ",motel,")
    _edit(broken / "airlines.csv", 1, "iata,", "code,")
    (broken / "lounges.csv").unlink()
    with pytest.raises(ReferenceError) as error:
        read_tables(broken)
    message = "\n".join(error.value.faults)
    assert "transfer_partners.csv:2: ratio_from 'two' is not a number" in message
    assert "airlines.csv:1: the header differs" in message
    assert "lounges.csv: is missing" in message


def test_faults_across_files_are_told_with_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "data"
    shutil.copytree(FOLDER, broken)
    _edit(broken / "programs.csv", 2, ",hotel,", ",motel,")
    _edit(broken / "transfer_partners.csv", 2, ",aeromexico-rewards,", ",nowhere,")
    _edit(broken / "routes.csv", 2, ",2", ",2")
    lines = (broken / "routes.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (broken / "routes.csv").write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]), encoding="utf-8")
    with pytest.raises(ReferenceError) as error:
        read_tables(broken)
    message = "\n".join(error.value.faults)
    assert "programs.csv:2: kind 'motel'" in message
    assert "transfer_partners.csv:2: to_program 'nowhere'" in message
    assert "routes.csv:3: rows are sorted by" in message


def _edit(path: Path, line: int, old: str, new: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.spec("s1.5.charts_kept_by_operator")
@pytest.mark.parametrize(
    ("program", "airline", "route", "cabin", "points"),
    [
        # jal.co.jp partner table, by distance
        ("jal-mileage-bank", "AA", ("JFK", "NRT"), "economy", 45_000),
        ("jal-mileage-bank", "AA", ("JFK", "NRT"), "first", 120_000),
        # milelion.com 2023-03-08, Etihad partner economy by distance
        ("etihad-guest", "AA", ("JFK", "LAX"), "economy", 28_000),
        ("virgin-atlantic-flying-club", "NH", ("LAX", "HND"), "business", 52_500),
        ("virgin-atlantic-flying-club", "AF", ("CDG", "JFK"), "economy", 12_000),
        ("american-airlines-aadvantage", "JL", ("JFK", "NRT"), "business", 60_000),
        ("turkish-miles-and-smiles", "TK", ("IST", "JFK"), "business", 65_000),
    ],
)
def test_known_prices(program: str, airline: str, route: tuple[str, str], cabin: str, points: int) -> None:
    there = reference().route_price(program, airline, *route)
    back = reference().route_price(program, airline, *reversed(route))
    assert there is not None
    assert back is not None
    assert there.cabins[cabin].points == {"standard": points}
    assert back.cabins[cabin].points == there.cabins[cabin].points


def test_partners_that_stand_in_the_same_charts_are_priced_once() -> None:
    facts, program = reference(), "jal-mileage-bank"
    partner, other, own = (facts.route_price(program, airline, "JFK", "NRT") for airline in ("AA", "BA", "JL"))
    assert partner is other
    assert partner is not None
    assert own is not None
    assert own.cabins != partner.cabins


def test_a_superseded_chart_no_longer_answers() -> None:
    facts, program = reference(), "british-airways-club"
    assert facts.route_price(program, "BA", "LHR", "JFK") is None
    ended = facts.last_chart_day(program)
    assert ended == date(2025, 12, 14)
    price = facts.route_price(program, "BA", "LHR", "JFK", ended)
    assert price is not None
    assert {c.chart_id for c in price.charts} == {"ba_own_2025_superseded"}
    assert facts.last_chart_day("iberia-club") is None


def test_a_dynamic_programme_has_no_price() -> None:
    price = reference().route_price("flying-blue", "AF", "CDG", "JFK")
    assert price is not None
    assert price.dynamic
    assert not price.cabins


def test_a_programme_prices_no_airline_it_has_no_awards_on() -> None:
    assert reference().route_price("british-airways-club", "SQ", "SIN", "LHR") is None


def test_names_that_fit_several_ask_and_unknown_ones_name_the_nearest() -> None:
    with pytest.raises(Candidates) as shared:
        reference().program("avios")
    assert len(shared.value.facts["candidates"]) == 6
    with pytest.raises(NotFound) as unknown:
        reference().program("flying bleu")
    assert "flying-blue" in unknown.value.facts["nearest"]
    with pytest.raises(NotFound) as unlike:
        reference().program("Nonexistent Thing 42")
    assert unlike.value.facts["nearest"] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("chaze", "chase-ultimate-rewards"), ("unitd", "united-mileageplus"), ("hyat", "world-of-hyatt")],
)
def test_the_nearest_programme_is_found_by_any_name_it_is_known_by(typed: str, meant: str) -> None:
    with pytest.raises(NotFound) as unknown:
        reference().program(typed)
    near = unknown.value.facts["nearest"]
    assert near[0] == meant
    assert len(set(near)) == len(near) <= 3


def test_every_airline_a_chart_or_an_earning_table_names_can_be_asked_about() -> None:
    named = {c for chart in reference().rows("award_charts.csv") for c in chart.carriers}
    named |= {rate.airline for rate in reference().rows("earning_rates.csv")}
    assert named <= set(reference().airlines)


def test_city_codes_stand_for_their_busiest_airport() -> None:
    assert [reference().airport(c).code for c in ("LON", "NYC", "lhr")] == ["LHR", "JFK", "LHR"]
    assert reference().miles("LON", "NYC") == 3451


def test_every_alert_airline_resolves_to_itself() -> None:
    for row in reference().airlines.values():
        assert reference().airline(row.iata) is row
        assert reference().airline(row.slug) is row


def test_bonuses_count_on_their_first_and_last_day_only() -> None:
    key = ("chase-ultimate-rewards", "ihg-one-rewards")

    def percent(day: date) -> int | None:
        result = next(e for e in reference().routes(day)[key[0]] if e.target == key[1])
        return result.bonus.percent if result.bonus else None

    days = (date(2026, 3, 31), date(2026, 4, 1), date(2026, 4, 30), date(2026, 5, 1))
    assert [percent(d) for d in days] == [None, 70, 70, None]


@pytest.mark.parametrize("code", ["LHT", "QQQ", "JFX", "ZZZ", "L"])
def test_an_unknown_airport_names_three_that_look_like_it(code: str) -> None:
    with pytest.raises(NotFound) as unknown:
        reference().airport(code)
    assert len(unknown.value.facts["nearest"]) == 3
    assert {n[0] == code[0] or n[1:] == code[1:] for n in unknown.value.facts["nearest"]} == {True}


def test_the_busiest_airport_one_letter_away_is_named_first() -> None:
    with pytest.raises(NotFound) as unknown:
        reference().airport("LHT")
    assert unknown.value.facts["nearest"][0] == "LHR"


def test_an_exception_for_a_place_comes_before_the_one_for_any_domestic_flight() -> None:
    def economy(origin: str, destination: str) -> int:
        price = reference().route_price("turkish-miles-and-smiles", "UA", origin, destination)
        assert price is not None
        return price.cabins["economy"].points["standard"]

    assert [economy("SFO", "HNL"), economy("HNL", "OGG"), economy("JFK", "LAX")] == [25_000, 25_000, 15_000]


def test_rows_that_say_the_same_share_one_value() -> None:
    """60,000 rows with addresses, days and codes of their own were 14 MB more in each process."""
    rows = reference().rows("routes.csv")
    for name in ("origin", "destination"):
        assert len({id(getattr(row, name)) for row in rows}) == len({getattr(row, name) for row in rows})
