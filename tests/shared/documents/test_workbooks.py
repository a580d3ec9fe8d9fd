"""Workbooks as CSV: the longest visible sheet, days as dates, numbers that can mean one thing, within bounds."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from shared.documents.text_decoding import NoText, decode_text
from shared.documents.workbooks import UnreadWorkbook, read_workbook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>'
    '<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def make_workbook(*sheets: str, hidden: int = 0) -> bytes:
    """A file of these sheets, each the rows of its XML; the last `hidden` ones cannot be seen."""
    count = len(sheets)
    states = [""] * (count - hidden) + [' state="hidden"'] * hidden
    names = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"{state}/>' for n, state in enumerate(states, 1))
    links = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/worksheet" Target="worksheets/s{n}.xml"/>' for n in range(1, count + 1)
    )
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{LINKS}"><Relationship Id="a" Type="{OFFICE}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{LINKS}">{links}<Relationship Id="st"'
        f' Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    }
    for n, rows in enumerate(sheets, 1):
        parts[f"xl/worksheets/s{n}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def row(number: int, *cells: str | float) -> str:
    """A row; a number in the first column is a day."""
    drawn = ""
    for column, cell in zip("ABCDEF", cells, strict=False):
        at = f'r="{column}{number}"'
        if isinstance(cell, str):
            drawn += f'<c {at} t="inlineStr"><is><t>{cell}</t></is></c>'
        else:
            drawn += f"<c {at}{' s=' + chr(34) + '1' + chr(34) if column == 'A' else ''}><v>{cell}</v></c>"
    return f'<row r="{number}">{drawn}</row>'


HEAD = row(1, "Date", "Description", "Amount")
LINES = row(2, 46300, "SHOP, ONE", -12.5) + row(4, 46301, "PAY", 42000) + row(5, 46302, "FUEL", -12.345)


def test_the_longest_visible_sheet_is_csv() -> None:
    content = make_workbook(row(1, "About"), HEAD + LINES, HEAD + LINES * 3, hidden=1)
    assert decode_text(content) == (
        'Date,Description,Amount\n2026-10-05,"SHOP, ONE",-12.50\n2026-10-06,PAY,42000\n2026-10-07,FUEL,-12.345000\n'
    )


def pack(name: str, size: int) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(name, b"0" * size)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (pack("a.txt", 9), "a ZIP archive or a spreadsheet that cannot be read"),
        (pack("xl/worksheets/s1.xml", 65 << 20), "too large"),
        (make_workbook(HEAD)[:600], "a ZIP archive or a spreadsheet that cannot be read"),
    ],
)
def test_what_is_no_workbook_or_too_large_is_refused(content: bytes, problem: str) -> None:
    made = read_workbook(content)
    assert isinstance(made, UnreadWorkbook)
    assert problem in str(made)


def test_what_is_no_number_is_an_empty_cell() -> None:
    values = ("NaN", "INF", "-1e999", "12.5")
    cells = (row(n, "x", float("7")).replace("<v>7.0</v>", f"<v>{value}</v>") for n, value in enumerate(values, 1))
    assert read_workbook(make_workbook("".join(cells))) == "x,\nx,\nx,\nx,12.50\n"


def test_a_cell_far_away_ends_the_reader_and_not_the_program() -> None:
    far = make_workbook(row(1, "x") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    with pytest.raises(NoText, match="too much memory"):
        decode_text(far)
