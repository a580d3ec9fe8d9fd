"""What points got: one redemption for a booking, and nothing where a price is missing."""

from decimal import Decimal

from shared.domain.redemptions import Cost, Redemption, join_costs, sum_redemptions


def cost(points: int | None, taxes: int | None, price: int | None, currency: str = "USD") -> Cost:
    amounts = [None if amount is None else Decimal(amount) for amount in (taxes, price)]
    return Cost(points, amounts[0], amounts[1], currency)


def test_the_legs_of_a_booking_are_one_redemption() -> None:
    whole = join_costs([cost(60_000, 100, 1_300), cost(0, 0, None), cost(None, None, None)])
    assert whole == Redemption(60_000, Decimal(100), Decimal(1_300), "USD", "given")
    assert (whole.value, whole.cents_per_point) == (Decimal(1_200), Decimal("2.00"))
    both = join_costs([cost(10_000, 5, 200), cost(15_000, 5, 300)])
    assert both is not None
    assert (both.points, both.cents_per_point) == (25_000, Decimal("1.96"))


def test_a_price_that_is_not_whole_is_no_price() -> None:
    for legs in (
        [cost(10_000, 5, 200), cost(15_000, 5, None)],
        [cost(10_000, 5, None)],
        [cost(10_000, 5, 0)],
        [cost(10_000, 5, 200), cost(0, 5, None, "EUR")],
    ):
        redemption = join_costs(legs)
        assert redemption is not None
        assert (redemption.cash_price, redemption.basis, redemption.value) == (None, None, None)
    assert join_costs([cost(0, 5, 200), cost(None, 5, 200)]) is None


def test_taxes_that_are_not_known_leave_the_value_unknown() -> None:
    redemption = join_costs([cost(10_000, None, 200)])
    assert redemption is not None
    assert (redemption.cash_price, redemption.value, redemption.cents_per_point) == (Decimal(200), None, None)


def test_sums_convert_and_count_what_is_left_out() -> None:
    rates = {"USD": Decimal(1), "EUR": Decimal("1.1")}
    redemptions = [
        Redemption(10_000, Decimal(0), Decimal(100), "USD", "given"),
        Redemption(10_000, Decimal(0), Decimal(100), "EUR", "seen"),
        Redemption(10_000, Decimal(0), Decimal(100), "XXX", "given"),
        Redemption(10_000, None, Decimal(100), "USD", "given"),
        Redemption(10_000, Decimal(0), None, "USD", None),
    ]
    sums = sum_redemptions(
        redemptions, lambda amount, currency: amount * rates[currency] if currency in rates else None
    )
    assert (sums.count, sums.points, sums.value, sums.cents_per_point) == (2, 20_000, 210, Decimal("1.05"))
    assert (sums.without_price, sums.without_taxes, sums.without_rate) == (1, 1, 1)
    assert sum_redemptions([], lambda amount, _: amount).cents_per_point is None
