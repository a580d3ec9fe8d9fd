"""Dates, airport codes and money have one format in every tool; others are refused by name."""

from typing import Any

import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.registry import TOOLS
from shared.errors import Invalid
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

CODES = (r"^[A-Z]{3}$", r"^[A-Za-z]{3}$")


def _having(*forms: str) -> list[tuple[str, str]]:
    """The (tool, parameter) pairs of these formats or patterns."""
    every = [(t.name, n, p) for t in TOOLS.values() for n, p in t.arguments.schema["properties"].items()]
    return [(tool, name) for tool, name, schema in every if schema.get("format", schema.get("pattern")) in forms]


def _find_fault(tool: str, parameter: str, value: object) -> tuple[str, str]:
    """What is wrong with the argument and what would be right."""
    with pytest.raises(Invalid) as refusal:
        TOOLS[tool].arguments.check({parameter: value})
    (fault,) = [fault for fault in refusal.value.facts["errors"] if fault["field"] == parameter]
    return fault["problem"], fault["expected"]


def _is_taken(tool: str, parameter: str, value: object) -> bool:
    try:
        TOOLS[tool].arguments.check({parameter: value})
    except Invalid as refusal:
        faults = [fault["problem"] for fault in refusal.facts["errors"] if fault["field"] == parameter]
        return faults in ([], ["is required"])
    return True


def _find_taken(parameters: list[tuple[str, str]], values: list[Any]) -> list[str]:
    return [f"{t}.{p}: {value!r} is taken" for t, p in parameters for value in values if _is_taken(t, p, value)]


@pytest.mark.spec("s2.0.dates_iso")
def test_a_day_that_is_not_in_the_calendar_is_refused() -> None:
    days = _having("date", r"^(\d{4}-\d{2}-\d{2})?$")
    wrong = ["2027-02-29", "2027-13-01", "27-01-02", "01/02/2027", "2027-1-2", "20270102", 20270102]
    assert _find_taken(days, wrong) == []
    assert _find_taken(days[:1], ["2028-02-29"]) != []


@pytest.mark.spec("s2.0.iata_three_letters")
def test_a_code_that_has_not_three_letters_is_refused() -> None:
    codes = _having(*CODES)
    assert _find_taken(codes, ["LH", "LHRX", "L1R", "L R", "", "LHR\n", "ÄÖÜ", 123]) == []
    assert _find_taken(codes[:1], ["LHR"]) != []


def test_forms_and_lengths_are_enforced_though_the_list_tells_them_shortly() -> None:
    day = "a date YYYY-MM-DD that exists"
    cases = [
        ("search_availability", "date", "8 Oct 2027", "is not a date", day),
        ("search_availability", "origin", "L" * 61, "is too long", "text, up to 60 characters"),
        ("update_points_balance", "member", "J" * 61, "is too long", "text, up to 60 characters"),
        ("compare_transfer_options", "target_program", "a" * 201, "is too long", "text, up to 200 characters"),
        ("add_flight_booking", "trip_id", "not-a-uuid", "is not a UUID", "a UUID, made once by you"),
    ]
    for tool, parameter, value, problem, expected in cases:
        assert _find_fault(tool, parameter, value) == (problem, expected)
    schemas = [TOOLS[tool].arguments.schema["properties"][parameter] for tool, parameter, *_ in cases]
    assert [schema.get("format") for schema in schemas] == ["date", None, None, None, "uuid"]
    assert not [schema for schema in schemas if {"maxLength", "pattern"} & set(schema)]


@pytest.mark.spec("s2.0.money_whole_units")
def test_money_goes_in_and_comes_out_in_whole_units(people: People, use: Use) -> None:
    saved = use(people.alice, "add_card", card="A card of no one", custom=True, annual_fee=95.5, currency="gbp")
    assert (saved["card"]["annual_fee"], saved["card"]["currency"]) == (95.5, "GBP")
    assert use(people.alice, "get_usage")["plan"]["price_per_month"] == 9.99
