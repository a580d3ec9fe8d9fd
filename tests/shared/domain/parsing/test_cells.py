"""Dates and amounts of table cells, in the many ways they are written."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.parsing.amounts import parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import NAMED_DATE, parse_day


@pytest.mark.parametrize(
    "text",
    [
        *("14/03/2026", "14.03.26", "14-03-2026", "2026-03-14", "2026-03-14 10:11:12", "20260314"),
        *("20260314120000[-5:EST]", "14 Mar 26", "14-Mar-2026", "14 March 2026", "14th Mar 2026"),
        *("Mar 14, 2026", "MARCH 14 2026"),
    ],
)
def test_a_day_in_any_form_is_the_same_day(text: str) -> None:
    assert parse_day(text, ("dmy", "ymd")) == date(2026, 3, 14)


def test_short_months_that_are_words_elsewhere_count_beside_a_year() -> None:
    years = {
        "pl": "sty lut mar kwi maj cze lip sie wrz paź lis gru",
        "tr": "oca şub mar nis may haz tem ağu eyl eki kas ara",
        "id": "jan feb mar apr mei jun jul agu sep okt nov des",
        "hu": "jan febr márc ápr máj jún júl aug szept okt nov dec",
    }
    found = {name: [parse_day(f"14 {m} 2026", ("dmy",)) for m in months.split()] for name, months in years.items()}
    assert found == {name: [date(2026, month, 14) for month in range(1, 13)] for name in years}
    assert NAMED_DATE.search("bis 10 sie") is None


def test_the_order_asked_for_decides_what_is_the_month() -> None:
    assert parse_day("03/04/2026", ("mdy",)) == date(2026, 3, 4)
    assert parse_day("03/04/2026", ("dmy",)) == date(2026, 4, 3)
    assert parse_day("29/02/2024", ("dmy",)) == date(2024, 2, 29)


@pytest.mark.parametrize(
    "text", ["31/02/2026", "29/02/2026", "00/01/2026", "", "Total", "1/2", "٠١/٠٢/٢٠٢٦", "9" * 500]
)
def test_what_is_no_day_of_the_calendar_is_none(text: str) -> None:
    assert parse_day(text, ("dmy", "mdy", "ymd")) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.50", "12.50"),
        ("-12.5", "-12.5"),
        ("1,204.50", "1204.50"),
        ("£1,204.50", "1204.50"),
        ("-$3.00", "-3.00"),
        ("$-3.00", "-3.00"),
        ("(3.00)", "-3.00"),
        ("$(1,204.60)", "-1204.60"),
        ("3.00-", "-3.00"),
        ("3.00 CR", "-3.00"),
        ("3.00DR", "3.00"),
        ("USD 3.00", "3.00"),
        ("3.00 EUR", "3.00"),
        ("\u22123.00", "-3.00"),
        ("1\u00a0204.50", "1204.50"),
        ("1'204.50", "1204.50"),
        ("1,00,000.00", "100000.00"),
        (".50", "0.50"),
        ("-0.00", "0.00"),
        ("3.005", "3.005"),
        ("-00000000000084.1200", "-84.12"),
    ],
)
def test_an_amount_in_any_form_is_read(text: str, value: str) -> None:
    assert parse_amount(text) == Decimal(value)
    assert str(parse_amount("-0.00")) == "0.00"


@pytest.mark.parametrize(
    "text",
    ["", "-", "NaN", "Infinity", "1e999", "1_000", "0x10", "1,2", "12,34.5.6", "=1+1", "9" * 12, "٣.٠٠", "x" * 999],
)
def test_what_is_no_plain_amount_is_none(text: str) -> None:
    assert parse_amount(text) is None


def test_a_decimal_comma_is_seen_over_all_amounts() -> None:
    assert uses_decimal_comma(["1.234,50", "9,99"])
    assert not uses_decimal_comma(["1,234.50", "9.99"])
    assert parse_amount("1.234,50", comma=True) == Decimal("1234.50")
    assert parse_amount("-9,9", comma=True) == Decimal("-9.90")


@given(st.decimals(min_value=-(10**8), max_value=10**8, places=2))
def test_an_amount_written_with_thousands_reads_back_as_itself(value: Decimal) -> None:
    assert parse_amount(f"{value:,.2f}") == value


@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text: str) -> None:
    assert parse_amount(text) is None or isinstance(parse_amount(text), Decimal)
    assert parse_day(text, ("dmy", "mdy", "ymd")) is None or isinstance(parse_day(text, ("dmy",)), date | None)
