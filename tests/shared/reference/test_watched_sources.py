"""Watched sources: the list is checked with the facts, and entries are compared with the rows in force."""

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from shared.domain.source_files import SourceRow
from shared.reference.load import FOLDER, ReferenceError, read_tables, reference
from shared.reference.rows.transfers import TransferPartner
from shared.reference.rows.watched import WatchedSource
from shared.reference.source_comparison import SourceDifference, build_name_finder, compare_source

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")

TODAY = date(2026, 11, 22)
SOURCE = WatchedSource(
    name="list",
    url="https://raw.example/list.json",
    format="json",
    file="transfer_partners.csv",
    rows="*",
    keys=("from_program=program:from", "to_program=program:to"),
    values=("ratio_to/ratio_from=number:ratio",),
    reports=(),
    names=("UR=chase-ultimate-rewards", "Mars Miles="),
    licence="MIT",
)
PAIR = ("capital-one-miles", "jetblue-trueblue")  # 5:3


@pytest.fixture
def pair() -> TransferPartner:
    rows = [r for r in reference().rows("transfer_partners.csv") if (r.from_program, r.to_program) == PAIR]
    assert len(rows) == 1
    return rows[0]  # type: ignore[no-any-return]


def compare(*entries: SourceRow, reports: tuple[str, ...] = ()) -> list[SourceDifference]:
    return compare_source(reference(), replace(SOURCE, reports=reports), entries, TODAY)


def entry(text: str, pair: tuple[str, ...] = PAIR) -> SourceRow:
    return SourceRow(pair, {"ratio_to/ratio_from": text})


@pytest.mark.parametrize("text", ["0.6", "0.60", "0.600"])
def test_a_ratio_agrees_to_the_decimals_the_source_shows(pair: TransferPartner, text: str) -> None:
    assert (pair.ratio_from, pair.ratio_to) == (5, 3)
    assert compare(entry(text)) == []


def test_another_ratio_is_a_difference_with_both_values(pair: TransferPartner) -> None:
    found = compare(entry("0.75"))
    assert [(d.file, d.field, d.ours, d.theirs) for d in found] == [
        ("transfer_partners.csv", "ratio_to/ratio_from", "0.6", "0.75")
    ]
    assert found[0].key.startswith("capital-one-miles jetblue-trueblue")


def test_one_of_several_rows_of_a_key_is_enough(pair: TransferPartner) -> None:
    assert compare(entry("0.75"), entry("0.6")) == []


def test_rows_that_one_side_lacks_are_reported_where_the_list_wants_it(pair: TransferPartner) -> None:
    mars = ("capital-one-miles", "mars-miles")
    assert compare(entry("0.6"), entry("1", mars)) == []
    found = compare(entry("0.6"), entry("1", mars), reports=("missing", "gone"))
    missing = [d for d in found if d.ours == "no row"]
    assert [(d.key, d.theirs) for d in missing] == [("capital-one-miles mars-miles", "ratio_to/ratio_from 1")]
    gone = {d.key.split()[0] for d in found if d.theirs == "no row"}
    assert gone == {"capital-one-miles"}  # of other banks the list says nothing at all


def test_names_are_those_of_the_list_else_those_people_use() -> None:
    find_name = build_name_finder(reference(), SOURCE)
    texts = ("ur", "Mars Miles", "World of Hyatt", "No one Knows It")
    assert [find_name("program", text) for text in texts] == ["chase-ultimate-rewards", "", "world-of-hyatt", None]
    assert [find_name("airline", text) for text in ("BA", "No one Air")] == ["BA", None]


def test_a_card_is_named_by_its_issuers_page_and_others_are_left_out() -> None:
    find_name = build_name_finder(reference(), SOURCE)
    page = "https://www.americanexpress.com/us/credit-cards/card/gold-card/"
    assert [find_name("card", text) for text in (page, page.rstrip("/"), "https://x.example/")] == [
        "us-amex-gold",
        "us-amex-gold",
        "",
    ]


def test_faults_of_the_list_are_named_with_their_lines(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    path = folder / "watched_sources.csv"
    header = path.read_text(encoding="utf-8").splitlines()[0]
    cells = [
        "a",
        "http://raw.example/x",
        "xml",
        "cards.csv",
        "*",
        "slug=guess:x",
        "nothing=number:y",
        "all",
        "Avios",
        "MIT",
    ]
    lines = [
        header,
        ",".join(cells),
        ",".join(["b", "https://x.example/y", "csv", "nope.csv", "", "", "", "", "", "MIT"]),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    assert [fault.split(":", 2)[1:] for fault in error.value.faults] == [
        ["2", " url 'http://raw.example/x' is not an https address"],
        ["2", " format 'xml' is not one of json, csv"],
        ["2", " reports 'all' is not one of missing, gone"],
        ["2", " names 'Avios' is not of the form word=slug"],
        [
            "2",
            " keys 'slug=guess:x' names no reader of airline, card, day, lower, number, page, percent, program, text",
        ],
        ["2", " values 'nothing=number:y' names nothing, which cards.csv does not have"],
        ["3", " keys and values are both needed"],
        ["3", " file 'nope.csv' is no file of facts"],
    ]
