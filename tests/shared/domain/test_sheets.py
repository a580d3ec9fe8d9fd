"""Sheets: no cell runs as a formula, what is written is read back, and what is no table says so."""

import csv
import io
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.domain.sheets import MAX_ROWS, UnreadTable, read_table, split_table, write_csv

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12).map(str.strip)


@given(st.lists(st.tuples(CELLS.filter(bool), CELLS), min_size=1, max_size=5))
@example([("\uff1d1+2", "\uff20SUM")])
@settings(max_examples=30)
def test_texts_are_read_back_as_they_were_and_none_begins_as_a_formula(rows: list[tuple[str, str]]) -> None:
    text = write_csv(("name", "notes"), ({"name": name, "notes": notes} for name, notes in rows))
    for cells in csv.reader(io.StringIO(text, newline="")):
        assert not any(cell.startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")) for cell in cells)
    expected = [{n: v for n, v in (("name", name), ("notes", notes)) if v} for name, notes in rows]
    read = [dict(row.cells) for row in read_table(text, {})]
    assert [{n: v.removeprefix("'") for n, v in row.items()} for row in read] == [
        {n: v.removeprefix("'") for n, v in row.items()} for row in expected
    ]


def test_numbers_and_days_are_written_so_that_programs_read_them() -> None:
    row = {"a": Decimal("-1250.50"), "b": date(2026, 11, 5), "c": True, "d": None, "e": "-1+2"}
    assert write_csv(tuple("abcde"), [row]).splitlines()[1] == "-1250.50,2026-11-05,true,,'-1+2"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_is_read_by_its_own_marks_and_names(mark: str) -> None:
    text = mark.join(("Programme ", "Points", "Note")) + "\n" + mark.join(("Aeroplan", "42.318", "")) + "\n\n"
    (row,) = read_table(f"\ufeff{text}", {"programme": "program", "points": "balance"})
    assert (row.line, dict(row.cells)) == (2, {"program": "Aeroplan", "balance": "42.318"})


@pytest.mark.parametrize("text", ["", "program,balance", 'a,b\n"x,y', "a\n" + "1\n" * (MAX_ROWS + 1)])
def test_what_is_no_table_or_too_long_says_so(text: str) -> None:
    with pytest.raises(UnreadTable):
        read_table(text, {})


def test_a_long_table_is_split_with_the_lines_of_its_rows() -> None:
    parts = split_table('a,b\n1,"x\ny"\n2,\n3,z', {}, 2)
    assert [lines for _, lines in parts] == [[2, 3], [4]]
    assert [dict(row.cells) for row in read_table(parts[1][0], {})] == [{"a": "3", "b": "z"}]


@pytest.mark.parametrize("row", ["Aeroplan,42,000", "Aeroplan,,42000"])
def test_a_row_with_more_cells_than_names_is_refused_and_never_cut(row: str) -> None:
    with pytest.raises(UnreadTable, match="line 2"):
        read_table(f"program,balance\n{row}\n", {})
    assert len(read_table("program,balance\nAeroplan,42000,,\n", {})) == 1
