"""Answers that are kept: what decides one, and when all are dropped."""

from datetime import timedelta
from typing import Any

import pytest

from mcp_server.calls.dispatch import MAX_ANSWERS, KeptAnswers, find_key
from mcp_server.toolkit.context import ANONYMOUS, Call
from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.reference.load import reference
from shared.reference.reference import Reference


@pytest.fixture
def call() -> Call:
    return Call(ANONYMOUS, "mcp", clock.now())


def keep(kept: KeptAnswers[str], call: Call, *keys: int) -> list[str]:
    """The answers, each told by its number and how many were built before it."""
    built: list[int] = []

    def build(key: int) -> str:
        built.append(key)
        return f"{key}: {len(built)}"

    return [kept.find(call, key, lambda key=key: build(key)) for key in keys]


def test_an_answer_is_built_once(call: Call) -> None:
    assert keep(KeptAnswers(), call, 1, 2, 1) == ["1: 1", "2: 2", "1: 1"]


def test_the_oldest_of_too_many_is_built_again(call: Call) -> None:
    more = range(1, MAX_ANSWERS + 1)
    assert keep(KeptAnswers(), call, 0, *more, MAX_ANSWERS, 0)[-2:] == [
        f"{MAX_ANSWERS}: {MAX_ANSWERS + 1}",
        f"0: {MAX_ANSWERS + 2}",
    ]


def test_all_are_dropped_with_other_facts_and_on_another_day(call: Call) -> None:
    kept: KeptAnswers[str] = KeptAnswers()
    keep(kept, call, 1)
    assert keep(kept, call, 2, 1) == ["2: 1", "1: 1"]
    tomorrow = Call(ANONYMOUS, "mcp", clock.now() + timedelta(days=1))
    assert keep(kept, tomorrow, 2, 1) == ["2: 1", "1: 2"]
    tomorrow.__dict__["reference"] = Reference(reference()._tables)
    assert keep(kept, tomorrow, 2, 1) == ["2: 1", "1: 2"]


@pytest.mark.parametrize("asked", [{"cards": ["Chase Ink"]}, {"points_needed": 7}])
def test_one_of_many_questions_is_not_kept(call: Call, asked: dict[str, Any]) -> None:
    assert find_key(TOOLS["find_transfer_paths"], call, asked, compact=True) is None


def test_a_tool_that_says_nothing_of_it_is_not_kept(call: Call) -> None:
    assert find_key(TOOLS["list_my_cards"], call, {}, compact=True) is None
