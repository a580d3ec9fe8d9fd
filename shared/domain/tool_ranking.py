"""Tools ranked for a request by BM25 over the words a host can index, and over phrases of our own for find_tools."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

SATURATION = 1.2  # k1 of BM25
LENGTH_SHARE = 0.75  # b of BM25


class Described(NamedTuple):
    """The texts of a tool for a search; hosts have no phrases."""

    name: str
    phrases: str
    description: str
    schema: dict[str, Any]


def stem(word: str) -> str:
    """Cuts the s of a plural, then ing or ed, where at least three letters stay."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def split_words(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[a-z0-9]+", text.lower())]


def parameter_texts(node: Any) -> Iterator[str]:
    """Names and descriptions of the parameters, those inside objects and lists included."""
    if isinstance(node, list):
        for part in node:
            yield from parameter_texts(part)
    if not isinstance(node, dict):
        return
    for name, inner in node.get("properties", {}).items():
        yield name
        yield inner.get("description", "")
        yield from parameter_texts(inner)
    for key in ("items", "additionalProperties"):
        yield from parameter_texts(node.get(key))


class Ranking:
    """An index over the tools: for each word, its weight in each tool that has it."""

    def __init__(self, tools: Iterable[Described]) -> None:
        documents = {tool.name: Counter(_collect_words(tool)) for tool in tools}
        mean_length = sum(document.total() for document in documents.values()) / len(documents)
        self.weights: dict[str, dict[str, float]] = {}
        for name, document in documents.items():
            norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * document.total() / mean_length)
            for word, times in document.items():
                self.weights.setdefault(word, {})[name] = times * (SATURATION + 1) / (times + norm)
        for holders in self.weights.values():
            rarity = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
            holders.update({name: weight * rarity for name, weight in holders.items()})

    def score(self, text: str) -> dict[str, float]:
        """The score of each tool that shares a word with the request."""
        scores: dict[str, float] = defaultdict(float)
        for word in split_words(text):
            for name, weight in self.weights.get(word, {}).items():
                scores[name] += weight
        return scores

    def rank(self, text: str) -> list[str]:
        """The tools that share a word with the request, best first; equal scores in A to Z order."""
        scores = self.score(text)
        return sorted(scores, key=lambda name: (-scores[name], name))


def _collect_words(tool: Described) -> list[str]:
    return split_words(" ".join((tool.name, tool.phrases, tool.description, *parameter_texts(tool.schema))))
