"""Each task's scripted calls leave the rows that must stand, and the judge sees what is not right."""

import pytest

from tests.evals.tasks.attempt import Attempt
from tests.evals.tasks.end_state import ANY, Place, State, find_differences, find_wrong_words
from tests.evals.tasks.script import Task, fill_in, load_tasks, pick
from tests.mcp_server.tools.conftest import Use, people, use
from tests.support.people import People
from tests.support.settings_and_clock import Configure

__all__ = ["people", "use"]
TRIPS = Place("trips", 1)
BEFORE: State = {TRIPS: [{"id": 1, "name": "Rome"}], Place("trips", 2): [{"id": 2, "name": "Oslo"}]}


@pytest.fixture(autouse=True)
def model(configure: Configure) -> None:
    configure(STANDING_ORDER_MODEL="local-model")


@pytest.mark.parametrize("task", load_tasks(), ids=lambda task: task.name)
def test_a_task_is_done_by_its_calls_and_not_without_them(task: Task, people: People, use: Use) -> None:
    attempt = Attempt(task, people, use)
    assert attempt.faults == []
    if not any(step.keep for step in task.calls):
        assert attempt.judge(), "the end state stands, and the words are told, before anything is done"
    attempt.follow_script()
    assert attempt.judge() == []


def test_there_are_forty_tasks_each_with_a_name_of_its_own() -> None:
    names = [task.name for task in load_tasks()]
    assert len(names) >= 40
    assert len(set(names)) == len(names)


def test_a_task_says_what_must_be_told() -> None:
    assert [task.name for task in load_tasks() if not (task.says and task.calls and task.request)] == []


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"id": 1, "name": "Roma"}],
        [{"id": 1, "name": None}],
        [{"id": 1, "name": "Rome"}, {"id": 3, "name": "Rome"}],
    ],
)
def test_the_judge_sees_a_row_that_is_missing_wrong_or_too_many(rows: list[dict[str, object]]) -> None:
    wanted: dict[Place, list[dict[str, object]]] = {TRIPS: [{"name": "Rome"}]}
    (fault,) = find_differences(BEFORE, BEFORE | {TRIPS: rows}, wanted)
    assert fault.startswith("trips of account 1")
    assert find_differences(BEFORE, BEFORE, wanted) == []


def test_the_judge_sees_a_change_nobody_asked_for() -> None:
    others = {Place("trips", 2): [{"id": 2, "name": "Bergen"}]}
    faults = find_differences(BEFORE, BEFORE | others, {TRIPS: [{"name": ANY}]})
    assert faults == ["trips of account 2 changed, which no one asked for"]


def test_the_judge_takes_rows_in_any_order() -> None:
    stored: State = {TRIPS: [{"name": "Rome"}, {"name": "Oslo"}]}
    assert find_differences({}, stored, {TRIPS: [{"name": "Oslo"}, {"name": "Rome"}]}) == []
    assert find_differences({}, stored, {TRIPS: [{"name": "Oslo"}, {"name": "Oslo"}]}) != []


def test_the_judge_hears_what_is_missing_and_what_must_not_be_said() -> None:
    assert find_wrong_words("Booked for 80,000 Avios.", ["80,000 avios"], ["transfer"]) == []
    assert len(find_wrong_words("Booked. Transfer now.", ["80,000 avios"], ["transfer"])) == 2


def test_numbers_and_days_are_filled_in_wherever_they_stand() -> None:
    value = fill_in({"ids": ["$leg"], "note": "on day+0"}, {"leg": pick({"bookings": [{"id": 7}]}, "bookings.0.id")})
    assert value["ids"] == [7]
    assert "day" not in value["note"]
