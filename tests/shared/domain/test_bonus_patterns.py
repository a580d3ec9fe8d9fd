"""Patterns of past bonuses: what was seen, never what will come."""

from datetime import date

import pytest

from shared.domain.bonus_patterns import PastBonus, describe_pattern, find_yearly_season


def _bonus(year: int, month: int, percent: int = 30) -> PastBonus:
    return PastBonus(percent, date(year, month, 1), date(year, month, 28))


def test_one_bonus_is_no_pattern() -> None:
    assert describe_pattern([]) is None
    assert describe_pattern([_bonus(2026, 4)]) is None


def test_a_bonus_of_each_spring_is_said_with_its_first_year_and_no_forecast() -> None:
    text = describe_pattern([_bonus(2024, 4, 25), _bonus(2023, 5), _bonus(2025, 3), _bonus(2026, 4)])
    assert text == (
        "Seen 4 times since May 2023, 25 to 30%; the last one 1 Apr 2026 to 28 Apr 2026. It came every spring since"
        " 2023. Past bonuses do not announce the next."
    )


@pytest.mark.parametrize(
    ("months", "season"),
    [
        ([(2023, 4), (2025, 4)], None),
        ([(2026, 4), (2026, 8)], None),
        ([(2024, 12), (2026, 1)], ("winter", 2025)),
        ([(2024, 8), (2025, 8), (2026, 7), (2026, 4)], ("summer", 2024)),
    ],
)
def test_only_years_that_follow_one_another_make_a_season(
    months: list[tuple[int, int]], season: tuple[str, int] | None
) -> None:
    assert find_yearly_season([_bonus(*month) for month in months]) == season


def test_a_bonus_without_a_first_day_counts_by_its_last() -> None:
    open_start = PastBonus(20, None, date(2026, 9, 30))
    assert "the last one until 30 Sep 2026" in (describe_pattern([_bonus(2026, 5), open_start]) or "")
