"""The ways of working: what each text names exists, and each stays short enough to be read whole."""

import re

import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.registry import TOOLS, Tier
from mcp_server.ways_of_working.texts import STATUSES, parse_way, read_ways_of_working

WAYS = read_ways_of_working()
NAMES = [
    "before-departure",
    "book-step-by-step",
    "cancel-or-change",
    "check-my-hotel-bill",
    "family-trip",
    "new-advisor-client",
    "plan-award-trip",
    "use-a-transfer-bonus",
    "weekly-deals",
    "where-can-my-points-take-me",
]


def test_there_are_ten() -> None:
    assert list(WAYS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_text_names_only_tools_that_people_may_call(name: str) -> None:
    way = WAYS[name]
    assert len(way.tool_names) >= 6
    for tool in way.tool_names:
        assert tool in TOOLS, tool
        assert TOOLS[tool].tier is not Tier.ADMIN
    # What stands in backticks is a tool, a status or a parameter of a tool the text names.
    parameters = {p for tool in way.tool_names for p in TOOLS[tool].arguments.schema["properties"]}
    words = set(re.findall(r"`([^`]+)`", way.text))
    assert words <= {*way.tool_names, *STATUSES, *parameters, "candidates", "paywall"}


@pytest.mark.parametrize("name", NAMES)
def test_a_text_that_needs_a_plan_says_what_to_do_without_it(name: str) -> None:
    way = WAYS[name]
    steps = way.text.partition("## Rules for every step")[0]
    if any(TOOLS[tool].tier is not Tier.FREE for tool in way.tool_names if f"`{tool}`" in steps):
        assert "`paywall`" in way.text


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_short_and_holds_the_rules(name: str) -> None:
    way = WAYS[name]
    assert way.text.startswith(f"# {way.title}\n")
    assert len(way.text.encode()) < 4_500
    assert 60 < len(way.description) < 300
    assert "never estimate" in way.text
    assert "whole party" in way.text
    assert "No one transfers before the same seat was seen" in way.text


def test_the_seat_is_confirmed_before_the_points_move() -> None:
    text = WAYS["book-step-by-step"].text
    assert text.index("4. Confirm") < text.index("5. Only now the transfer") < text.index("6. When the points have")


@pytest.mark.parametrize("name", NAMES)
def test_arguments_complete_what_the_server_can_complete(name: str) -> None:
    for argument in WAYS[name].arguments:
        assert argument.completes in ("", "airport", "program", "trip")
        assert argument.description


def test_a_file_without_a_head_is_refused() -> None:
    with pytest.raises(ValueError, match="head must stand first"):
        parse_way("some_task", "# Some task\n+++\n+++\n", "")
