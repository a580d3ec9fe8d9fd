"""Statements pasted as text: lines with a date before and an amount behind."""

from datetime import date
from decimal import Decimal

import pytest

from shared.domain.spending.model import UnreadableStatement
from tests.shared.domain.spending.conftest import Read
from tests.shared.domain.spending.test_tables import lines

PASTED = """Your statement, 28 February 2026
Account ending 1234

03 Feb   TESCO STORES 3312             23.87
04 Feb   PAYMENT RECEIVED THANK YOU  1,000.00 CR
05 Feb 06 Feb  AMAZON MARKETPLACE  12.50
30 Dec  SHELL 24 LONDON   £45.00
New balance 81.37
"""


def test_pasted_lines_are_read_with_the_year_the_statement_states(read: Read) -> None:
    reading = read(PASTED)
    assert reading.layout == "text"
    assert lines(reading) == [
        ("2026-02-03", "23.87", "groceries"),
        ("2026-02-04", "-1000.00", "excluded:payment"),
        ("2026-02-05", "12.50", "online_retail"),
        ("2025-12-30", "45.00", "fuel"),
    ]
    assert {line.currency for line in reading.lines} == {"GBP"}


def test_the_year_of_a_period_is_that_of_its_end(read: Read) -> None:
    text = "Statement period 1 Oct 2025 to 31 Oct 2025\n02 Oct  TESCO STORES £45.10\n30 Oct  SHELL £60.00\n"
    assert [line[0] for line in lines(read(text))] == ["2025-10-02", "2025-10-30"]


def test_a_running_balance_behind_the_amount_is_no_amount(read: Read) -> None:
    text = "14/03/2026 ALDI 10.00 990.00\n15/03/2026 LIDL 20.00 970.00\n"
    assert [line.amount for line in read(text).lines] == [10, 20]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("2026-03-14 ALDI 10.00", ("2026-03-14", "10.00")),
        ("Mar 14, 2026  ALDI  $10.00", ("2026-03-14", "10.00")),
        ("14 March 2026\tALDI\tEUR 10,00", ("2026-03-14", "10.00")),
        ("14.03.2026 ALDI 10,00 EUR", ("2026-03-14", "10.00")),
        ("14/03 ALDI 10.00", ("2026-03-14", "10.00")),
        ("14/12 ALDI 10.00", ("2025-12-14", "10.00")),
        ("14/03/2026 ALDI -10.00\n15/03/2026 LIDL -3.00", ("2026-03-14", "10.00")),
        ("14/03/2026 ALDI REFUND (10.00)\n15/03/2026 LIDL 3.00", ("2026-03-14", "-10.00")),
    ],
)
def test_dates_and_amounts_of_text_take_many_forms(read: Read, text: str, first: tuple[str, str]) -> None:
    assert lines(read(text))[0][:2] == first


def test_text_whose_dates_nothing_tells_apart_is_refused(read: Read) -> None:
    with pytest.raises(UnreadableStatement, match="day first and month first"):
        read("03/04/2026 ALDI 10.00")
    assert lines(read("03/04/2026 ALDI 10.00", own_country="US"))[0][0] == "2026-03-04"


@pytest.mark.slow  # thousands of lines
def test_too_many_lines_are_refused(read: Read) -> None:
    with pytest.raises(UnreadableStatement, match="more than 25,000 lines"):
        read("14/03/2026 ALDI 10.00\n" * 25_001)


def test_days_with_points_and_no_year_have_the_year_of_the_period(read: Read) -> None:
    text = (
        "Kreditkartenabrechnung 01.10.2026 bis 31.10.2026\n"
        "03.10. 05.10. REWE MARKT 23,45-\n07.10. 08.10. DEUTSCHE BAHN 59,90-\n15.10. 15.10. ZAHLUNG ERHALTEN 200,00+\n"
    )
    lines = read(text, currency="EUR").lines
    assert [(line.day, line.amount) for line in lines] == [
        (date(2026, 10, 3), Decimal("23.45")),
        (date(2026, 10, 7), Decimal("59.90")),
        (date(2026, 10, 15), Decimal("-200.00")),
    ]


def test_a_plus_or_a_minus_apart_from_its_amount_is_its_sign(read: Read) -> None:
    text = "02.10. 04.10. REWE MARKT   32,15 -\n10.10. 10.10. GUTSCHRIFT ZALANDO   49,90 +\n"
    assert [line.amount for line in read(text, currency="EUR").lines] == [Decimal("32.15"), Decimal("-49.90")]


@pytest.mark.parametrize("day", ["{day} Oct 2025", "Thursday {day} October 2025", "Oct {day}, 2025", "{day}/10/2025"])
def test_entries_of_an_app_in_lines_of_their_own_are_put_together(read: Read, day: str) -> None:
    entries = [(15, "Tesco Express", "-£12.40"), (16, "Salary Acme", "£2,100.00"), (17, "Pret A Manger", "-£6.75")]
    text = "\n".join(f"{day.format(day=at)}\n{name}\n{amount}" for at, name, amount in entries)
    found = [(line.day.day, line.description, line.amount) for line in read(text).lines]
    assert found == [
        (15, "tesco express", Decimal("12.40")),
        (16, "salary acme", Decimal("-2100.00")),
        (17, "pret a manger", Decimal("6.75")),
    ]


def test_of_many_lines_before_an_amount_the_last_words_alone_are_its_description(read: Read) -> None:
    text = "15 Oct 2025\n" + "one word\n" * 3000 + "£12.40\n16 Oct 2025\nTesco\n£3.00\n"
    assert [len(line.description.split()) for line in read(text).lines] == [12, 1]


def test_digits_before_a_blank_that_may_be_thousands_or_a_shops_number_leave_the_line_out(read: Read) -> None:
    text = "14 Mar 2026  LODGE  1 400.00 DR\n15 Mar 2026 SHELL 12 450.00 DR\n16 Mar 2026  LIDL  20.00 DR\n"
    reading = read(text)
    assert [line.amount for line in reading.lines] == [1400, 20]
    assert [line.line for line in reading.skipped] == [2]
