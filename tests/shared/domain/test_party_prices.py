"""Prices of award seats in words, for one person and for a party."""

from decimal import Decimal

import pytest

from shared.domain.party_prices import PartyPrice, describe_points, describe_price, format_amount


@pytest.mark.parametrize(
    ("price", "program", "words"),
    [
        (PartyPrice(47_500, Decimal(255), "USD", 2), "", "47,500 points each, 95,000 for two, 510 USD taxes"),
        (PartyPrice(47_500, Decimal(255), "USD"), "", "47,500 points per person, 255 USD taxes"),
        (
            PartyPrice(27_000, Decimal("84.15"), "GBP", 4),
            "Flying Blue",
            "27,000 points of Flying Blue each, 108,000 for four, 336.60 GBP taxes",
        ),
        (PartyPrice(1, None, None, 3), "", "1 point each, 3 for three, taxes not known"),
        (PartyPrice(5_000, Decimal(0), "JPY", 9), "", "5,000 points each, 45,000 for nine, 0 JPY taxes"),
    ],
)
def test_a_price_is_said_for_a_person_and_for_the_party(price: PartyPrice, program: str, words: str) -> None:
    assert describe_price(price, program) == words


def test_sums_of_the_party_stand_only_where_there_is_one() -> None:
    two = PartyPrice(47_500, Decimal("84.15"), "GBP", 2)
    assert (two.party_points, two.party_taxes) == (95_000, Decimal("168.30"))
    alone, untaxed = PartyPrice(47_500, Decimal(84), "GBP"), PartyPrice(47_500, None, None, 2)
    assert (alone.party_points, alone.party_taxes, untaxed.party_taxes) == (None, None, None)


def test_points_of_a_large_party_are_counted_in_digits() -> None:
    assert describe_points(1_000, 12) == "1,000 points each, 12,000 for 12"


@pytest.mark.parametrize(
    ("amount", "currency", "words"),
    [("510.00", "USD", "510 USD"), ("1234.5", "USD", "1,234.50 USD"), ("61000.4", "JPY", "61,000 JPY")],
)
def test_an_amount_shows_coins_where_there_are_any(amount: str, currency: str, words: str) -> None:
    assert format_amount(Decimal(amount), currency) == words
