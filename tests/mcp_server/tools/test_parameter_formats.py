"""Dates, airport codes and money have one format in every tool; others are refused by name."""

from typing import Any

import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.parameters import DAY_PATTERN
from mcp_server.toolkit.registry import TOOLS
from shared.errors import Invalid
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

CODES = (r"^[A-Z]{3}$", r"^[A-Za-z]{3}$")


def _having(*patterns: str) -> list[Any]:
    """The (tool, parameter) pairs of these forms."""
    every = [(t.name, n, p) for t in TOOLS.values() for n, p in t.arguments.schema["properties"].items()]
    return [pytest.param(t, n, id=f"{t}.{n}") for t, n, p in every if p.get("pattern") in patterns]


def _refused(tool: str, parameter: str, value: object) -> bool:
    with pytest.raises(Invalid) as refusal:
        TOOLS[tool].arguments.check({parameter: value})
    faults = refusal.value.facts["errors"]
    return any(f["field"] == parameter and f["problem"] != "is required" for f in faults)


@pytest.mark.spec("s2.0.dates_iso")
@pytest.mark.parametrize(("tool", "parameter"), _having(DAY_PATTERN, rf"^({DAY_PATTERN[1:-1]})?$"))
@pytest.mark.parametrize(
    "value", ["2027-02-29", "2027-13-01", "27-01-02", "01/02/2027", "2027-1-2", "20270102", 20270102]
)
def test_a_day_that_is_not_in_the_calendar_is_refused(tool: str, parameter: str, value: object) -> None:
    assert _refused(tool, parameter, value)


@pytest.mark.spec("s2.0.iata_three_letters")
@pytest.mark.parametrize(("tool", "parameter"), _having(*CODES))
@pytest.mark.parametrize("value", ["LH", "LHRX", "L1R", "L R", "", "LHR\n", "ÄÖÜ", 123])
def test_a_code_that_has_not_three_letters_is_refused(tool: str, parameter: str, value: object) -> None:
    assert _refused(tool, parameter, value)


@pytest.mark.spec("s2.0.money_whole_units")
def test_money_goes_in_and_comes_out_in_whole_units(people: People, use: Use) -> None:
    saved = use(people.alice, "add_card", card="A card of nobody", custom=True, annual_fee=95.5, currency="gbp")
    assert (saved["card"]["annual_fee"], saved["card"]["currency"]) == (95.5, "GBP")
    assert use(people.alice, "get_usage")["plan"]["price_per_month"] == 9.99
