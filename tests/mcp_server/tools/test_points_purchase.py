"""What buying points costs, by conversation."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from mcp_server.toolkit.context import ANONYMOUS
from shared.reference.load import reference
from shared.reference.points_purchase import find_sale_price
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock


@pytest.mark.spec("s4.4.get_buy_points_pricing.params", "s4.4.get_buy_points_pricing.open")
def test_get_buy_points_pricing_lists_every_programme_without_an_account(people: People, use: Use) -> None:
    answer = use(ANONYMOUS, "get_buy_points_pricing", quantity=10_000)
    by = {p["program"]: p for p in answer["programs"]}
    assert len(by) == 27
    assert by["hilton-honors"]["base_cents_per_point"] == 1.0
    assert by["hilton-honors"]["sale"] is None
    assert by["icelandair-saga-club"]["base_cents_per_point"] == "no_data"
    assert by["icelandair-saga-club"]["quote"] is None
    assert by["british-airways-club"]["quote"] == {"quantity": 10_000, "total": 175.0, "cents_per_point": 1.75}
    assert use(ANONYMOUS, "get_buy_points_pricing", quantity=0)["status"] == "invalid"


def test_get_buy_points_pricing_quotes_whole_blocks_with_the_fee_of_the_order(people: People, use: Use) -> None:
    line = use(people.bob, "get_buy_points_pricing", program="BA", quantity=34_001)["programs"][0]
    assert line["quote"] == {"quantity": 35_000, "total": 575.0, "cents_per_point": 1.6429}
    assert (line["order_fee"], line["currency"], line["maximum_per_year"]) == (15.0, "GBP", 100_000)
    assert (line["confidence"], line["unaudited"]) == ("low", True)
    few = use(people.bob, "get_buy_points_pricing", program="delta", quantity=1)["programs"][0]
    assert few["quote"]["quantity"] == few["minimum"] == 2_000


def test_get_buy_points_pricing_counts_a_sale_while_it_runs(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2023, 3, 7, 23, 59, tzinfo=UTC))
    line = use(people.bob, "get_buy_points_pricing", program="hilton", quantity=20_000)["programs"][0]
    assert (line["sale"]["bonus_percent"], line["sale"]["ends_on"]) == (100, "2023-03-07")
    assert (line["base_cents_per_point"], line["best_cents_per_point"]) == (1.0, 0.5)
    assert line["quote"] == {"quantity": 20_000, "total": 100.0, "cents_per_point": 0.5}
    message = use(people.bob, "get_buy_points_pricing", program="hilton", quantity=20_000)["message"]
    assert "A sale runs until 7 Mar 2023." in message
    (listed,) = use(people.bob, "whats_on_sale", category="points")["points_sales"]
    assert (listed["cents_per_point"], listed["currency"]) == (line["best_cents_per_point"], line["currency"])
    standing_clock.set(datetime(2023, 3, 8, tzinfo=UTC))
    over = use(people.bob, "get_buy_points_pricing", program="hilton")
    assert over["programs"][0]["sale"] is None
    assert "Past sales known: 100% bonus until 7 Mar 2023." in over["message"]


def test_get_buy_points_pricing_names_past_sales_the_newest_first(people: People, use: Use) -> None:
    message = use(people.bob, "get_buy_points_pricing", program="ihg")["message"]
    newest, older = "100% bonus for those it was sent to until 15 Dec 2025", "100% bonus until 30 Dec 2023"
    assert f"Past sales known: {newest}; {older}." in message


@pytest.mark.parametrize(
    ("program", "terms", "cents", "currency"),
    [
        ("united-mileageplus", {"discount_percent": Decimal(40)}, "2.1", "USD"),
        ("air-canada-aeroplan", {"bonus_percent": 100}, "1.75", "CAD"),
        ("chase-ultimate-rewards", {"bonus_percent": 100}, None, None),
    ],
)
def test_a_sale_without_a_price_of_its_own_is_reckoned_from_the_list_price(
    program: str, terms: dict[str, Any], cents: str | None, currency: str | None
) -> None:
    row = reference().rows("points_sales.csv")[0]
    plain = {"program": program, "unit_price_usd_cents": None, "bonus_percent": None, "discount_percent": None}
    assert find_sale_price(reference(), replace(row, **(plain | terms))) == (
        Decimal(cents) if cents else None,
        currency,
    )


def test_get_buy_points_pricing_refuses_more_than_an_order_may_have(people: People, use: Use) -> None:
    answer = use(people.bob, "get_buy_points_pricing", program="hyatt", quantity=60_000)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "quantity")
    assert "55000" in answer["errors"][0]["expected"]


def test_get_buy_points_pricing_of_a_programme_that_sells_none_is_no_data(people: People, use: Use) -> None:
    assert use(people.bob, "get_buy_points_pricing", program="chase")["missing"] == ["buy-points price"]
    assert use(people.bob, "get_buy_points_pricing", program="avios")["status"] == "candidates"
    assert use(people.bob, "get_buy_points_pricing", program="hylton")["nearest"][0] == "hilton-honors"


def test_get_buy_points_pricing_of_american_is_before_tax(people: People, use: Use) -> None:
    (price,) = use(people.bob, "get_buy_points_pricing", program="aadvantage")["programs"]
    assert price["base_cents_per_point"] == 3.5
    assert "3.76 cents a mile with it" in price["taxes"]


def test_get_buy_points_pricing_of_ten_years_ago_is_unknown_today(people: People, use: Use) -> None:
    answer = use(people.bob, "get_buy_points_pricing", program="marriott")
    assert answer["status"] == "no_data"
    assert "The newest source is of 2016" in answer["message"]


def test_get_buy_points_pricing_says_how_old_a_list_price_is(people: People, use: Use) -> None:
    message = use(people.bob, "get_buy_points_pricing", program="AAdvantage")["message"]
    assert message.startswith(
        "A point of American Airlines AAdvantage costs 0.035 USD, as of 20 Jan 2022. Not checked;"
    )
