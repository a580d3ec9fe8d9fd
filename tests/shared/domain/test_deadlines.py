"""Which days are told: in order, with both ends counted, and passed ones only until someone settles them."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared.domain.deadlines import (
    Deadline,
    Subject,
    Value,
    can_end_undated,
    describe_next_step,
    find_bonus_deadline,
    find_step,
    select_due,
    sort_by_stake,
)

TODAY = date(2028, 2, 28)  # the day before a leap day
SAME_DAY = [("b", "points", "x"), ("a", "points", "x"), ("a", "points", "w"), ("a", "booking", "z")]


def deadline(days: int, **changes: Any) -> Deadline:
    plain: dict[str, Any] = {
        "kind": "points",
        "title": "Points end",
        "due_on": TODAY + timedelta(days=days),
        "today": TODAY,
        "subject": Subject("points_balance", "x"),
        "suggested_action": "Use them.",
    }
    return Deadline(**plain | changes)


def test_deadlines_from_today_to_the_last_day_are_told_the_soonest_first() -> None:
    result = select_due([deadline(d) for d in (31, 30, 2, 0, -1, 1)], 30)
    assert [d.days_left for d in result] == [0, 1, 2, 30]
    assert [d.due_on for d in result][:3] == [date(2028, 2, 28), date(2028, 2, 29), date(2028, 3, 1)]


def test_what_is_most_at_stake_soonest_leads() -> None:
    def worth(days: int, amount: int | None, **changes: Any) -> Deadline:
        return deadline(days, value_at_risk=None if amount is None else Value(Decimal(amount), "USD"), **changes)

    bonus, credit, points = worth(48, 1500), worth(2, 10), worth(6, 400)
    voucher, stay = worth(20, None, kind="voucher"), worth(1, None, kind="booking")
    passed = worth(-3, 9000, open_when_past=True)
    assert sort_by_stake([passed, stay, credit, voucher, bonus, points]) == [
        points, bonus, voucher, credit, stay, passed,
    ]  # fmt: skip
    assert describe_next_step([passed, credit, bonus]).startswith(
        "First: Points end, 16 Apr 2028 (worth about 1,500 USD)."
    )
    assert describe_next_step([passed, stay]) == ""


def test_of_one_day_the_order_is_always_the_same() -> None:
    some = [deadline(1, title=t, kind=k, subject=Subject("points_balance", i)) for t, k, i in SAME_DAY]
    assert select_due(some, 9) == select_due(some[::-1], 9)


def test_a_passed_day_is_told_only_while_it_is_open() -> None:
    assert select_due([deadline(-400, open_when_past=True), deadline(-1)], 30) == [deadline(-400, open_when_past=True)]


def test_days_are_counted_from_the_day_where_it_counts() -> None:
    tomorrow_there = deadline(0, today=TODAY + timedelta(days=1))
    yesterday_there = deadline(30, today=TODAY - timedelta(days=1))
    assert select_due([tomorrow_there, yesterday_there], 30) == []


@pytest.mark.parametrize(
    ("status", "days", "closed", "told"),
    [
        ("pending", 5, None, True),
        (None, 5, None, True),
        ("pending", 0, None, True),
        ("pending", -1, None, True),
        (None, -1, None, False),
        ("earned", 5, None, False),
        ("missed", 5, None, False),
        ("pending", 5, 0, False),
        ("pending", 5, 1, True),
    ],
)
def test_a_bonus_day_is_told_until_the_bonus_is_settled(
    status: str | None, days: int, closed: int | None, told: bool
) -> None:
    day = TODAY + timedelta(days=days)
    closed_on = None if closed is None else TODAY + timedelta(days=closed)
    assert find_bonus_deadline(status, day, closed_on, TODAY) == (day if told else None)


def test_a_bonus_without_a_day_has_no_deadline() -> None:
    assert find_bonus_deadline("pending", None, None, TODAY) is None


def test_only_points_that_never_end_need_no_date() -> None:
    assert [can_end_undated(rule) for rule in ("never", "activity", "fixed")] == [False, True, True]


@pytest.mark.parametrize(
    ("kind", "days_left", "step"),
    [
        ("points", 91, None),
        ("points", 90, 90),
        ("points", 31, 90),
        ("points", 30, 30),
        ("points", 8, 30),
        ("points", 7, 7),
        ("points", 0, 7),
        ("points", -1, None),
        ("card_credit", 30, None),
        ("card_credit", 5, 7),
    ],
)
def test_a_deadline_reaches_its_steps(kind: str, days_left: int, step: int | None) -> None:
    assert find_step(kind, days_left) == step
