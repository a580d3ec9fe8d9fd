"""An award in card currencies: exact points, the cheaper way, and when to wait."""

from datetime import timedelta
from decimal import Decimal

import pytest

from shared.domain.card_prices import CardPrice, advise_on_cards, count_portal_points, find_card_prices
from shared.domain.transfers import build_network
from tests.shared.domain.edges import edge

ROUTES = build_network([edge("bank", "miles", block=1000), edge("dear", "miles", (2, 1)), edge("other", "hotel")])
NOW = timedelta(hours=1)


def find_prices(
    fare: Decimal | None = None, portals: frozenset[str] = frozenset(), **values: Decimal
) -> list[CardPrice]:
    known = dict.fromkeys(("dear", "other", "bank")) | values
    return find_card_prices(ROUTES, known, portals, "miles", 45_200, fare)


def test_currencies_that_get_there_are_priced_to_the_block_cheapest_first() -> None:
    assert [(p.currency, p.points, p.portal) for p in find_prices()] == [("bank", 46_000, None), ("dear", 90_400, None)]


def test_the_cheapest_is_that_whose_points_are_worth_least_and_one_of_unknown_value_is_last() -> None:
    priced = find_prices(bank=Decimal("1.8"), dear=Decimal("0.3"))
    assert [(p.currency, p.worth) for p in priced] == [("dear", Decimal("271.2")), ("bank", Decimal("828"))]
    assert [p.currency for p in find_prices(dear=Decimal("0.3"))] == ["dear", "bank"]


def test_a_portal_is_priced_only_where_its_rate_is_known_and_a_fare_was_seen() -> None:
    result = find_prices(Decimal("812.305"), frozenset({"dear"}))
    assert [(p.currency, p.portal, p.cheaper) for p in result] == [
        ("bank", None, "transfer"),
        ("dear", 81_231, "portal"),
    ]


@pytest.mark.parametrize(("fare", "points"), [(Decimal("100"), 10_000), (Decimal("100.001"), 10_001), (None, None)])
def test_portal_points_are_rounded_up(fare: Decimal | None, points: int | None) -> None:
    assert count_portal_points(fare) == points


@pytest.mark.parametrize(
    ("portal", "age", "advice"),
    [
        (None, NOW, "transfer"),
        (None, timedelta(hours=24), "transfer"),
        (None, timedelta(hours=25), "wait"),
        (45_999, timedelta(hours=25), "portal"),
        (45_999, NOW, "portal"),
        (46_000, NOW, "transfer"),
    ],
)
def test_advice_follows_price_and_age(portal: int | None, age: timedelta, advice: str) -> None:
    assert advise_on_cards(find_prices(), portal, age) == advice


def test_without_a_way_the_portal_or_nothing_is_left() -> None:
    assert advise_on_cards([], None, NOW) == "wait"
    assert advise_on_cards([], 10_000, NOW) == "portal"
