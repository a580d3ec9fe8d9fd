"""How results are kept, chosen and compared; nothing is timed."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.facts import FACTS
from tests.bench.goals import BARE, COSTS, ECHO, GOALS, MEMORY, START_CPU, Goal, name_peer
from tests.bench.process_costs import wanted_costs
from tests.bench.results import Figure, Figures, Result, compare, load, ratio
from tests.bench.scenarios import concurrencies, scenarios, select
from tests.bench.stage import PROGRAMS as OURS

PROGRAMS = {*OURS, "peer"}


def figure(cpu_us: float, per_second: float = 100, p50_ms: float = 1, p99_ms: float = 2) -> Figure:
    return Figure(cpu_us, per_second, p50_ms, p99_ms, requests=100)


def result(figures: Figures, **costs: float) -> Result:
    beside = {BARE: "", "list_trips": BARE, "refresh": ECHO}
    return Result("2026-11-23T12:00:00+00:00", {"cores": 2}, figures, beside, costs)


def test_a_ratio_compares_each_round_with_itself() -> None:
    ours, theirs = [figure(10), figure(100), figure(20)], [figure(20), figure(200), figure(10)]
    assert ratio(ours, theirs) == 2


def test_a_ratio_of_rounds_that_are_not_the_same_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratio([figure(1)], [figure(1), figure(1)])


def test_a_result_is_read_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "build" / "one.json"
    kept = result({(BARE, 16): [figure(1.5), figure(2)], ("list_trips", 1): [figure(3)]}, memory=150.5)
    kept.save(path)
    assert load(path) == kept


def test_a_goal_that_was_not_measured_has_no_figure() -> None:
    measured = result({("list_trips", 16): [figure(10)], (name_peer("list_trips"), 16): [figure(25)]})
    assert Goal("list_trips", 2.5).measured(measured) == 2.5
    assert Goal("list_trips", 2.5, at=64).measured(measured) is None
    assert Goal("list_trips", 2.5).measured(result({("list_trips", 16): [figure(10)]})) is None


def test_two_runs_are_compared_by_their_ratios() -> None:
    before = result({(BARE, 16): [figure(100)], ("list_trips", 16): [figure(100)]}, memory=100)
    slower_machine = result({(BARE, 16): [figure(200)], ("list_trips", 16): [figure(210)]}, memory=105)
    changes = {change.words: change for change in compare(slower_machine, before)}
    assert set(changes) == {"list_trips at 16", "memory"}  # the bare tool is the measure itself
    assert changes["list_trips at 16"].factor == pytest.approx(200 / 210)
    assert [change.is_worse for change in changes.values()] == [False, False]


def test_worse_by_more_than_a_tenth_is_marked() -> None:
    before = result({(BARE, 16): [figure(100)], ("list_trips", 16): [figure(100)]}, memory=100)
    worse = result({(BARE, 16): [figure(100)], ("list_trips", 16): [figure(112)]}, memory=112)
    assert [change.is_worse for change in compare(worse, before)] == [True, True]


def test_what_only_one_run_measured_is_not_compared() -> None:
    before = result({(BARE, 16): [figure(100)], ("list_trips", 16): [figure(100)]})
    other = result({(ECHO, 16): [figure(10)], ("refresh", 16): [figure(20)], ("list_trips", 16): [figure(9)]})
    assert list(compare(other, before)) == []


@pytest.fixture
def every() -> list[str]:
    return [one.name for one in scenarios(dict.fromkeys(PROGRAMS, ""), "", "")]


def test_every_goal_names_scenarios_that_there_are(every: list[str]) -> None:
    named = {goal.ours for goal in GOALS} | {goal.theirs for goal in GOALS}
    assert named <= set(every)
    assert len(every) == len(set(every))


def test_a_choice_brings_what_it_is_compared_with(every: list[str]) -> None:
    known = scenarios(dict.fromkeys(PROGRAMS, ""), "", "")
    assert [one.name for one in select(known, ["list_trips"])] == [BARE, "list_trips", name_peer("list_trips")]
    assert {one.name for one in select(known, ["refresh", "list_tr"])} >= {ECHO, "refresh", BARE, "list_trips"}
    assert name_peer("tools/list") in {one.name for one in select(known, ["tools/list"])}
    assert [one.name for one in select(known, [])] == every


def test_what_is_compared_is_measured_at_the_same_concurrencies(every: list[str]) -> None:
    beside = {one.name: one.beside for one in scenarios(dict.fromkeys(PROGRAMS, ""), "", "")}
    for name in every:
        assert set(concurrencies(name)) <= set(concurrencies(beside[name] or name))
    for goal in GOALS:
        assert goal.at in set(concurrencies(goal.ours)) & set(concurrencies(goal.theirs))


def test_without_fastmcp_nothing_is_compared_with_it() -> None:
    known = scenarios(dict.fromkeys(OURS, ""), "", "")
    assert not {goal.theirs for goal in GOALS} & {one.name for one in known}
    assert [one.name for one in select(known, ["list_trips"])] == [BARE, "list_trips"]


def test_a_server_at_another_address_is_told_the_public_one() -> None:
    one = next(one for one in scenarios(dict.fromkeys(PROGRAMS, "http://127.0.0.1:1"), "", "") if one.program == "ours")
    moved = one.shot.at("http://127.0.0.1:2/mcp")
    assert (moved.url, moved.headers["Host"]) == ("http://127.0.0.1:2/mcp", "127.0.0.1:1")
    assert replace(moved, url=one.shot.url, headers=one.shot.headers) == one.shot


def test_costs_are_measured_with_all_or_by_name() -> None:
    assert wanted_costs([]) == ["start", "memory"]
    assert (wanted_costs(["memo"]), wanted_costs(["list_trips"])) == (["memory"], [])
    assert {START_CPU, MEMORY} == set(COSTS)


def test_tools_of_facts_are_asked_many_different_things() -> None:
    for name, sets in FACTS.items():
        assert len({str(one) for one in sets}) == len(sets) >= 20, name
    known = {one.name: one.shot for one in scenarios(dict.fromkeys(PROGRAMS, ""), "", "")}
    assert {name: 1 + len(known[name].others) for name in FACTS} == {name: len(sets) for name, sets in FACTS.items()}
