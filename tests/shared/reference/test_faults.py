"""Faults in copies of the reviewed files, each with the line it stands on."""

import csv
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.reference.load import FOLDER, ReferenceError, read_tables

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")

Break = Callable[[str, int | str, str, str], int]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "data"))


@pytest.fixture
def breaks(broken: Path) -> Break:
    """breaks(file, line, old, new) spoils one line of the copy and returns its number; a line may be known by its first
    words, as a file that grows has it further down."""

    def spoil(name: str, line: int | str, old: str, new: str) -> int:
        lines = (broken / name).read_text(encoding="utf-8").split("\n")
        number = line if isinstance(line, int) else next(n for n, row in enumerate(lines, 1) if row.startswith(line))
        assert old in lines[number - 1], lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new, 1)
        (broken / name).write_text("\n".join(lines), encoding="utf-8")
        return number

    return spoil


def _read_faults(folder: Path) -> list[str]:
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    return error.value.faults


def test_bad_cells_and_bad_keys_are_told_together_with_their_own_lines(broken: Path, breaks: Break) -> None:
    breaks("airlines.csv", 2, ",false,", ",perhaps,")  # the line is left out, and those after it keep their numbers
    breaks("routes.csv", 5, "A3,AMS,", "A3,QQQ,")
    breaks("transfer_partners.csv", 2, "accor-live-limitless,aeromexico-rewards", "accor-live-limitless,nowhere")
    message = _read_faults(broken)
    assert "airlines.csv:2: in_alert_list 'perhaps' is neither true nor false" in message
    assert "routes.csv:5: 'QQQ' is not an airport" in message
    assert "transfer_partners.csv:2: to_program 'nowhere' is not a programme of programs.csv" in message


def test_status_facts_name_what_exists(broken: Path, breaks: Break) -> None:
    breaks("status_run_routes.csv", 2, "CLT-LAX-CLT", "CLT-QQQ-CLT")
    breaks("voucher_types.csv", 2, ",companion,", ",discount,")
    breaks("voucher_types.csv", 6, ",economy,EI,2,", ",ekonomy,E1,0,")
    with (broken / "status_matches.csv").open("a", encoding="utf-8") as table:
        page = "https://carrier.example/match"
        last = len((broken / "status_matches.csv").read_text(encoding="utf-8").splitlines()) + 1
        table.write(f"x,flying-blue,nowhere,,Gold,Ruby,gift,,EUR,,,,lifetime,{page},,,,{page},,2026-10,,low,\n")
    message = _read_faults(broken)
    assert "status_run_routes.csv:2: 'QQQ' is not an airport" in message
    assert any(t.startswith("voucher_types.csv:2: kind 'discount' is not one of companion") for t in message)
    assert [t.partition(": ")[2] for t in message if t.startswith("voucher_types.csv:6")] == [
        "cabins 'ekonomy' is not known",
        "airlines 'E1' is not known",
        "min_people 0 is not 1 to 9",
    ]
    assert f"status_matches.csv:{last}: 'nowhere' is not a programme" in message
    assert f"status_matches.csv:{last}: 'Ruby' is no tier of flying-blue" in message
    assert f"status_matches.csv:{last}: kind 'gift' is not one of match, challenge" in message


def test_an_unreadable_programme_is_not_blamed_on_the_rows_that_name_it(broken: Path, breaks: Break) -> None:
    breaks("programs.csv", 2, ",FR,EUR,,2.0,", ",FR,EUR,,soon,")
    assert _read_faults(broken) == ["programs.csv:2: value_usd_cents 'soon' is not a number"]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e9999999"])
def test_a_number_must_be_a_number_one_can_count_with(broken: Path, breaks: Break, word: str) -> None:
    breaks("cards.csv", "au-amex-business-platinum,", ",1750,", f",{word},")
    assert len(_read_faults(broken)) == 1


@pytest.mark.parametrize(
    ("file", "line", "home"),
    [
        ("program_facts.csv", "united-mileageplus,expiry,never,0", "points_expiry.csv"),
        ("program_facts.csv", "united-mileageplus,pooling,no,no", "points_pooling.csv"),
        ("status_earning_rules.csv", "flying-blue,xp_per_segment,long3,business,36,XP", "elite_flying_blue_xp.csv"),
    ],
)
def test_a_fact_with_a_home_stands_in_no_second_file(broken: Path, file: str, line: str, home: str) -> None:
    with (broken / file).open("a") as rows:
        rows.write(f"{line},general knowledge,,,,low,\n")
    (fault,) = _read_faults(broken)
    assert fault.startswith(f"{file}:")
    assert fault.endswith(f"stands in {home}")


@pytest.mark.slow  # loads all facts
def test_a_site_of_a_programme_is_on_a_host_of_its_own(broken: Path, breaks: Break) -> None:
    breaks("program_sites.csv", 2, "https://www.aircanada.com/,", "https://aircanada.com.example.org/,")
    assert _read_faults(broken) == [
        "program_sites.csv:2: 'https://aircanada.com.example.org/' is no https address of a host in primary_hosts.csv"
    ]


def test_the_value_of_a_point_is_the_median_of_what_was_published(broken: Path, breaks: Break) -> None:
    breaks("programs.csv", 2, ",2.0,2.0,2.2,2.0,", ",2.1,2.0,2.2,2.0,")
    assert _read_faults(broken) == ["programs.csv:2: value_usd_cents 2.1 is not the median of the published values"]


SLIPS = [
    ("award_zone_members.csv", 2, "aa,AF,AF,", "aa,AF,Af,", "award_zone_members.csv:2: 'Af' is not a continent"),
    ("award_charts.csv", 3, ",zones,", ",map,", "award_charts.csv:3: chart_type 'map' is not known"),
    ("award_chart_zones.csv", 2, ",any,", ",low,", "award_chart_zones.csv:2: season 'low' is not one of"),
    ("award_chart_bands.csv", 3, ",30000,", ",1000,", "award_chart_bands.csv:3: the price falls from 20000"),
    ("transfer_partners.csv", 2, ",2,1,", ",1,90,", "transfer_partners.csv:2: 1:90 is not a believable ratio"),
    ("cards.csv", "in-hdfc-infinia,", "12500,INR", "12500,USD", "cards.csv:{}: annual_fee 12500 is outside 0 to 3000"),
    ("cards.csv", "in-axis-magnus,", "12500,INR", "1250000,INR", "cards.csv:{}: annual_fee 1250000 is outside 0 to"),
    ("release_windows.csv", 2, ",362,", ",36,", "release_windows.csv:2: days_before_departure 36 is outside"),
    ("airlines.csv", 26, "flying-blue", "delta-skymiles", "airlines.csv:26: AF belongs to flying-blue, not to delta"),
    ("card_credits.csv", 2, ",yearly,", ",weekly,", "card_credits.csv:2: cycle 'weekly' is not one of monthly, "),
    (
        "card_credits.csv",
        2,
        "au-amex-explorer,",
        "a-card,",
        "card_credits.csv:2: card_slug 'a-card' is not in cards.csv",
    ),
    ("issuer_rules.csv", 4, ",GB,", ",FR,", "issuer_rules.csv:4: no card of American Express in FR is in cards.csv"),
    (
        "issuer_rules.csv",
        4,
        ",held_issuer,",
        ",guessed,",
        "issuer_rules.csv:4: kind 'guessed' is not one of opened_any, ",
    ),
    ("issuer_rules.csv", 3, ",false,2,", ",false,,", "issuer_rules.csv:3: kind opened_issuer needs a limit"),
    ("card_earn.csv", 2, "au-amex-business-platinum", "a-card", "card_earn.csv:2: card_slug 'a-card' is not in"),
    (
        "voucher_types.csv",
        3,
        "Loyalty Point Rewards choice",
        "each anniversary with a card",
        "voucher_types.csv:3: a card earns aa-systemwide-upgrade each year, and no card of cards.csv has it",
    ),
]


def test_slips_of_the_pen_in_ten_files_are_all_told(broken: Path, breaks: Break) -> None:
    faults = [fault.format(breaks(name, line, old, new)) for name, line, old, new, fault in SLIPS]
    message = _read_faults(broken)
    for fault in faults:
        assert any(line.startswith(fault) for line in message), fault


def test_rows_about_one_thing_do_not_hold_on_the_same_day(broken: Path) -> None:
    path = broken / "elite_tiers.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([*lines[:2], lines[1], *lines[2:]]), encoding="utf-8")
    assert "elite_tiers.csv:3: it overlaps in time with elite_tiers.csv:2; end one before the other begins" in (
        _read_faults(broken)
    )


def test_every_kind_of_bad_input_is_told_at_once_with_file_and_line(broken: Path) -> None:
    """A wrong column, date, ratio and slug, a term that overlaps, and a row without a source."""

    def change(name: str, line: int, **cells: str) -> None:
        with (broken / name).open(newline="", encoding="utf-8") as table:
            rows = list(csv.reader(table))
        rows[line - 1] = [cells.get(column, cell) for column, cell in zip(rows[0], rows[line - 1], strict=True)]
        with (broken / name).open("w", newline="", encoding="utf-8") as table:
            csv.writer(table, lineterminator="\n").writerows(rows)

    bonuses = broken / "transfer_bonuses.csv"
    lines = bonuses.read_text(encoding="utf-8").split("\n")
    bonuses.write_text("\n".join([*lines[:2], lines[1], *lines[2:]]), encoding="utf-8")
    change("transfer_bonuses.csv", 3, valid_to="2099-01-01")
    change("lounges.csv", 1, networks="netwoks")
    change("cards.csv", 3, audited_on="yesterday")
    change("elite_tiers.csv", 2, valid_from="2026-13-01")
    change("transfer_partners.csv", 2, ratio_from="0")
    change("transfer_partners.csv", 3, to_program="british-airways")
    change("cancellation_fees.csv", 2, source_url="")
    change("program_facts.csv", 2, source_url="someone told me")
    told = "\n".join(_read_faults(broken))
    for fault in (
        "lounges.csv:1: the header differs from the row type in netwoks, networks",
        "cards.csv:3: audited_on 'yesterday' is not a date YYYY-MM-DD",
        "elite_tiers.csv:2: valid_from '2026-13-01' is not a date YYYY-MM-DD",
        "transfer_partners.csv:2: a ratio must be positive",
        "transfer_partners.csv:3: to_program 'british-airways' is not a programme of programs.csv",
        "cancellation_fees.csv:2: source_url is empty",
        "program_facts.csv:2: source_url 'someone told me' is neither an http(s) address nor 'general knowledge'",
    ):
        assert fault in told
    assert re.search(r"transfer_bonuses\.csv:[23]: it overlaps in time with", told)


def test_a_file_that_is_no_text_or_has_cells_too_many_is_told(broken: Path) -> None:
    (broken / "routes.csv").write_bytes(b"carrier,\xff\n")
    with (broken / "lounges.csv").open("a", encoding="utf-8") as table:
        table.write("one,two\n")
    told = "\n".join(_read_faults(broken))
    assert "routes.csv: is not UTF-8 text" in told
    assert re.search(r"lounges\.csv:\d+: 2 cells, \d+ wanted", told)


def test_flights_name_airlines_and_areas_and_status_runs_have_known_legs(broken: Path, breaks: Break) -> None:
    breaks("routes.csv", 2, "A3,ADB,SKG", "A3,SKG,ADB")
    breaks("route_lists.csv", 2, "AS,continent-AF", "AS,continent-XX")
    breaks("home_areas.csv", 2, "carrier,AV,CO", "carrier,AV,QQ")
    breaks("status_run_routes.csv", 2, "CLT-LAX-CLT", "CLT-LHR-SIN")
    message = _read_faults(broken)
    assert "routes.csv:2: a flight counts both ways: write ADB before SKG" in message
    assert any(t.startswith("route_lists.csv:2: area 'continent-XX' is no country") for t in message)
    assert "home_areas.csv:2: 'QQ' is not a country" in message
    assert "status_run_routes.csv:2: LHR-SIN is no flight of AA in routes.csv" in message


AIRLINE_SLIPS = [
    ("airline_facts.csv", ",country,", ",land,", "topic 'land' is not one of country, hub, only_cabin, stopped_on"),
    ("airline_facts.csv", ",stopped_on,2026-05-02", ",stopped_on,2026-02-30", "stopped_on '2026-02-30' is not a date"),
    ("airline_facts.csv", ",only_cabin,economy", ",only_cabin,steerage", "only_cabin 'steerage' is not a cabin"),
    ("airline_facts.csv", ",hub,DFW", ",hub,QQQ", "'QQQ' is not an airport"),
    ("alliance_members.csv", ",skyteam,", ",skyclub,", "alliance 'skyclub' is not one of oneworld, skyteam"),
    ("alliance_members.csv", "AA,oneworld,", "??,oneworld,", "'??' is not an airline of airlines.csv"),
]


@pytest.mark.slow  # loads all facts
@pytest.mark.parametrize(("name", "old", "new", "fault"), AIRLINE_SLIPS)
def test_what_is_said_of_airlines_is_checked(broken: Path, name: str, old: str, new: str, fault: str) -> None:
    path = broken / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    assert any(line.startswith(name) and fault in line for line in _read_faults(broken))
