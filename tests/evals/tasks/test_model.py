"""A model tries tasks over MCP: a fake on loopback that follows the script passes, and others fail with the reason."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.evals.tasks.__main__ import choose_model, parse_options, run_tasks
from tests.evals.tasks.hosts import Hosts, run_hosts
from tests.evals.tasks.results import Result, estimate_reliability
from tests.evals.tasks.script import Task, fill_in, load_tasks, pick
from tests.evals.tasks.scripted_model import scripted_model
from tests.jobs.model_server import Body, ModelServer, Reply, calls, model_server, offered, read_data, told, words
from tests.support.service import ROOT
from tests.support.settings_and_clock import Configure

TASKS = {task.name: task for task in load_tasks()}
BOOKED = "award_leg_booked"
Follow = Callable[..., list[Callable[[Body], Reply]]]
Try = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with run_hosts() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(configure: Configure, kind: str) -> Iterator[ModelServer]:
    with model_server() as server:
        address = {"STANDING_ORDER_MODEL_URL": server.address, "STANDING_ORDER_MODEL_KIND": kind}
        configure(STANDING_ORDER_MODEL="fake-model", **address)
        yield server


@pytest.fixture
def attempt(hosts: Hosts, clean: None, model: ModelServer, capsys: pytest.CaptureFixture[str]) -> Try:
    """attempt("--task", NAME, ...): the exit status and what is printed."""

    def run(*options: str) -> tuple[int, str]:
        status = run_tasks(*parse_options(["--model", *options]), hosts)
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def follow(kind: str) -> Follow:
    """The replies of a model that makes the calls of a script, each after the answer to the one before."""

    def reply_in_turn(task: Task, last: str, *, inside: str = "") -> list[Callable[[Body], Reply]]:
        kept: dict[str, Any] = {}

        def reply(number: int, asked: Body) -> Reply:
            if number:
                answer = read_data(told(kind, asked)[-1])
                kept.update({name: pick(answer, place) for name, place in task.calls[number - 1].keep.items()})
            if number == len(task.calls):
                return words(kind, last)
            call = (task.calls[number].tool, fill_in(task.calls[number].arguments, kept))
            return calls(kind, (inside, {"name": call[0], "arguments": call[1]}) if inside else call)

        return [lambda asked, number=number: reply(number, asked) for number in range(len(task.calls) + 1)]

    return reply_in_turn


@pytest.mark.parametrize(
    ("name", "last", "steps"),
    [
        (BOOKED, "VS3 to JFK is kept.", 2),
        ("two_legs_on_one_ticket", "Both legs, to HEL and HND, are kept on one ticket.", 3),
        ("card_chosen_among_its_namesakes", "The Platinum Card is on your list.", 3),
        ("return_before_departure_refused", "You would be back before you leave.", 2),
    ],
)
def test_a_model_that_makes_the_calls_of_the_script_does_the_task(
    attempt: Try, model: ModelServer, follow: Follow, kind: str, name: str, last: str, steps: int
) -> None:
    model.script = [*follow(TASKS[name], last)]
    status, output = attempt("--task", name, "--floor", "1")
    assert (status, output.splitlines()[0]) == (0, "fake-model at /mcp")
    assert f"{name:<44}{'yes':>6}{steps:>8}{150 * steps:>12}" in output
    assert "1 tasks: pass^1 1.000" in output
    assert len(offered(kind, model.asked[0])) == 142


def test_at_the_lean_address_a_model_runs_tools_by_name(
    attempt: Try, model: ModelServer, follow: Follow, kind: str
) -> None:
    model.script = [*follow(TASKS[BOOKED], "VS3 is kept.", inside="call_write_tool")]
    status, _output = attempt("--task", BOOKED, "--address", "lean", "--floor", "1")
    assert status == 0
    assert {"find_tools", "call_write_tool"} <= offered(kind, model.asked[0])
    assert "add_flight_booking" not in offered(kind, model.asked[0])


@pytest.mark.parametrize(
    ("replies", "reasons"),
    [
        (
            [("list_flights", {}), "VS3 is kept."],
            ["flight_bookings of account 1: [] instead of", "called list_flights"],
        ),
        ([("buy_a_boat", {}), "VS3 is kept."], ["flight_bookings of account 1: []", "called buy_a_boat (not listed)"]),
        ([("add_flight_booking", "{broken"), "VS3 is kept."], ["called add_flight_booking (broken arguments)"]),
        ([("list_trips", {})], ["no end within 3 steps", "called list_trips, list_trips, list_trips"]),
        ([""], ["the model answered nothing", "called nothing"]),
        (["It is done."], ["flight_bookings of account 1: []", "does not say 'VS3': It is done."]),
        ([b"<html>"], ["the model failed: nonsense"]),
        ([401], ["the model failed: not_permitted"]),
    ],
    ids=["wrong tool", "unknown tool", "broken arguments", "no end", "no answer", "no call", "nonsense", "no key"],
)
def test_a_model_that_does_something_else_fails_with_the_reason(
    attempt: Try, model: ModelServer, kind: str, replies: list[Any], reasons: list[str]
) -> None:
    for reply in replies:
        made = calls(kind, reply) if isinstance(reply, tuple) else reply
        model.script.append(words(kind, made) if isinstance(made, str) else made)
    status, output = attempt("--task", BOOKED, "--steps", "3", "--floor", "0.5")
    assert status == 1
    assert f"{BOOKED:<44}{'no':>6}" in output
    assert [reason for reason in reasons if reason not in output] == []


def test_an_attempt_ends_when_its_seconds_or_tokens_are_used(attempt: Try, model: ModelServer, kind: str) -> None:
    model.script = [calls(kind, ("list_trips", {}))]
    assert "no end within 300 tokens" in attempt("--task", BOOKED, "--tokens", "300")[1]
    model.script = [model.hang]
    assert "no end within 0.5 seconds" in attempt("--task", BOOKED, "--seconds", "0.5")[1]


def test_a_change_that_nobody_asked_for_is_a_fault(attempt: Try, model: ModelServer, follow: Follow, kind: str) -> None:
    booked, last = follow(TASKS[BOOKED], "VS3 is kept, and I made a trip for it.")
    model.script = [booked, calls(kind, ("create_trip", {"name": "New York"})), last]
    status, output = attempt("--task", BOOKED)
    assert status == 0, "without a floor the figures are all"
    assert "trips of account 1 changed, which no one asked for" in output


def test_two_legs_on_two_tickets_are_not_one(attempt: Try, model: ModelServer, follow: Follow, kind: str) -> None:
    task = TASKS["two_legs_on_one_ticket"]
    first, second = task.calls
    other = replace(second, arguments=second.arguments | {"trip_id": "4b1f4c1e-51f4-4c8e-9d55-7c1d2a90b002"})
    model.script = [*follow(replace(task, calls=(first, other)), "HEL and HND are kept.")]
    status, output = attempt("--task", task.name, "--floor", "1")
    assert status == 1
    assert "flight_bookings of account 1: " in output


def test_attempts_are_repeated_from_a_new_beginning(
    attempt: Try, model: ModelServer, follow: Follow, kind: str
) -> None:
    good = follow(TASKS[BOOKED], "VS3 is kept.")
    model.script = [*good, words(kind, "VS3 is kept."), *good, *good]
    status, output = attempt("--task", BOOKED, "--repeat", "4", "--floor", "0.8")
    assert status == 1
    assert f"{BOOKED:<44}{'3/4':>6}{1.75:>8}" in output
    assert "pass^1 0.750, pass^2 0.500, pass^3 0.250, pass^4 0.000" in output


@pytest.mark.parametrize("address", ["all", "lean"])
def test_a_scripted_model_at_an_address_like_openais_does_tasks(
    hosts: Hosts, clean: None, configure: Configure, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    named = {"STANDING_ORDER_MODEL": "other", "STANDING_ORDER_MODEL_URL": "http://127.0.0.1:9/v1"}
    configure(**named, STANDING_ORDER_MODEL_KIND="anthropic", STANDING_ORDER_MODEL_AUTH="x-api-key")
    names = [BOOKED, "one_of_two_watches_cancelled", "card_chosen_among_its_namesakes"]
    line = ["--scripted", "--address", address, "--floor", "1", *(word for name in names for word in ("--task", name))]
    options, tasks = parse_options(line)
    with scripted_model() as scripted:
        choose_model(options, scripted.address)
        assert run_tasks(options, tasks, hosts, scripted) == 0
    output = capsys.readouterr().out
    assert "3 tasks: pass^1 1.000" in output
    assert "7 steps and " in output


@pytest.mark.parametrize(
    ("environment", "words_given", "url"),
    [
        ({}, ["--base-url", "http://127.0.0.1:11434/v1"], "http://127.0.0.1:11434/v1"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, [], "http://127.0.0.1:1/v1"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "STANDING_ORDER_MODEL_URL": "https://own.example"}, [], None),
        ({}, [], None),
    ],
)
def test_the_address_of_a_model_comes_from_an_option_or_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], words_given: list[str], url: str | None
) -> None:
    for name in ("OPENAI_BASE_URL", "STANDING_ORDER_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert parse_options(["--model", "qwen3:8b", *words_given])[0].base_url == url


@pytest.mark.slow  # starts databases and its own server
def test_the_command_tries_a_task_on_databases_of_its_own(model: ModelServer, kind: str) -> None:
    model.script = [words(kind, "VS3 is kept.")]
    line = [sys.executable, "-m", "tests.evals.tasks", "--model", "another-model", "--task", BOOKED, "--floor", "1"]
    if kind == "openai":  # an option wins over the settings
        line += ["--base-url", model.address]
    elsewhere = {"DATABASE_URL": "postgresql://127.0.0.1:9/of-somebody", "REDIS_URL": "redis://127.0.0.1:9/0"}
    run = subprocess.run(
        line, cwd=ROOT, env=os.environ | elsewhere, capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert f"{BOOKED:<44}{'no':>6}{1:>8}{150:>12}" in run.stdout
    assert model.asked[0]["model"] == "another-model"


def test_the_chance_of_several_attempts_in_a_row_is_the_mean_over_the_tasks() -> None:
    yes, no = Result([], [], 1, 1), Result(["a fault"], [], 1, 1)
    trials = [[yes, yes, yes], [yes, no, yes], [no, no, no]]
    assert [round(estimate_reliability(trials, k), 3) for k in (1, 2, 3)] == [0.556, 0.444, 0.333]


@pytest.mark.parametrize(
    ("words_given", "reason"),
    [
        (["--model", "m", "--task", "award_leg_boked"], "there is no task award_leg_boked; there is award_leg_booked"),
        (["--model"], "no model is known: name one, or set STANDING_ORDER_MODEL."),
        (["--model", "m", "--repeat", "0"], "above 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    configure: Configure, capsys: pytest.CaptureFixture[str], words_given: list[str], reason: str
) -> None:
    configure(STANDING_ORDER_MODEL="")
    with pytest.raises(SystemExit, match="2"):
        parse_options(words_given)
    assert reason in capsys.readouterr().err
