"""What was changed is told by the name of the thing and its new values."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from shared.domain.field_changes import describe_changes


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("departure_date", date(2027, 10, 8), "departure date now 8 Oct 2027"),
        ("departure_time", time(21, 5), "departure time now 21:05"),
        ("earned_at", datetime(2027, 10, 8, 21, 5, tzinfo=UTC), "earned at now Fri 8 Oct 2027, 21:05 UTC"),
        ("points_spent", 50_000, "points spent now 50,000"),
        ("cash_paid", Decimal("1200.50"), "cash paid now 1,200.50"),
        ("annual_fee", 95.0, "annual fee now 95"),
        ("trip_id", 12_345, "trip id now 12345"),
        ("active", False, "active now off"),
        ("cabin", "premium_economy", "cabin now premium economy"),
        ("label", "Ann_s\n house", "label now Ann_s house"),
        ("airlines", ["BA", "QR"], "airlines now BA, QR"),
        ("mail", {"route_monitors": False}, "mail now route monitors off"),
        ("notes", None, "notes removed"),
        ("airlines", [], "airlines removed"),
        ("notes", "x" * 61, "notes"),
        ("legs", [{"id": 1}], "legs"),
        ("place", object(), "place"),
    ],
)
def test_a_new_value_is_told_as_people_read_it(field: str, value: Any, words: str) -> None:
    assert describe_changes("it", {field: value}, [field]) == f"Changed it: {words}."


def test_each_change_is_told_and_a_field_without_a_value_by_its_name() -> None:
    sentence = describe_changes("the visit to The Pier (HKG)", {"guests": 2, "rating": 5}, ["guests", "credit"])
    assert sentence == "Changed the visit to The Pier (HKG): guests now 2; credit."


def test_nothing_different_is_told_as_that() -> None:
    assert describe_changes("it", {"guests": 2}, []) == "Nothing was different, so nothing was changed."
