"""The balances that pay an award: the fastest that are enough, or what is missing."""

from datetime import date
from decimal import Decimal

import pytest

from shared.domain.funding import find_funding
from shared.domain.transfer_options import Purse
from shared.reference.load import reference

DAY = date(2026, 11, 22)
BA = "british-airways-club"


def pay(needed: int, **points: int) -> tuple[list[tuple[str, str]], int]:
    purses = [Purse(name.replace("_", "-"), count, Decimal("1.5")) for name, count in points.items()]
    funding = find_funding(reference().routes(DAY), purses, BA, needed)
    return [(way.purse.program, way.posting) for way in funding.ways], funding.missing


@pytest.mark.parametrize(
    ("points", "ways", "missing"),
    [
        ({"british_airways_club": 90_000, "chase_ultimate_rewards": 90_000}, [(BA, "instant")], 0),
        ({"marriott_bonvoy": 900_000, "chase_ultimate_rewards": 90_000}, [("chase-ultimate-rewards", "instant")], 0),
        ({"marriott_bonvoy": 900_000}, [("marriott-bonvoy", "days")], 0),
        ({"british_airways_club": 50_000, "chase_ultimate_rewards": 20_000}, [], 10_000),
        ({}, [], 80_000),
    ],
)
def test_the_fastest_balance_that_is_enough_pays(
    points: dict[str, int], ways: list[tuple[str, str]], missing: int
) -> None:
    assert pay(80_000, **points) == (ways, missing)


def test_two_balances_pay_together_what_none_pays_alone() -> None:
    ways, missing = pay(80_000, british_airways_club=50_000, chase_ultimate_rewards=40_000)
    assert ({program for program, _ in ways}, missing) == ({BA, "chase-ultimate-rewards"}, 0)
