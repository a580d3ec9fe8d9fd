"""Descriptions of tools begin with a verb, are short, tell neighbours apart and define their abbreviations."""

import math
import re
import tomllib
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from shared.domain.tool_ranking import parameter_texts
from tests.evals.selection import TOOLS

REVIEWED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "reviewed.toml").read_text(encoding="utf-8"))
LONGEST = 400
NEAREST = 0.85


def _text(name: str) -> str:
    """The description without the label of the tier at its end."""
    tool = TOOLS[name]
    return tool.description.removesuffix(f"{tool.tier.label}.").strip()


def test_the_first_word_is_a_verb() -> None:
    firsts = {name: _text(name).split()[0].lower() for name in TOOLS}
    verbs = REVIEWED["first_words"].split()
    assert [f"{name}: {first}" for name, first in firsts.items() if first not in verbs] == []


def test_descriptions_are_short() -> None:
    lengths = {name: len(tool.description) for name, tool in TOOLS.items()}
    assert {name: n for name, n in lengths.items() if n > REVIEWED["long_descriptions"].get(name, LONGEST)} == {}
    assert [name for name in REVIEWED["long_descriptions"] if lengths[name] <= LONGEST] == []


def test_parameters_are_described_or_plain() -> None:
    bare = {
        parameter
        for tool in TOOLS.values()
        for parameter, schema in tool.arguments.schema["properties"].items()
        if not schema.get("description")
    }
    assert sorted(bare) == REVIEWED["parameters"]["plain"]


def test_abbreviations_are_known_or_explained() -> None:
    explained, unknown = REVIEWED["abbreviations"]["explained"], []
    for name, tool in TOOLS.items():
        text = " ".join((_text(name), tool.title, *parameter_texts(tool.arguments.schema)))
        short = set(re.findall(r"\b([A-Z]{2,})s?\b", text)) - set(REVIEWED["abbreviations"]["plain"])
        unknown += [f"{name}: {w}" for w in sorted(short) if w not in explained or explained[w] not in text.lower()]
    assert unknown == []


@cache
def _vectors() -> dict[str, dict[str, float]]:
    """Each description as weights of its words, of length 1: how often they stand, times how rare they are."""
    counts = {name: Counter(re.findall(r"[a-z]+", _text(name).lower())) for name in TOOLS}
    holders = Counter(word for count in counts.values() for word in count)
    vectors = {}
    for name, count in counts.items():
        weights = {word: times * math.log(len(counts) / holders[word]) for word, times in count.items()}
        length = math.hypot(*weights.values())
        vectors[name] = {word: weight / length for word, weight in weights.items()}
    return vectors


def test_neighbours_that_read_alike_name_each_other() -> None:
    vectors = _vectors()
    alike = [
        (one, other)
        for one, other in combinations(sorted(TOOLS), 2)
        if sum(weight * vectors[other].get(word, 0) for word, weight in vectors[one].items()) > NEAREST
    ]
    assert [pair for pair in alike if not (pair[0] in _text(pair[1]) or pair[1] in _text(pair[0]))] == []
