"""The search of find_tools: what a request is about, in many languages, and whether any tool fits it at all."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mcp_server.toolkit.registry import TOOLS
from shared.domain.parsing.text import fold
from shared.domain.tool_ranking import Described, Ranking, stem

WORDS = Path(__file__).with_name("tool_words.toml")
ELSEWHERE = "elsewhere "  # begins the name of what no tool does, in the index only
STORY = 30  # words from which on a request is a story, in which what stands before the wish counts less
STORY_SHARE = 0.3
# Where a request is one that no tool serves; tests/evals holds the requests that prove the three.
ELSEWHERE_SHARE = 1.1  # what no tool does scores more than so many times the best tool
LEAST_SCORE = 4.0  # of the best tool: one common word alone scores less
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
    """A word of another language, folded, and what it is called here."""

    word: str
    called: str


class ToolSearch:
    """An index over some tools and over what none of them does."""

    def __init__(
        self,
        tools: Iterable[Described],
        elsewhere: Mapping[str, str],
        foreign: Iterable[Foreign],
        small_words: Iterable[str],
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

    def find(self, text: str) -> list[str]:
        """The tools for a request, best first; none where no tool serves it."""
        return [] if self._is_elsewhere(self._translate(text)) else self.rank(text)

    def rank(self, text: str) -> list[str]:
        """The tools that share a word with the request, best first."""
        whole = self._translate(text)
        scores: dict[str, float] = defaultdict(float)
        wish = self._translate(find_wish(text)) if len(text.split()) >= STORY else ""
        for share, part in ((1.0, wish), (STORY_SHARE, whole)):
            for name, score in self._ranking.score(part).items():
                scores[name] += share * score
        names = sorted(scores, key=lambda name: (-scores[name], name))
        return [name for name in names if not name.startswith(ELSEWHERE)]

    def _is_elsewhere(self, text: str) -> bool:
        """Whether no tool does it, by the words that say what a request is about; names and numbers say nothing."""
        words = [word for word in re.findall(r"[A-Za-z0-9]+", text) if word.lower() not in self._small_words]
        tools, elsewhere = 0.0, 0.0
        for name, score in self._ranking.score(" ".join(words)).items():
            if name.startswith(ELSEWHERE):
                elsewhere = max(elsewhere, score)
            else:
                tools = max(tools, score)
        if tools <= LEAST_SCORE or elsewhere > ELSEWHERE_SHARE * tools:
            return True
        hits = [stem(word.lower()) in self._known for word in words]
        names = [not word.isalpha() or (word[0].isupper() and not text.startswith(word)) for word in words]
        counts = [hit for hit, is_name in zip(hits, names, strict=True) if hit or not is_name]
        return sum(counts) <= LEAST_KNOWN * len(counts)

    def _translate(self, text: str) -> str:
        """The text with what its foreign words are called here; an English one is left as it is."""
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
    """The last sentence that asks for something, else the last one: people tell their story first."""
    sentences = [sentence for sentence in _ENDS.split(text) if sentence.strip()]
    for sign in (_QUESTION, _WISH):
        if wishes := [sentence for sentence in sentences if sign.search(sentence)]:
            return wishes[-1]
    return sentences[-1] if sentences else text


@lru_cache(maxsize=1)
def read_words() -> dict[str, Any]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


@lru_cache(maxsize=2)
def prepare_search(names: tuple[str, ...]) -> ToolSearch:
    """The search over these tools; built once, when the server starts."""
    table = read_words()
    tools = (TOOLS[name] for name in names)
    described = [
        Described(t.name, f"{t.phrases} {table['tools'].get(t.name, '')}", t.description, t.arguments.listed)
        for t in tools
    ]
    foreign = [
        Foreign(fold(word), called)
        for area in table["languages"].values()
        for called, words in area.items()
        for word in dict.fromkeys(words.split())
    ]
    return ToolSearch(described, table["elsewhere"], foreign, table["small"].split())
