"""Cash against points: exact arithmetic, a plain rule, and nothing where anything is missing."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cash_or_points import AwardPrice, advise, value_point

MONEY = st.decimals(0, 50_000, places=2)
POINTS = st.integers(1, 2_000_000)
VALUES = st.decimals("0.1", 5, places=2)


def test_a_point_buys_the_fare_less_the_taxes() -> None:
    award = AwardPrice(50_000, Decimal("100.00"), Decimal("1.5"))
    assert value_point(Decimal("850.00"), award) == Decimal("1.5")
    assert award.cost == 850
    assert value_point(Decimal("80.00"), award) == Decimal("-0.04")


@pytest.mark.parametrize(("cash", "said"), [("849.99", "cash"), ("850.00", "points"), ("850.01", "points")])
def test_points_are_advised_from_their_usual_worth_on(cash: str, said: str) -> None:
    assert advise(Decimal(cash), AwardPrice(50_000, Decimal("100.00"), Decimal("1.5"))) == said


@pytest.mark.spec("s4.4.compare_cash.no_guess")
@given(cash=st.none() | MONEY, taxes=st.none() | MONEY, usual=st.none() | VALUES, points=POINTS)
def test_nothing_is_said_where_anything_is_missing(
    cash: Decimal | None, taxes: Decimal | None, usual: Decimal | None, points: int
) -> None:
    award = AwardPrice(points, taxes, usual)
    assert (advise(cash, award) is None) == (None in (cash, taxes, usual))
    assert (value_point(cash, award) is None) == (None in (cash, taxes))
    assert (award.cost is None) == (None in (taxes, usual))


@given(cash=MONEY, taxes=MONEY, usual=VALUES, points=POINTS)
def test_advice_is_the_exact_comparison_of_fractions(
    cash: Decimal, taxes: Decimal, usual: Decimal, points: int
) -> None:
    exact = (Fraction(cash) - Fraction(taxes)) * 100 / points
    assert (advise(cash, AwardPrice(points, taxes, usual)) == "points") == (exact >= Fraction(usual))


@given(awards=st.lists(st.builds(AwardPrice, POINTS, st.none() | MONEY, st.none() | VALUES), min_size=1, max_size=8))
def test_the_cheapest_award_is_one_whose_cost_is_known(awards: list[AwardPrice]) -> None:
    first = min(awards, key=lambda a: a.order)
    costs = [a.cost for a in awards if a.cost is not None]
    assert first.cost == min(costs, default=None)
    if not costs:
        assert first.points == min(a.points for a in awards)
