"""The answer that the start page shows: the sandbox, asked the same on the same day, gives it today."""

import json
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from auth_server.pages import landing
from tests.mcp_server.tools import conftest as tools
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

people, use = tools.people, tools.use
ANSWER: dict[str, Any] = json.loads((Path(landing._ANSWER)).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def asked_then(standing_clock: StandingClock) -> None:
    standing_clock.set(datetime.combine(date.fromisoformat(ANSWER["asked_on"]), time(12), UTC))


def test_the_month_is_what_the_sandbox_answers(people: People, use: Use) -> None:
    month = ANSWER["month"]
    answer = use(people.paula, month["tool"], **month["arguments"])
    assert answer["data_mode"] == "sandbox"
    days = {
        day["date"]: {cabin: offer["points"] for cabin, offer in day["cabins"].items()}
        for day in answer["days"]
        if day["date"] in month["days"]
    }
    assert days == month["days"]


def test_the_plan_is_what_the_sandbox_answers(people: People, use: Use) -> None:
    for program, points in ANSWER["balances"].items():
        assert use(people.paula, "update_points_balance", program=program, balance=points)["status"] == "ok"
    plan = ANSWER["plan"]
    answer = use(people.paula, plan["tool"], **plan["arguments"])
    best = answer["best"]
    assert {name: best["award"][name] for name in plan["award"]} == plan["award"]
    assert {code: answer["names"][code] for code in plan["names"]} == plan["names"]
    (step,) = best["pay_with"]["route"]["steps"]
    assert plan["transfer"] == {
        "from_program": step["from_program"],
        "points": best["pay_with"]["route"]["source_points"],
        "posting_time": best["posting_time"],
    }
    assert best["cash_alternative"]["price"] == plan["cash"]
    assert best["cash_alternative"]["currency"] == plan["award"]["taxes_currency"] == "USD"


def test_the_days_shown_are_those_of_the_plan() -> None:
    days, arguments = list(ANSWER["month"]["days"]), ANSWER["plan"]["arguments"]
    assert (days[0], days[-1]) == (arguments["earliest_date"], arguments["latest_date"])
    assert ANSWER["month"]["days"][ANSWER["plan"]["award"]["date"]]["business"] == ANSWER["plan"]["award"]["points"]
