"""The table of limits, and what each plan adds in words."""

from dataclasses import astuple

import pytest

from shared.domain.plans import LIMITS, Limits, Plan, Tier, is_allowed, list_additions, list_cabins


@pytest.mark.spec("s1.4.four_plans_and_admin")
def test_four_plans_include_each_other_in_order() -> None:
    assert [p.slug for p in sorted(LIMITS)] == ["free", "premium", "pro", "enterprise"]


@pytest.mark.spec("s1.4.paid_label_distinct")
def test_paid_and_premium_gate_alike_and_keep_their_labels() -> None:
    assert (Tier.PAID.label, Tier.PREMIUM.label) == ("Paid", "Premium")
    assert (
        [is_allowed(p, Tier.PAID) for p in Plan]
        == [is_allowed(p, Tier.PREMIUM) for p in Plan]
        == [False, True, True, True]
    )


@pytest.mark.spec("s8.free_five_searches", "s8.premium_unlimited")
def test_searches_are_five_on_free_and_unlimited_above() -> None:
    assert [LIMITS[p].searches_per_day for p in Plan] == [5, None, None, None]
    assert [list_cabins(p) for p in (Plan.FREE, Plan.PREMIUM)] == [
        ("economy",),
        ("economy", "premium_economy", "business", "first"),
    ]


@pytest.mark.spec("s8.api_tier_limit_free", "s8.api_tier_limit_enterprise")
def test_api_calls_a_month_are_those_of_the_specification() -> None:
    assert [LIMITS[p].api_calls_per_month for p in Plan] == [50, 150, 150, 500]


def test_limits_are_written_by_name_alone() -> None:
    with pytest.raises(TypeError):
        Limits(*astuple(LIMITS[Plan.FREE]))


def test_additions_tell_the_numbers_that_change_and_only_those() -> None:
    assert "1 route monitor" in list_additions(Plan.FREE)
    assert "20 route monitors" in list_additions(Plan.PREMIUM)
    assert not [a for a in list_additions(Plan.PRO) if "API calls" in a]
    assert "500 API calls a month" in list_additions(Plan.ENTERPRISE)
