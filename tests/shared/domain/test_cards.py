"""Matching typed text with a card catalogue, and the dates of a card."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest

from shared.domain.cards import (
    choose_fee,
    count_bonus_days,
    find_next_fee_date,
    find_spend_deadline,
    match_card,
    sum_by_currency,
)


@dataclass(frozen=True)
class Entry:
    slug: str
    name: str
    issuer: str
    country: str = "US"


CATALOGUE = [
    Entry("us-amex-gold", "American Express Gold Card", "American Express"),
    Entry("us-amex-business-gold", "American Express Business Gold Card", "American Express"),
    Entry("us-amex-platinum", "The Platinum Card from American Express", "American Express"),
    Entry("uk-amex-platinum", "The Platinum Card (UK)", "American Express", "GB"),
    Entry("us-chase-sapphire-reserve", "Chase Sapphire Reserve", "Chase"),
    Entry("us-chase-sapphire-preferred", "Chase Sapphire Preferred", "Chase"),
    Entry("us-capital-one-venture-x", "Capital One Venture X Rewards", "Capital One"),
    Entry("uk-virgin-reward-plus", "Virgin Atlantic Reward+ Credit Card", "Virgin Money", "GB"),
    Entry("uk-virgin-reward", "Virgin Atlantic Reward Credit Card", "Virgin Money", "GB"),
    *(Entry(f"xx-bank{n}-card{n}", f"Bank{n} Cashback Visa", f"Bank{n}") for n in range(12)),
]


def candidates(text: str) -> list[str]:
    result = match_card(text, CATALOGUE)
    assert result.exact is None
    return [f.slug for f in result.candidates]


@pytest.mark.parametrize(
    "text", ["us-amex-gold", "US-AMEX-GOLD", "American Express Gold Card", "american  express gold card "]
)
def test_slug_or_whole_name_is_exact_in_any_case_and_spacing(text: str) -> None:
    assert match_card(text, CATALOGUE).exact == "us-amex-gold"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("saphire preferred", "us-chase-sapphire-preferred"),
        ("CSR", "us-chase-sapphire-reserve"),
        ("VentureX", "us-capital-one-venture-x"),
        ("Amex Plat", "uk-amex-platinum"),
        ("Américan Éxpress Platinum", "us-amex-platinum"),
    ],
)
def test_what_people_type_leads_to_the_card_meant(text: str, first: str) -> None:
    assert candidates(text)[0] == first


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Amex Gold", "us-amex-gold"),
        ("amex business gold", "us-amex-business-gold"),
        ("American Express Gold", "us-amex-gold"),
        ("Chase Sapphire Reserve Card", "us-chase-sapphire-reserve"),
        ("Sapphire Reserve", "us-chase-sapphire-reserve"),
        ("Capital One Venture X", "us-capital-one-venture-x"),
        ("virgin reward+", "uk-virgin-reward-plus"),
    ],
)
def test_an_everyday_name_is_exact(text: str, slug: str) -> None:
    assert match_card(text, CATALOGUE).exact == slug


@pytest.mark.parametrize("text", ["gold", "Gold Card", "Amex", "reserve", "platinum"])
def test_one_common_word_is_never_exact(text: str) -> None:
    assert match_card(text, CATALOGUE).exact is None


@pytest.mark.parametrize(
    "text", ["Chase Sapphire Reserve Business", "Capital One Venture X Business", "Amex Gold Plus"]
)
def test_a_card_that_is_not_here_is_no_sister_of_it(text: str) -> None:
    assert candidates(text) == []


def test_an_everyday_name_is_of_the_country_at_home_and_else_asked() -> None:
    assert match_card("Amex Platinum", CATALOGUE, "US").exact == "us-amex-platinum"
    assert match_card("Amex Platinum", CATALOGUE, "GB").exact == "uk-amex-platinum"
    assert candidates("Amex Platinum") == ["us-amex-platinum", "uk-amex-platinum"]


@pytest.mark.parametrize("text", ["Monzo", "Acme Credit Union Visa", "my visa card", "???", "x" * 120, "the"])
def test_text_that_fits_nothing_has_no_candidates(text: str) -> None:
    assert candidates(text) == []


def test_candidates_are_few_and_best_first() -> None:
    result = match_card("cashback", CATALOGUE).candidates
    assert len(result) == 8
    assert [f.score for f in result] == sorted((f.score for f in result), reverse=True)
    assert all(0 < f.score <= 1 for f in result)


@pytest.mark.parametrize(("country", "slugs"), [("US", ["us-amex-platinum"]), ("GB", ["uk-amex-platinum"])])
def test_a_country_narrows_before_likeness_does(country: str, slugs: list[str]) -> None:
    assert [f.slug for f in match_card("Platinum", CATALOGUE, country).candidates] == slugs


def test_a_card_of_another_country_counts_where_none_of_this_one_fits() -> None:
    assert match_card("virgin reward", CATALOGUE, "US").candidates[0].slug == "uk-virgin-reward"
    assert match_card("uk-amex-platinum", CATALOGUE, "US").exact == "uk-amex-platinum"
    whole_name = match_card("The Platinum Card from American Express", CATALOGUE, "GB")
    assert (whole_name.exact, [f.slug for f in whole_name.candidates]) == (
        None,
        ["uk-amex-platinum", "us-amex-platinum"],
    )


def test_a_typed_brand_keeps_other_brands_out() -> None:
    entries = [*CATALOGUE, Entry("us-citi-platinum", "Citi Platinum Select", "Citi")]
    assert match_card("Amex Platinum", entries, "US").exact == "us-amex-platinum"
    assert match_card("Citi Platinum", entries, "US").exact == "us-citi-platinum"
    assert [f.slug for f in match_card("Citi Plat", entries, "US").candidates] == ["us-citi-platinum"]


def test_fees_are_the_stored_ones_else_the_catalogues_and_sum_by_currency() -> None:
    assert choose_fee(Decimal(0), "EUR", Decimal(95), "USD") == (Decimal(0), "EUR")
    assert choose_fee(None, "EUR", Decimal(95), "USD") == (Decimal(95), "USD")
    assert choose_fee(None, "EUR", None, "USD") is None
    fees = [(Decimal(95), "USD"), (Decimal(30), "GBP"), (Decimal(5), "USD"), (Decimal(0), "EUR")]
    assert sum_by_currency(fees) == {"GBP": Decimal(30), "USD": Decimal(100)}


def test_name_two_entries_share_is_not_exact() -> None:
    twins = [Entry("a-gold", "Gold", "A"), Entry("b-gold", "Gold", "B")]
    result = match_card("gold", twins)
    assert (result.exact, len(result.candidates)) == (None, 2)
    assert match_card("b-gold", twins).exact == "b-gold"


@pytest.mark.parametrize(
    ("opened", "months", "deadline"),
    [
        (date(2026, 1, 31), 1, date(2026, 2, 28)),
        (date(2027, 11, 30), 3, date(2028, 2, 29)),
        (date(2026, 12, 15), 12, date(2027, 12, 15)),
        (None, 3, None),
        (date(2026, 1, 1), None, None),
        (date(9999, 12, 1), 1, date.max),
    ],
)
def test_spend_deadline_is_whole_months_after_opening(
    opened: date | None, months: int | None, deadline: date | None
) -> None:
    assert find_spend_deadline(opened, months) == deadline


@pytest.mark.parametrize(
    ("opened", "today", "due"),
    [
        (date(2024, 5, 9), date(2026, 5, 8), date(2026, 5, 9)),
        (date(2024, 5, 9), date(2026, 5, 9), date(2026, 5, 9)),
        (date(2024, 5, 9), date(2026, 5, 10), date(2027, 5, 9)),
        (date(2024, 2, 29), date(2026, 3, 1), date(2027, 2, 28)),
        (date(2024, 2, 29), date(2027, 3, 1), date(2028, 2, 29)),
        (date(2026, 5, 9), date(2026, 5, 9), date(2027, 5, 9)),
        (date(2026, 9, 1), date(2026, 5, 9), date(2027, 9, 1)),
        (date(9999, 9, 1), date(2026, 5, 9), date.max),
    ],
)
def test_fee_is_due_on_the_next_anniversary(opened: date, today: date, due: date) -> None:
    assert find_next_fee_date(opened, None, True, today) == due


def test_no_fee_is_due_without_opening_day_or_fee_or_after_closing() -> None:
    opened, today = date(2024, 5, 9), date(2026, 5, 1)
    assert find_next_fee_date(None, None, True, today) is None
    assert find_next_fee_date(opened, None, False, today) is None
    assert find_next_fee_date(opened, date(2026, 5, 9), True, today) is None
    assert find_next_fee_date(opened, date(2026, 5, 10), True, today) == date(2026, 5, 9)


@pytest.mark.parametrize(
    ("status", "deadline", "left"),
    [
        ("pending", date(2026, 5, 12), 3),
        (None, date(2026, 5, 9), 0),
        ("pending", date(2026, 5, 8), None),
        ("earned", date(2026, 5, 12), None),
        ("missed", date(2026, 5, 12), None),
        ("pending", None, None),
    ],
)
def test_days_left_for_a_bonus_that_is_still_open(status: str | None, deadline: date | None, left: int | None) -> None:
    assert count_bonus_days(status, deadline, date(2026, 5, 9)) == left
