"""How often the right tool of the server is among the first, in all and by area, and what is taken for what."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.tool_search import prepare_search, read_words
from mcp_server.toolkit.registry import TOOLS
from shared.domain.tool_ranking import Described, Ranking, split_words
from tests.evals.requests import Request, load_requests, read_requests

Search = Literal["hosts", "find_tools"]
WORKED_ON = ("hundred", "worked_on", "everyday", "ordinary")  # find_tools learns from these, and from no others
LEAST_REQUESTS, LEAST_WEIGHT = 3, 1.0  # that have a word; weights below say little and double the file
PRIOR, PRIOR_OF = 0.3, 3  # requests that have a word, of so many, before any is read


class Answer(NamedTuple):
    """A request, the place of the first right tool (None where no tool found is right) and the first five."""

    request: Request
    place: int | None
    first_five: tuple[str, ...]

    @property
    def area(self) -> str:
        return TOOLS[self.request.accept[0]].area


class Score(NamedTuple):
    """Shares of 1: the right tool first, among the first five; and the mean of 1/place."""

    requests: int
    first: float
    first_five: float
    reciprocal: float


def build_search(search: Search) -> Callable[[str], list[str]]:
    """What names the tools for a request, best first: a host's search knows neither titles nor phrases."""
    if search == "find_tools":
        return prepare_search(tuple(sorted(TOOLS))).find
    return Ranking(Described(t.name, "", t.description, t.arguments.listed) for _, t in sorted(TOOLS.items())).rank


def answer_requests(find: Callable[[str], list[str]], requests: Iterable[Request]) -> list[Answer]:
    answers = []
    for request in requests:
        names = find(request.text)
        place = next((place for place, name in enumerate(names, 1) if name in request.accept), None)
        answers.append(Answer(request, place, tuple(names[:5])))
    return answers


@cache
def answers_of(part: str, search: Search) -> list[Answer]:
    return answer_requests(build_search(search), [r for r in load_requests() if r.part == part])


def answer_file(path: Path, search: Search) -> list[Answer]:
    """The answers to someone's own requests; ValueError where the file is not one of requests and tools of ours."""
    requests = read_requests(path)
    unknown = sorted({name for request in requests for name in request.accept} - TOOLS.keys())
    if unknown:
        raise ValueError(f"{path} accepts tools that do not exist: {', '.join(unknown)}.")
    return answer_requests(build_search(search), requests)


def score(answers: Iterable[Answer]) -> Score:
    places = [answer.place for answer in answers]
    return Score(
        len(places),
        sum(place == 1 for place in places) / len(places),
        sum(place is not None and place <= 5 for place in places) / len(places),
        sum(1 / place for place in places if place) / len(places),
    )


def _score_by(read_group: Callable[[Answer], str], answers: Iterable[Answer]) -> dict[str, Score]:
    groups = defaultdict(list)
    for answer in answers:
        groups[read_group(answer)].append(answer)
    return {name: score(group) for name, group in sorted(groups.items())}


def score_by_area(answers: Iterable[Answer]) -> dict[str, Score]:
    return _score_by(lambda answer: answer.area, answers)


def score_by_style(answers: Iterable[Answer]) -> dict[str, Score]:
    return _score_by(lambda answer: answer.request.style, answers)


def count_confusions(answers: Iterable[Answer]) -> Counter[tuple[str, str]]:
    """How often a tool (the second) stood first where another (the first) was wanted."""
    return Counter((a.request.accept[0], a.first_five[0]) for a in answers if a.place != 1 and a.first_five)


def learn_words() -> str:
    """What each word counts for each tool, as JSON: the logarithm of its share there to that of all."""
    small = set(read_words()["small"].split())
    texts = [
        (r, {w for w in split_words(r.text) if w.isalpha()} - small) for r in load_requests() if r.part in WORKED_ON
    ]
    everywhere = Counter(word for _, words in texts for word in words)
    by_tool: dict[str, list[set[str]]] = defaultdict(list)
    for request, words in texts:
        by_tool[request.accept[0]].append(words)
    lines = []
    for tool, requests in sorted(by_tool.items()):
        weights = {}
        for word, times in sorted(Counter(word for words in requests for word in words).items()):
            share = (everywhere[word] + PRIOR) / (len(texts) + PRIOR_OF)
            weight = round(math.log((times + PRIOR) / (len(requests) + PRIOR_OF) / share), 1)
            if weight >= LEAST_WEIGHT and everywhere[word] >= LEAST_REQUESTS:
                weights[word] = weight
        lines.append(f"{json.dumps(tool)}: {json.dumps(weights, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
