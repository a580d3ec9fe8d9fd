"""The share of requests whose right tool a search over the list finds never falls below what was reached."""

from pathlib import Path

import pytest

from mcp_server.calls.tool_search import LEARNED
from shared.domain.tool_ranking import Described, Ranking, parameter_texts, stem
from tests.evals.__main__ import main
from tests.evals.requests import PARTS, load_requests
from tests.evals.selection import (
    TOOLS,
    Answer,
    Search,
    answers_of,
    count_confusions,
    learn_words,
    score,
    score_by_area,
)

# The least share with the right tool first, and among the first five: of find_tools, with its phrases.
FLOORS = {
    "hundred": (0.75, 0.96),
    "worked_on": (0.77, 0.97),
    "kept": (0.75, 0.92),
    "late": (0.75, 0.96),
    "everyday": (0.74, 0.92),
    "ordinary": (0.71, 0.91),
    "apart": (0.69, 0.90),
    "fresh": (0.48, 0.73),
    "unheard": (0.60, 0.87),
}
# Hosts' searches index no title and know no phrases.
HOST_FLOORS = {
    "hundred": (0.60, 0.84),
    "worked_on": (0.51, 0.77),
    "kept": (0.50, 0.75),
    "late": (0.43, 0.78),
    "everyday": (0.49, 0.79),
    "ordinary": (0.54, 0.82),
    "apart": (0.42, 0.72),
    "fresh": (0.30, 0.58),
    "unheard": (0.47, 0.85),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("search", ["hosts", "find_tools"])
def test_the_right_tool_is_found(part: str, search: Search) -> None:
    figures = score(answers_of(part, search))
    first, first_five = (HOST_FLOORS if search == "hosts" else FLOORS)[part]
    assert figures.first >= first
    assert figures.first_five >= first_five


def test_find_tools_has_learned_from_the_requests_as_they_are() -> None:
    assert LEARNED.read_text(encoding="utf-8") == learn_words(), "run python -m tests.evals --learn"


def test_requests_are_many_and_each_accepts_tools_of_the_server() -> None:
    requests = load_requests()
    assert len(requests) >= 1_750
    assert len({r.id for r in requests}) == len(requests)
    assert {name for r in requests for name in r.accept} <= set(TOOLS)
    assert {r.style for r in requests} == {"person", "query", "advisor", "operator", "agent"}


def test_a_third_of_the_blind_requests_is_kept_and_always_the_same() -> None:
    parts = {r.id: r.part for r in load_requests()}
    assert sum(part == "kept" for part in parts.values()) == 106
    assert (parts["ra001"], parts["ra004"]) == ("worked_on", "kept")


OWN = """
- {id: mine1, text: points about to run out, style: query, accept: [list_points_balances, list_upcoming_deadlines]}
- {id: mine2, text: xylophone, style: person, accept: [add_card]}
"""


def test_the_figures_of_a_file_stand_beside_those_of_the_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    main(["--file", str(path), "--misses"])
    output = capsys.readouterr().out
    assert "\nhundred  " in output
    figures = output.split(f"\n{path}")[1].splitlines()
    assert figures[1].split() == ["all", "2", "0.500", "0.500", "0.500"]
    assert figures[2].split() == ["person", "1", "0.000", "0.000", "0.000"]
    assert figures[3].split() == ["query", "1", "1.000", "1.000", "1.000"]
    assert "mine2 [-] xylophone" in output


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("- {id: a, text: b, style: query}", "row 1: a request has"),
        ("- {id: a, text: b, style: query, accept: [buy_a_boat]}", "tools that do not exist: buy_a_boat"),
        ("7", "holds no requests"),
        ("[", "while parsing"),
        ("[]", "holds no requests"),
    ],
)
def test_a_file_that_holds_no_requests_is_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str, reason: str
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(rows)
    with pytest.raises(SystemExit, match="2"):
        main(["--file", str(path)])
    assert reason in capsys.readouterr().err


def _describe(name: str, description: str) -> Described:
    return Described(name, name, description, {"properties": {"day": {"description": "Of departure."}}})


def test_the_ranking_prefers_rare_words_and_leaves_out_tools_without_any() -> None:
    ranking = Ranking([_describe("a", "Lists seats."), _describe("b", "Lists seats and lounges."), _describe("c", "x")])
    assert ranking.rank("seat in lounges") == ["b", "a"]
    assert ranking.rank("nothing shared") == []


def test_words_meet_in_every_ending() -> None:
    assert {stem("transfers"), stem("transferring"), stem("transfered")} >= {"transfer"}
    assert stem("miss") == "miss"
    assert stem("ring") == "ring"


def test_words_of_nested_parameters_count() -> None:
    inner = {"properties": {"colour": {"description": "Hex."}}}
    schema = {"properties": {"brand": {"description": "Yours.", **inner}, "rows": {"items": inner}}}
    assert list(parameter_texts(schema)) == ["brand", "Yours.", "colour", "Hex.", "rows", "", "colour", "Hex."]


def test_scores_count_places_and_confusions_name_what_stood_first() -> None:
    two = load_requests()[:2]
    answers = [Answer(two[0], 2, ("x", two[0].accept[0])), Answer(two[1], None, ())]
    assert score(answers) == (2, 0, 0.5, 0.25)
    assert sum(figures.requests for figures in score_by_area(answers).values()) == 2
    assert count_confusions(answers) == {(two[0].accept[0], "x"): 1}
