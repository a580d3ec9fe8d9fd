"""Statements as tables: the layout is known by its header, and every line has its day, amount and category."""

import pytest

from shared.domain.spending import table
from shared.domain.spending.model import Hints, StatementReading, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.domain.spending.conftest import TODAY, Read
from tests.shared.domain.spending.issuers import SAMPLES

PLAIN = "Date,Description,Amount\n"


def lines(reading: StatementReading) -> list[tuple[str, str, str]]:
    return [(line.day.isoformat(), f"{line.amount:.2f}", line.category) for line in reading.lines]


def test_every_layout_has_a_sample() -> None:
    assert set(SAMPLES) == {layout.slug for layout in build_book(reference()).layouts}


@pytest.mark.parametrize("slug", sorted(SAMPLES))
def test_statement_of_each_issuer_is_read_by_its_own_layout(read: Read, slug: str) -> None:
    sample = SAMPLES[slug]
    reading = read(sample.text)
    assert (reading.layout, lines(reading)) == (slug, sample.lines)
    printed = {line.currency for line in reading.lines} - {None}
    assert (printed or {reading.issuer_currency}) == {sample.currency}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_columns_may_be_divided_otherwise(read: Read, delimiter: str) -> None:
    text = SAMPLES["discover-us"].text.replace(",", delimiter)
    assert lines(read(text)) == SAMPLES["discover-us"].lines


def test_line_ends_a_mark_of_order_and_letter_case_mean_nothing(read: Read) -> None:
    expected = SAMPLES["chase-card-us"].lines
    text = SAMPLES["chase-card-us"].text
    for other in (text.replace("\r\n", "\n"), text.replace("\r\n", "\r"), "\ufeff" + text, text.upper()):
        assert lines(read(other)) == expected


def test_older_chase_export_without_memo_is_the_same_layout(read: Read) -> None:
    text = (
        "Transaction Date,Post Date,Description,Category,Type,Amount\n03/14/2026,03/16/2026,LYFT RIDE,Travel,Sale,-9\n"
    )
    assert (read(text).layout, lines(read(text))) == ("chase-card-us", [("2026-03-14", "9.00", "transit")])


def test_a_header_with_a_column_more_is_still_the_issuers(read: Read) -> None:
    text = SAMPLES["discover-us"].text.replace("\r\n", ",\r\n").replace("Category,", "Category,Points", 1)
    assert read(text).layout == "discover-us"


def test_unknown_issuer_is_read_by_what_its_columns_are_called(read: Read) -> None:
    rows = ["14.03.2026;ALDI SUED;-1.234,50", "15.03.2026;Gehalt;3.000,00", "16.03.2026;IKEA;-9,99"]
    text = "\n".join(["Booking date;Payee;Amount (EUR)", *rows])
    reading = read(text)
    assert reading.layout == "table"
    assert lines(reading) == [
        ("2026-03-14", "1234.50", "groceries"),
        ("2026-03-15", "-3000.00", "other"),
        ("2026-03-16", "9.99", "home_improvement"),
    ]


def test_three_columns_everybody_has_and_one_more_are_no_issuers(read: Read) -> None:
    rows = ["01.03.2026;Lidl Berlin;-1.012,50;EUR", "17.03.2026;Cafe Einstein;-7,20;EUR"]
    reading = read("\n".join(["Date;Description;Amount;Currency", *rows]))
    expected = [("2026-03-01", "1012.50", "groceries"), ("2026-03-17", "7.20", "dining")]
    assert (reading.layout, lines(reading), reading.lines[0].currency) == ("table", expected, "EUR")


def test_known_issuer_saved_again_with_decimal_commas_is_read(read: Read) -> None:
    text = "Date;Description;Amount\n14/03/2026;TESCO;1.012,50\n15/03/2026;SHELL;7,20\n16/03/2026;COSTA;3,10\n"
    assert [line[1] for line in lines(read(text))] == ["1012.50", "7.20", "3.10"]


def test_card_members_column_is_of_either_country_and_the_dates_tell(read: Read) -> None:
    rows = "11/03/2025,DELTA AIR LINES,J DOE,-11001,532.10\n11/15/2025,LYFT,J DOE,-11001,9.00\n"
    reading = read("Date,Description,Card Member,Account #,Amount\n" + rows)
    found = (reading.layout, reading.currency, reading.issuer_currency, lines(reading)[0][0])
    assert found == ("amex-us", None, None, "2025-11-03")


def test_a_line_without_a_merchants_name_is_told_by_its_details(read: Read) -> None:
    head = "Date,Amount,Account Number,,Transaction Type,Transaction Details,Balance,Category,Merchant Name\n"
    rows = "05 Feb 26,-31.11,1,,PURCHASE,COLES 01,0,,Coles\n13 Feb 26,500.00,1,,CREDIT,PAYMENT THANK YOU,0,,\n"
    expected = [("2026-02-05", "31.11", "groceries"), ("2026-02-13", "-500.00", "excluded:payment")]
    assert lines(read(head + rows)) == expected


def test_unknown_issuer_may_have_columns_for_money_out_and_in(read: Read) -> None:
    text = "Date,Details,Paid out,Paid in\n2026-03-14,SHELL,30.00,\n2026-03-15,SHELL,,5.00\n"
    assert [line.amount for line in read(text).lines] == [30, -5]


@pytest.mark.parametrize(
    ("rows", "day"),
    [
        ("03/14/2026,TESCO,5.00\n", "2026-03-14"),
        ("14/03/2026,TESCO,5.00\n", "2026-03-14"),
        ("03/04/2026,TESCO,5.00\n03/14/2026,TESCO,5.00\n", "2026-03-04"),
    ],
)
def test_a_header_that_anybody_writes_names_no_bank_and_no_currency(read: Read, rows: str, day: str) -> None:
    reading = read(PLAIN + rows)
    assert (reading.layout, reading.currency, reading.issuer_currency) == ("table", None, None)
    assert reading.lines[0].day.isoformat() == day


@pytest.mark.parametrize(
    ("hints", "day"),
    [
        ({"date_order": "day_first", "own_country": "US"}, "2026-04-03"),
        ({"date_order": "month_first"}, "2026-03-04"),
        ({"card_country": "US", "own_country": "GB"}, "2026-03-04"),
        ({"own_country": "GB"}, "2026-04-03"),
    ],
)
def test_what_is_known_beside_the_statement_decides_between_day_and_month(
    read: Read, hints: dict[str, str], day: str
) -> None:
    assert read(PLAIN + "03/04/2026,TESCO,5.00\n", **hints).lines[0].day.isoformat() == day


def test_dates_that_nothing_tells_apart_are_refused_and_not_guessed(read: Read) -> None:
    """The currency says nothing of how a program writes its dates."""
    for hints in ({}, {"currency": "USD"}, {"currency": "GBP"}, {"own_country": "CA"}):
        with pytest.raises(UnreadableStatement, match="day first and month first") as asked:
            read(PLAIN + "03/04/2026,TESCO,5.00\n", **hints)
        assert (asked.value.field, asked.value.expected) == ("date_order", "day_first or month_first")


def test_where_the_header_is_anybodys_most_lines_are_charges(read: Read) -> None:
    text = PLAIN + "14/03/2026,TESCO,-5.00\n15/03/2026,ALDI,-6.00\n16/03/2026,Salary,900.00\n"
    assert [line.amount for line in read(text).lines] == [5, 6, -900]


def test_lines_that_cannot_be_read_are_named_with_the_reason(read: Read) -> None:
    rows = [
        "31/02/2026,A,5.00",
        "30/02/2026,B,1e999",
        "14/03/2026,C,NaN",
        "14/03/2026,D,Infinity",
        "14/03/2026,E,",
        "14/03/2036,F,5.00",
        "14/03/1970,G,5.00",
        "14/03/2026,H,99999999999999",
        "14/03/2026,I,٣٤",
        "15/03/2026,J,-0.00",
        "",
        "Total,,12.00",
        "Date,Description,Amount",
        "16/03/2026,K,7.00",
    ]
    reading = read(PLAIN + "\n".join(rows))
    assert [(s.line, s.reason) for s in reading.skipped] == [
        (2, table.NO_DATE),
        (3, table.NO_DATE),
        (4, table.NO_AMOUNT),
        (5, table.NO_AMOUNT),
        (6, table.NO_AMOUNT),
        (7, table.FUTURE),
        (8, table.LONG_AGO),
        (9, table.NO_AMOUNT),
        (10, table.NO_AMOUNT),
        (13, table.NO_DATE),
    ]
    assert [(line.number, str(line.amount)) for line in reading.lines] == [(11, "0.00"), (15, "7.00")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Date,Payee,Notes\n14/03/2026,TESCO,x\n", "names no column for the amount"),
        ("When,Payee,Sum\n14/03/2026,TESCO,5\n", "names no column for the date"),
        ("2026-03-14,TESCO,5.00\n", "is no statement that can be read"),
        ("hello", "is no statement that can be read"),
        ("", "is no statement that can be read"),
    ],
)
def test_what_is_no_statement_is_told_what_it_lacks(text: str, problem: str) -> None:
    assert table.read_table(text, build_book(reference()), Hints(TODAY)) is None
    failure = table.explain_failure(text, build_book(reference()))
    assert problem in failure.problem
    assert "date, the description and the amount" in failure.expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PLAIN + '14/03/2026,"TESCO,5\n' + "14/03/2026,X,5\n" * 50, "a quoted cell after line 1"),
        (PLAIN + '14/03/2026,"' + "x" * 200_000 + '",5\n', "a quoted cell after line 1"),
        (PLAIN + ",".join("1" * 1_000_000) + "\n", "more than 200 columns"),
        (PLAIN + "14/03/2026,TESCO,5\n" * 50_001, "more than 50,000 lines"),
    ],
    ids=["a quote that never ends", "a giant cell", "a million columns", "too many lines"],
)
def test_a_table_nobody_exports_is_refused_with_the_reason(read: Read, text: str, problem: str) -> None:
    with pytest.raises(UnreadableStatement, match=problem):
        read(text)
