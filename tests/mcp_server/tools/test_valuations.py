"""Valuations of points, called through the gate."""

import pytest

from shared.domain.dates import format_day
from shared.reference.exchange_rates import find_exchange_rate
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def test_get_points_valuation_gives_the_spread_and_who_said_so(people: People, use: Use) -> None:
    answer = use(people.bob, "get_points_valuation", program="aadvantage", points=50_000)
    line = answer["valuations"][0]
    assert (line["low"], line["usual"], line["high"], line["unit"]) == (1.4, 1.5, 1.7, "US cents per point")
    assert {s["name"]: s["value"] for s in line["sources"]} == {
        "The Points Guy": 1.7,
        "Upgraded Points": 1.4,
        "One Mile at a Time": 1.5,
    }
    assert answer["value_of_points"] == {"low": 700.0, "usual": 750.0, "high": 850.0, "currency": "USD"}
    assert line["as_of"] == "2026-03-21"
    assert line["unaudited"] is True


def test_get_points_valuation_derives_no_value_that_nobody_published(people: People, use: Use) -> None:
    answer = use(people.bob, "get_points_valuation", program="hsbc-premier-rewards-uk", points=1_000)
    assert (answer["status"], answer["missing"]) == ("no_data", ["valuation"])


def test_get_points_valuation_lists_those_with_a_value_and_counts_the_rest(people: People, use: Use) -> None:
    answer = use(people.bob, "get_points_valuation", points=1_000)
    by = {v["program"]: v for v in answer["valuations"]}
    assert "no_data" not in {v["usual"] for v in by.values()}
    assert f"{len(by)} of 90 programmes have a published value" in answer["message"]
    assert "tap-miles-and-go" not in by
    assert answer["value_of_points"] is None
    assert use(people.bob, "get_points_valuation", program="tap-miles-and-go")["missing"] == ["valuation"]


def test_get_points_valuation_never_invents_an_exchange_rate(people: People, use: Use) -> None:
    answer = use(people.bob, "get_points_valuation", program="marriott", points=10_000, currency="kwd")
    assert answer["value_of_points"] is None
    assert "No exchange rate" in answer["message"]


def test_get_points_valuation_converts_as_the_portfolio_does(people: People, use: Use) -> None:
    use(people.bob, "update_points_balance", program="marriott-bonvoy", balance=10_000)
    use(people.bob, "update_profile", currency="GBP")
    answer = use(people.bob, "get_points_valuation", program="marriott", points=10_000, currency="gbp")
    kept = use(people.bob, "get_portfolio")["balances"]
    assert answer["value_of_points"]["currency"] == kept["currency"] == "GBP"
    assert answer["value_of_points"]["usual"] == kept["value"]
    assert answer["value_of_points"]["low"] <= answer["value_of_points"]["usual"] <= answer["value_of_points"]["high"]
    rate = find_exchange_rate("GBP")
    assert rate
    assert f"1 GBP taken as {rate.usd_per_unit:.4g} USD, the European Central Bank's rate of" in answer["message"]
    assert rate.day
    assert format_day(rate.day) in answer["message"]


@pytest.mark.parametrize("currency", ["JPY", "CHF", "SGD", "INR", "SEK", "THB"])
def test_get_points_valuation_converts_into_every_currency_of_the_central_bank(
    people: People, use: Use, currency: str
) -> None:
    dollars = use(people.bob, "get_points_valuation", program="marriott", points=10_000)["value_of_points"]
    answer = use(people.bob, "get_points_valuation", program="marriott", points=10_000, currency=currency)
    rate = find_exchange_rate(currency)
    assert rate
    assert answer["value_of_points"]["usual"] == pytest.approx(dollars["usual"] / float(rate.usd_per_unit), rel=0.001)


def test_get_points_valuation_in_yen_has_no_sen(people: People, use: Use) -> None:
    answer = use(people.bob, "get_points_valuation", program="marriott", points=10_000, currency="JPY")
    amount = answer["value_of_points"]["usual"]
    assert amount == int(amount)
    assert f"worth about {int(amount):,} JPY," in answer["message"]


def test_get_points_valuation_compares_the_figures_a_person_has(people: People, use: Use) -> None:
    figures = {"program": "aadvantage", "points": 95_000, "taxes": 420, "cash": 2300}
    answer = use(people.bob, "get_points_valuation", **figures)
    check = answer["check"]
    # (2,300 - 420) / 95,000 points; at 1.5 cents they would be 1,425 USD, with the taxes 1,845
    assert (check["cents_per_point"], check["compared_with"], check["basis"]) == (1.98, 1.5, "published")
    assert (check["better"], check["difference"], check["currency"]) == ("points", 455, "USD")
    verdict = "Points cost about 455.00 USD less: one point buys 1.98 US cents, the usual value is 1.5 ("
    assert answer["message"].startswith(verdict)
    use(people.bob, "update_points_balance", program="american-airlines-aadvantage", balance=1, cents_per_point=2.1)
    answer = use(people.bob, "get_points_valuation", **figures)
    assert (answer["check"]["basis"], answer["check"]["better"], answer["check"]["difference"]) == ("own", "cash", 115)
    assert answer["message"].startswith("Cash costs about 115.00 USD less: ")
    assert "your own value is 2.1" in answer["message"]


def test_get_points_valuation_tells_what_else_the_points_buy(people: People, use: Use) -> None:
    figures = {"program": "chase-ultimate-rewards", "points": 60_000, "taxes": 0, "cash": 700}
    uses = use(people.bob, "get_points_valuation", **figures)["check"]["other_uses"]
    assert (uses[0]["program"], uses[0]["points"], uses[0]["posting"]) == ("chase-ultimate-rewards", 60_000, None)
    assert [u["value"] for u in uses[1:]] == sorted((u["value"] for u in uses[1:]), reverse=True)
    assert len(uses) == 4
    assert all(u["points"] <= 60_000 for u in uses)


def test_get_points_valuation_where_taxes_eat_the_award_says_pay_cash(people: People, use: Use) -> None:
    figures = {"program": "aadvantage", "points": 10_000, "taxes": 300, "cash": 250, "currency": "GBP"}
    answer = use(people.bob, "get_points_valuation", **figures)
    assert answer["check"]["better"] == "cash"
    assert answer["message"].startswith("Pay cash: the taxes alone are as much as the cash price")


@pytest.mark.parametrize("left_out", ["program", "points", "cash"])
def test_get_points_valuation_wants_the_figures_of_a_check_whole(people: People, use: Use, left_out: str) -> None:
    figures = {"program": "aadvantage", "points": 10_000, "taxes": 30, "cash": 250}
    answer = use(people.bob, "get_points_valuation", **{k: v for k, v in figures.items() if k != left_out})
    assert (answer["status"], [e["field"] for e in answer["errors"]]) == ("invalid", [left_out])


def test_get_points_valuation_never_passes_an_own_value_off_as_published(people: People, use: Use) -> None:
    use(people.bob, "update_points_balance", program="hsbc-premier-rewards-uk", balance=1, cents_per_point=0.8)
    message = use(people.bob, "get_points_valuation", program="hsbc-premier-rewards-uk")["message"]
    assert "No published value" in message
    assert "by your own value a point is 0.80 US cents" in message
    assert "usually" not in message
