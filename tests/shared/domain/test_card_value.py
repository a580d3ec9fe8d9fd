"""What a card is worth: rates with caps, bonuses that spending reaches, credits, first years free and cards held."""

from decimal import Decimal

from shared.domain.card_value import (
    CATEGORIES,
    PARTS,
    CardOffer,
    CategoryRate,
    find_best_by_category,
    find_rate,
    value_by_category,
    value_card,
)
from shared.reference.load import reference

BASE = CategoryRate("base", Decimal(1), None)
DINING = CategoryRate("dining", Decimal(4), Decimal(1000))


def offer(**changed: object) -> CardOffer:
    plain: dict[str, object] = {
        "fee": Decimal(95),
        "currency": "USD",
        "benefits": (),
        "rates": (BASE, DINING),
        "bonus": 60_000,
        "bonus_spend": Decimal(4_000),
        "bonus_months": 3,
        "point": Decimal("0.02"),
    }
    return CardOffer(**(plain | changed))  # type: ignore[arg-type]


def spent(**amounts: int) -> dict[str, Decimal]:
    return {name: Decimal(amount) for name, amount in amounts.items()}


def test_every_rate_of_the_catalogue_is_a_category_or_a_known_condition() -> None:
    existing = {*CATEGORIES, *PARTS, "base"}
    assert {row.category for row in reference().rows("card_earn.csv")} <= existing


def test_over_its_cap_a_rate_falls_to_the_base_rate() -> None:
    assert value_by_category(offer(), spent(dining=1500)) == {"dining": Decimal("90.00")}  # 4 x 1,000 + 1 x 500 points


def test_rates_of_one_group_share_their_cap() -> None:
    dining = CategoryRate("dining", Decimal(4), Decimal(1000), cap_group="both")
    groceries = CategoryRate("groceries", Decimal(4), Decimal(1000), cap_group="both")
    shared = value_by_category(offer(rates=(BASE, dining, groceries)), spent(dining=800, groceries=500))
    assert shared == {"dining": Decimal("64.00"), "groceries": Decimal("22.00")}  # 800 x 4; 200 x 4 + 300 x 1


def test_over_the_cap_of_the_base_rate_nothing_is_assumed() -> None:
    capped = offer(rates=(CategoryRate("base", Decimal(1), Decimal(1000)),))
    assert value_by_category(capped, spent(retail=800, other=700)) == {
        "retail": Decimal("16.00"),
        "other": Decimal("4.00"),
    }


def test_a_rate_for_a_part_of_a_category_counts_only_where_it_is_lower() -> None:
    better, worse = CategoryRate("portal_hotels", Decimal(10), None), CategoryRate("government", Decimal("0.5"), None)
    assert find_rate((BASE, better), "hotels") == BASE
    assert find_rate((BASE, worse), "insurance_tax_gov") == worse


def test_cash_back_needs_no_valuation_and_points_do() -> None:
    cash = offer(rates=(CategoryRate("base", Decimal(2), None, percent=True),), point=None)
    assert value_by_category(cash, spent(other=500)) == {"other": Decimal(10)}
    assert value_by_category(offer(point=None), spent(other=500)) is None


def test_the_first_year_is_bonus_and_earnings_and_credits_less_the_fee() -> None:
    result = value_card(offer(credits=Decimal(300)), spent(other=24_000))
    assert (result.bonus, result.earn, result.credits, result.fee) == (1200, 480, 300, 95)
    assert (result.first_year, result.ongoing) == (1885, 685)
    assert result.points_per_year == 24_000


def test_a_bonus_out_of_reach_is_not_counted() -> None:
    assert value_card(offer(), {}, total=Decimal(15_999)).bonus == 0  # a quarter of the year brings 3,999.75
    assert value_card(offer(), {}, total=Decimal(16_000)).bonus == 1200
    assert value_card(offer(bonus=None), {}, total=Decimal(16_000)).bonus is None
    assert value_card(offer(), {}).bonus == 1200  # nothing is known about the spending


def test_an_owned_card_pays_no_bonus_and_its_fee_from_the_next_year() -> None:
    free = offer(benefits=("first year free",))
    assert (value_card(free, {}).fee, value_card(free, {}).ongoing) == (0, -95)
    owned = value_card(offer(), {}, owned=True)
    assert (owned.bonus, owned.fee, owned.first_year, owned.ongoing) == (0, 0, 0, -95)


def test_only_what_goes_beyond_the_cards_held_is_this_cards_merit() -> None:
    balances = find_best_by_category([{"dining": Decimal(50)}, {"dining": Decimal(30), "other": Decimal(100)}])
    assert balances == {"dining": 50, "other": 100}
    assert (
        value_card(offer(), spent(dining=1000, other=1000), balances).earn == 30
    )  # dining 80 - 50; other 20 - 100 is none


def test_credits_nobody_knows_are_not_nothing() -> None:
    assert value_card(offer(), {}).credits is None
    assert value_card(offer(credits=Decimal(0)), {}).credits == 0


def test_anniversary_points_count_from_the_second_year() -> None:
    result = value_card(offer(benefits=("10,000 anniversary miles",), bonus=None), {})
    assert (result.first_year, result.ongoing) == (-95, 105)
