"""Papers of all kinds made from a hidden truth: right, or asked about with what is right; never wrong, never silent."""

from random import Random

import pytest

from tests.shared.domain.noisy_letters import noisy_letter
from tests.shared.domain.own_papers import KINDS as PAPERS

KINDS = PAPERS | {"noisy letter": noisy_letter}
# Papers of each kind: four hundred in all. A workbook is read in a process of its own.
DRAWS = {
    "workbook": 3,
    "noisy letter": 60,
    "statement": 30,
    "bill": 30,
    "letter": 24,
    "itinerary": 12,
    "boarding": 20,
    "bundle": 10,
}
MANY = 300


def _draw(kind: str, first: int, count: int) -> list[str]:
    found = ((seed, KINDS[kind](Random(f"{kind} {seed}"))) for seed in range(first, first + count))
    return [f"{kind} {seed}: {'; '.join(faults)}" for seed, faults in found if faults]


@pytest.mark.parametrize("kind", KINDS)
def test_a_paper_is_read_as_it_was_meant_or_asked_about(kind: str) -> None:
    assert _draw(kind, 0, next((n for word, n in DRAWS.items() if word in kind), 24)) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_many_papers_are_read_as_they_were_meant_or_asked_about(kind: str) -> None:
    assert _draw(kind, 1000, MANY) == []
