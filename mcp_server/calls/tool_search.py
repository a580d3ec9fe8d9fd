"""The search of find_tools: what a request is about, in many languages, and whether any tool fits at all."""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mcp_server.toolkit.registry import TOOLS
from shared.domain.parsing.text import fold
from shared.domain.tool_ranking import Described, Ranking, split_words, stem

WORDS = Path(__file__).with_name("tool_words.toml")
# The weight of a request's word for a tool, learned from requests with a known tool (tests/evals --learn):
# of 426 others, the right one is first in 0.70 instead of 0.60, among five in 0.91 instead of 0.85.
LEARNED = Path(__file__).with_name("learned_words.json")
ELSEWHERE = "elsewhere "  # prefix of requests that no tool serves, only in the index
STORY = 30  # words from which a request is a story, where the words before the wish count less
STORY_SHARE = 0.3
# Where a request is one that no tool serves; tests/evals has the requests that prove the four.
ELSEWHERE_LEARNED = 0.5  # of the learned weights: there were no requests for other services to learn from
ELSEWHERE_SHARE = 0.9  # a request that no tool serves scores above this share of the best tool
LEAST_SCORE = 5.0  # of the best tool where a word is unknown to all: a single common word scores less
LEAST_KNOWN = 0.34  # the share of its words that any tool has
ENGLISH = 0.5  # the share of words known here above which a text is read as English
LEAST_WITHIN = 4  # letters of a foreign word that also counts within another
_ENDS = re.compile(r"(?<=[.!?;。！？])\s*|\n+")
_QUESTION = re.compile(r"[?？]")
_WISH = re.compile(
    r"\b(?:please|can you|could you|i want|i need|i would like|i'd like|help me|tell me|show me|find|let me know)\b",
    re.IGNORECASE,
)
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


class Foreign(NamedTuple):
    """A word of another language, folded, and our term for it."""

    word: str
    called: str


class ToolSearch:
    """An index over some tools and over requests that none of them serves."""

    def __init__(
        self,
        tools: Iterable[Described],
        elsewhere: Mapping[str, str],
        foreign: Iterable[Foreign],
        small_words: Iterable[str],
        learned: Mapping[str, Mapping[str, float]],
    ) -> None:
        topics = (Described(ELSEWHERE + topic, "", words, {}) for topic, words in elsewhere.items())
        self._ranking = Ranking([*tools, *topics])
        self._known = {
            word
            for word, holders in self._ranking.weights.items()
            if any(not name.startswith(ELSEWHERE) for name in holders)
        }
        self._foreign = tuple(foreign)
        self._small_words = frozenset(small_words)
        self._learned = learned

    def find(self, text: str) -> list[str]:
        """The tools for a request, best first; none where no tool serves it."""
        return [] if self._is_elsewhere(self._translate(text)) else self.rank(text)

    def rank(self, text: str) -> list[str]:
        """The tools that share a word with the request, best first."""
        whole = self._translate(text)
        scores: dict[str, float] = defaultdict(float)
        wish = self._translate(find_wish(text)) if len(text.split()) >= STORY else ""
        for share, part in ((1.0, wish), (STORY_SHARE, whole)):
            for name, score in self._score(part).items():
                scores[name] += share * score
        names = sorted(scores, key=lambda name: (-scores[name], name))
        return [name for name in names if not name.startswith(ELSEWHERE)]

    def _score(self, text: str, learned_share: float = 1.0) -> dict[str, float]:
        scores = self._ranking.score(text)
        for word in split_words(text):
            for name, weight in self._learned.get(word, {}).items():
                scores[name] = scores.get(name, 0.0) + learned_share * weight
        return scores

    def _is_elsewhere(self, text: str) -> bool:
        """Whether no tool does it, by the words for the request's subject; names and numbers say nothing."""
        words = [word for word in re.findall(r"[A-Za-z0-9]+", text) if word.lower() not in self._small_words]
        tools, elsewhere = 0.0, 0.0
        for name, score in self._score(" ".join(words), ELSEWHERE_LEARNED).items():
            if name.startswith(ELSEWHERE):
                elsewhere = max(elsewhere, score)
            else:
                tools = max(tools, score)
        if elsewhere >= ELSEWHERE_SHARE * tools:
            return True
        hits = [stem(word.lower()) in self._known for word in words]
        names = [not word.isalpha() or (word[0].isupper() and not text.startswith(word)) for word in words]
        counts = [hit for hit, is_name in zip(hits, names, strict=True) if hit or not is_name]
        if counts and all(counts):  # however common: "which plan am I on"
            return False
        return tools <= LEAST_SCORE or sum(counts) <= LEAST_KNOWN * len(counts)

    def _translate(self, text: str) -> str:
        """The text with its foreign words in our terms; English text is unchanged."""
        folded = fold(text)
        words = re.findall(r"\w+", folded)
        if sum(word in self._small_words or stem(word) in self._known for word in words) > ENGLISH * len(words):
            return text
        return " ".join((text, *dict.fromkeys(f.called for f in self._foreign if _is_in(f.word, folded, words))))


def _is_in(foreign: str, folded: str, words: list[str]) -> bool:
    if _IDEOGRAPHS.match(foreign):
        return foreign in folded
    if len(foreign) < LEAST_WITHIN:
        return foreign in words
    return any(foreign in word for word in words)


def find_wish(text: str) -> str:
    """The last sentence that asks for something, else the last one: people explain first."""
    sentences = [sentence for sentence in _ENDS.split(text) if sentence.strip()]
    for sign in (_QUESTION, _WISH):
        if wishes := [sentence for sentence in sentences if sign.search(sentence)]:
            return wishes[-1]
    return sentences[-1] if sentences else text


@lru_cache(maxsize=1)
def read_words() -> dict[str, Any]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def find_phrases(tool_name: str) -> str:
    """What people say who need the tool."""
    phrases: str = read_words()["phrases"].get(tool_name, "")
    return phrases


@lru_cache(maxsize=2)
def prepare_search(names: tuple[str, ...]) -> ToolSearch:
    """The search over these tools; built once, when the server starts."""
    table = read_words()
    more_words = table["tools"]
    described = [
        Described(t.name, f"{find_phrases(t.name)} {more_words.get(t.name, '')}", t.description, t.arguments.listed)
        for t in (TOOLS[name] for name in names)
    ]
    foreign = [
        Foreign(fold(word), called)
        for area in table["languages"].values()
        for called, words in area.items()
        for word in dict.fromkeys(words.split())
    ]
    learned: dict[str, dict[str, float]] = defaultdict(dict)
    for tool, weights in json.loads(LEARNED.read_text(encoding="utf-8")).items():
        for word, weight in weights.items() if tool in names else ():
            learned[word][tool] = weight
    return ToolSearch(described, table["elsewhere"], foreign, table["small"].split(), learned)
