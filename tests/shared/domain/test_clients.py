"""Clients of an advisor: balances and preferences within their bounds."""

from typing import Any

import pytest

from shared.domain import clients
from shared.errors import Invalid, NotFound

KNOWN = {"flying blue": "flying-blue", "krisflyer": "singapore-krisflyer", "singapore krisflyer": "singapore-krisflyer"}


def resolve(name: str) -> str:
    if name.lower() not in KNOWN:
        raise NotFound("programme", name)
    return KNOWN[name.lower()]


def read(given: dict[str, Any], *, may_remove: bool = False) -> tuple[dict[str, int | None], list[str]]:
    return clients.parse_balances(given, resolve, may_remove=may_remove)


def refuse(given: dict[str, Any]) -> str:
    with pytest.raises(Invalid) as no:
        read(given)
    return str(no.value.facts["errors"][0]["field"])


def test_known_names_become_slugs_and_others_stay_as_given() -> None:
    assert read({"Flying Blue": 5000, " Village  Miles ": 7}) == (
        {"flying-blue": 5000, "Village Miles": 7},
        ["Village Miles"],
    )


@pytest.mark.parametrize("value", [0, 1_000_000_000, 50000.0, "50000", "50,000"])
def test_whole_numbers_are_taken_in_each_way_they_are_written(value: Any) -> None:
    assert read({"Flying Blue": value})[0] == {"flying-blue": int(str(value).replace(",", "").removesuffix(".0"))}


@pytest.mark.parametrize(
    "value", [-1, 1_000_000_001, 1.5, True, None, "many", "", "-5", "1e9", [], {}, float("nan"), float("inf"), 10**400]
)
def test_what_is_no_number_of_points_is_refused_by_name(value: Any) -> None:
    assert refuse({"Flying Blue": value}) == "balances.Flying Blue"


def test_one_programme_under_two_names_is_refused() -> None:
    assert refuse({"KrisFlyer": 1, "Singapore KrisFlyer": 2}) == "balances.Singapore KrisFlyer"


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "a\x07b", "half\ud800"])
def test_names_that_cannot_be_shown_are_refused(name: str) -> None:
    assert refuse({name: 1}) == "balances"


def test_more_than_a_hundred_programmes_are_refused() -> None:
    assert refuse({f"Club {n}": n for n in range(101)}) == "balances"


def test_nothing_removes_an_entry_only_where_there_is_something_to_remove() -> None:
    assert read({"Flying Blue": None}, may_remove=True)[0] == {"flying-blue": None}


@pytest.mark.parametrize(
    "given",
    [
        {"a": {"b": {"c": {"d": {"e": {}}}}}},
        {"a": [[[[[[]]]]]]},
        {"a": "x" * 17_000},
        {"a": float("nan")},
        {"a": "half\ud800"},
    ],
)
def test_preferences_out_of_bounds_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        clients.check_preferences(given)


def test_plain_preferences_are_taken_as_they_are() -> None:
    values = {"cabin": "business", "airlines": ["AF", "KL"], "anchors": {"home": "AMS", "avoid": None}}
    assert clients.check_preferences(values) == values


def test_new_entries_lie_over_old_ones_or_in_their_place() -> None:
    old = {"a": 1, "b": 2}
    assert clients.merge_fields(old, {"b": None, "c": 3}, replace=False) == {"a": 1, "c": 3}
    assert clients.merge_fields(old, {"c": 3}, replace=True) == {"c": 3}


@pytest.mark.parametrize("text", ["nobody", "a@", "@b", "a b@c.example", "a@b c", "a@b@c"])
def test_a_wrong_email_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an email address"):
        clients.check_email(text)


@pytest.mark.parametrize(
    ("text", "good"), [("+44 20 7946 0958", True), ("(030) 12", False), ("call me", False), ("0171/234-567", True)]
)
def test_telephone_numbers_hold_digits_and_what_people_write_between_them(text: str, good: bool) -> None:
    if good:
        assert clients.check_phone(text) == text
    else:
        with pytest.raises(ValueError, match="telephone"):
            clients.check_phone(text)
