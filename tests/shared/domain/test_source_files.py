"""Public files read by a mapping: JSON and CSV of any shape, and every way in which a file is not what was mapped."""

import json

import pytest

from shared.domain.source_files import (
    SourceMap,
    SourceRow,
    SourceUnreadable,
    parse_cell_map,
    read_day,
    read_number,
    read_page,
    read_percent,
    read_source,
)

SLUGS = {"chase": "chase-ultimate-rewards", "hyatt": "world-of-hyatt", "left out": ""}


def find_name(_kind: str, text: str) -> str | None:
    return SLUGS.get(text.casefold())


def build_map(rows: str, keys: str, values: str, format: str = "json") -> SourceMap:
    return SourceMap(
        format,
        rows,
        tuple(map(parse_cell_map, keys.split("|"))),
        tuple(map(parse_cell_map, values.split("|"))),
    )


TRANSFERS = build_map("transfers.*", "from_program=program:from|to_program=program:to", "ratio_from/ratio_to=number:r")
ROW = {"from": "Chase", "to": "Hyatt", "r": 1.0}


def read(rows: object) -> list[SourceRow]:
    return read_source(json.dumps({"transfers": rows}).encode(), TRANSFERS, find_name).entries


def test_rows_become_entries_by_our_names() -> None:
    assert read([ROW]) == [SourceRow(("chase-ultimate-rewards", "world-of-hyatt"), {"ratio_from/ratio_to": "1.0"})]


def test_objects_within_objects_are_walked_with_the_names_around_them() -> None:
    charts = {"charts": {"AC_own": {"cabins": {"economy": [{"min": 0, "miles": 6000}], "note": "x"}}}}
    bands = build_map(
        "charts.*.cabins.*.*", "chart_id=lower:@1|cabin=text:@2|min_miles=number:min", "points=number:miles"
    )
    entries = read_source(json.dumps(charts).encode(), bands, find_name).entries
    assert entries == [SourceRow(("ac_own", "economy", "0"), {"points": "6000"})]
    banks = {"_meta": {"x": 1}, "chase": {"name": "Chase", "airlines": {"h": {"program": "Hyatt", "ratio": 0.5}}}}
    outer = build_map("*.airlines.*", "from_program=program:^^name|to_program=program:program", "ratio_to=number:ratio")
    entries = read_source(json.dumps(banks).encode(), outer, find_name).entries
    assert entries == [SourceRow(("chase-ultimate-rewards", "world-of-hyatt"), {"ratio_to": "0.5"})]


def test_a_csv_file_is_read_by_its_columns() -> None:
    body = b'from,to,r,note\nChase,Hyatt,"1,000",a\n'
    table = build_map("", "from_program=program:from|to_program=program:to", "ratio_to=number:r", "csv")
    assert read_source(body, table, find_name).entries[0].values == {"ratio_to": "1000"}


def test_names_nobody_knows_are_listed_and_those_left_out_on_purpose_are_not() -> None:
    body = json.dumps({"transfers": [ROW, ROW | {"to": "Mars Miles"}, ROW | {"to": "Left out"}]}).encode()
    content = read_source(body, TRANSFERS, find_name)
    assert (len(content.entries), content.unknown_names) == (1, ("Mars Miles",))


def test_a_value_that_cannot_be_read_is_no_value() -> None:
    assert [entry.values for entry in read([ROW, ROW | {"r": "up to 100%"}, ROW | {"r": {"x": 1}}])] == [
        {"ratio_from/ratio_to": "1.0"},
        {},
        {},
    ]


def test_signs_nobody_sees_are_removed_from_texts() -> None:
    named = build_map("*", "name=text:n", "text=text:t")
    body = json.dumps([{"n": "a\x1b[31m\x00b\ud800", "t": "c\u202ed"}]).encode()
    assert read_source(body, named, find_name).entries == [SourceRow(("a[31mb",), {"text": "cd"})]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b'{"transfers": [{"from": "Chase", "to": "Hy', "is not whole JSON"),
        (b"<!doctype html><html><title>Just a moment</title>", "is a web page and not data"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"[" * 100_000, "is not whole JSON"),
        (b'{"transfers": []}', "holds no rows at transfers.*"),
        (b'{"partners": [{"from": "Chase"}]}', "holds no rows at transfers.*"),
        (b"[]", "holds no rows at transfers.*"),
        (b'{"transfers": [{"from": "Chase", "to": "Hyatt", "rate": 1}]}', "no longer has r in any row"),
        (b'{"transfers": [{"from": "Chase", "to": "Hyatt", "r": "?"}]}', "none of its 1 rows can be read"),
        (b'{"transfers": [{"from": "Chase", "to": "Hyatt", "r": NaN}]}', "is not whole JSON"),
    ],
)
def test_a_file_that_is_another_is_not_used_at_all(body: bytes, fault: str) -> None:
    with pytest.raises(SourceUnreadable) as error:
        read_source(body, TRANSFERS, find_name)
    assert fault in str(error.value)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"from,to,r\nChase,Hy", "line 2 has 2 cells, the header 3"),
        (b'from,to,r\nChase,"Hy', "is not a whole CSV file"),
        (b"from,to,rate\nChase,Hyatt,1\n", "no longer has r in any row"),
        (b"from,to,r\n", "holds no rows"),
    ],
)
def test_a_csv_file_that_is_another_is_not_used_either(body: bytes, fault: str) -> None:
    table = build_map("", "from_program=program:from|to_program=program:to", "ratio_to=number:r", "csv")
    with pytest.raises(SourceUnreadable) as error:
        read_source(body, table, find_name)
    assert fault in str(error.value)


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="holds more than 20,000 rows"):
        read([ROW] * 20_001)


def test_readers_of_cells() -> None:
    assert [read_number(t) for t in ("$1,250.50", "-3", "1.33", "x", "")] == ["1250.50", "-3", "1.33", None, None]
    assert [read_percent(t) for t in ("0.3", "30%", "1", "25% - 125%")] == ["30", "30", "100", None]
    days = (
        "2026-09-01T00:00:00Z",
        "Tue Sep 01 2026 00:00:00 GMT-0400 (Eastern Daylight Time)",
        "soon",
        "Tue Sep 41 2026",
    )
    assert [read_day(t) for t in days] == ["2026-09-01", "2026-09-01", None, None]
    pages = ("https://www.Bank.example/Card/?a=1", "http://bank.example/card", "ftp://x", "http://[")
    assert [read_page(t) for t in pages] == ["bank.example/card", "bank.example/card", None, None]


@pytest.mark.parametrize("text", ["ratio", "ratio=number", "Ratio=number:r", "ratio=guess:r", "a/b/c=number:r"])
def test_a_mapping_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"column=reader:path|names no reader"):
        parse_cell_map(text)
