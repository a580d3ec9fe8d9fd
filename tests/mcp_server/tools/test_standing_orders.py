"""Standing orders through the gate: saved within the plan, changed, stopped, and run by hand once an hour."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.tools.standing_orders import create_standing_order, run_standing_order
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.runs import JobRun, Schedule, create_due_runs
from shared.db.standing_orders import StandingOrder, StandingOrderRun
from shared.domain.plans import Plan
from shared.domain.short_ids import shorten_uuid
from shared.domain.standing_orders import next_run
from shared.errors import LimitReached
from shared.outbox.plan_change import change_plan
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import Configure

PROMPT = "Tell me about new transfer bonuses to Avios."


@pytest.fixture(autouse=True)
def model(configure: Configure) -> None:
    configure(STANDING_ORDER_MODEL="local-model")


def create(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    made = use(who, "create_standing_order", **({"prompt": PROMPT, "again": True} | more))
    assert made["status"] == "ok", made
    return made["standing_order"]


def rows(kind: type[Any]) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(select(kind).order_by(kind.id)))


def change(kind: type[Any], **values: Any) -> None:
    with transaction() as session:
        session.execute(update(kind).values(**values))


def due(order: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(order["next_run_at"])


@pytest.mark.spec("s2.6.cadence_default_weekly")
@pytest.mark.spec("s2.6.run_hour_utc")
@pytest.mark.spec("s2.6.run_weekday_default_monday")
@pytest.mark.spec("s2.6.order_id")
@pytest.mark.spec("s6.2.standing_order_schedule")
def test_create_standing_order_runs_next_monday_at_seven_unless_told_otherwise(people: People, use: Use) -> None:
    order = create(use, people.alice)
    assert isinstance(order["standing_order_id"], int)
    expected = {"state": "running", "prompt": PROMPT, "cadence": "weekly", "run_hour": 7, "run_weekday": 1}
    expected |= dict.fromkeys(("trip_id", "last_run_at", "last_outcome", "stopped_at"))
    assert {name: order[name] for name in expected} == expected
    moment = due(order)
    assert (moment.isoweekday(), moment.hour, moment.minute, moment.utcoffset()) == (1, 7, 0, timedelta(0))
    assert timedelta(0) < moment - clock.now() <= timedelta(weeks=1)
    (schedule,) = rows(Schedule)
    assert (schedule.kind, schedule.every, schedule.next_due_at) == ("standing_order", timedelta(weeks=1), moment)


@pytest.mark.spec("s2.6.run_weekday_sunday_zero")
@pytest.mark.spec("s6.2.standing_order_schedule")
def test_create_standing_order_on_sunday_and_on_every_day(people: People, use: Use) -> None:
    sunday = create(use, people.alice, run_weekday=0, run_hour=23)
    assert (due(sunday).isoweekday(), due(sunday).hour) == (7, 23)
    daily = create(use, people.alice, cadence="daily", run_hour=0)
    assert (daily["run_weekday"], due(daily)) == (None, next_run(clock.now(), 0))
    assert rows(Schedule)[-1].every == timedelta(days=1)


@pytest.mark.spec("s2.6.prompt_required")
@pytest.mark.spec("s2.6.run_hour_utc")
@pytest.mark.spec("s2.6.run_weekday_sunday_zero")
@pytest.mark.parametrize(
    "given",
    [
        {"prompt": None},
        {"prompt": "  "},
        {"prompt": "x" * 4001},
        {"run_hour": 24},
        {"run_hour": -1},
        {"run_weekday": 7},
        {"run_weekday": -1},
        {"cadence": "hourly"},
        {"trip_id": 0},
    ],
)
def test_create_standing_order_refuses_what_cannot_be(people: People, use: Use, given: dict[str, Any]) -> None:
    arguments = {k: v for k, v in ({"prompt": PROMPT} | given).items() if v is not None}
    answer = use(people.alice, "create_standing_order", **arguments)
    assert answer["status"] == "invalid"
    assert {e["field"] for e in answer["errors"]} == set(given)
    assert rows(StandingOrder) == []


@pytest.mark.spec("s4.4.create_standing_order.premium")
def test_create_standing_order_is_for_premium(people: People, use: Use) -> None:
    assert use(people.bob, "create_standing_order", prompt=PROMPT)["status"] == "paywall"
    assert "Premium." in TOOLS["create_standing_order"].description
    assert rows(StandingOrder) == []


def test_create_standing_order_without_a_model_stores_nothing(
    people: People,
    use: Use,
    configure: Configure,
) -> None:
    configure(STANDING_ORDER_MODEL="")
    answer = use(people.alice, "create_standing_order", prompt=PROMPT)
    assert answer["status"] == "backend_unavailable"
    assert answer["backends"][0] | {"since": None} == {
        "name": "language_model",
        "reason": "not_configured",
        "since": None,
        "retry_after_seconds": None,
    }
    assert (rows(StandingOrder), rows(Schedule)) == ([], [])
    assert "a route monitor looks every few hours and mails what opens" in answer["message"]
    assert "none can be created or run" in use(people.alice, "list_standing_orders")["message"]


@pytest.mark.spec("s2.6.trip_id_optional")
def test_create_standing_order_files_it_under_an_open_trip_of_the_account(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="Japan")["trip"]["trip_id"]
    order = create(use, people.alice, trip_id=trip)
    assert order["trip_id"] == trip
    assert use(people.alice, "get_trip", trip_id=trip)["standing_orders"] == [order]
    assert use(people.charlie, "create_standing_order", prompt=PROMPT, trip_id=trip)["status"] == "not_found"
    use(people.alice, "delete_trip", trip_id=trip)
    assert use(people.alice, "create_standing_order", prompt=PROMPT, trip_id=trip)["status"] == "invalid"
    assert len(rows(StandingOrder)) == 1


def at_once(people: People, work: Callable[[Call], Any]) -> list[str]:
    def try_one(_number: int) -> str:
        call, done = Call(people.alice, "mcp", clock.now()), False
        try:
            work(call)
            done = True
        except LimitReached:
            return "refused"
        finally:
            call.finish(commit=done)
        return "done"

    with ThreadPoolExecutor(8) as pool:
        return sorted(pool.map(try_one, range(8)))


def test_create_standing_order_gives_the_last_place_to_one_of_many_at_once(people: People, use: Use) -> None:
    for _ in range(9):
        create(use, people.alice)
    assert at_once(people, lambda call: create_standing_order(call, PROMPT, again=True)) == ["done"] + ["refused"] * 7
    full = use(people.alice, "create_standing_order", prompt=PROMPT, again=True)
    assert (full["status"], full["limit"], full["current"], full["cap"]) == ("limit_reached", "standing_orders", 10, 10)
    use(people.alice, "cancel_standing_order", standing_order_id=rows(StandingOrder)[0].id)
    create(use, people.alice)


def test_list_standing_orders_tells_running_from_stopped(people: People, use: Use) -> None:
    first, second = (create(use, people.alice)["standing_order_id"] for _ in range(2))
    use(people.alice, "cancel_standing_order", standing_order_id=first)
    found = {s: use(people.alice, "list_standing_orders", state=s) for s in ("running", "stopped", "all")}
    ids = {s: [o["standing_order_id"] for o in found[s]["standing_orders"]] for s in found}
    assert ids == {"running": [second], "stopped": [first], "all": [second, first]}
    page = use(people.alice, "list_standing_orders", state="all", page=2, per_page=1)
    assert page["paging"] == {"page": 2, "per_page": 1, "total": 2, "has_more": False}
    assert use(people.charlie, "list_standing_orders", state="all")["standing_orders"] == []


def run_of(order: int, **values: Any) -> None:
    with transaction() as session:
        owner = session.get_one(StandingOrder, order).account_id
        session.add(StandingOrderRun(standing_order_id=order, account_id=owner, **values))


@pytest.mark.spec("s2.6.last_result_kept")
def test_get_standing_order_shows_the_last_result_and_the_ten_newest_runs(people: People, use: Use) -> None:
    id, now = create(use, people.alice)["standing_order_id"], clock.now()
    for day in range(12):
        at = now - timedelta(days=day)
        times = {"queued_at": at, "started_at": at, "finished_at": at}
        failed = {"outcome": "failed", "error": "rate_limited", "tools_called": ["whats_on_sale"]}
        run_of(id, **times, **(failed if day == 0 else {"outcome": "ok", "result": f"# Day {day}"}))
    shown = use(people.alice, "get_standing_order", standing_order_id=id)
    assert shown["last_result"] == "# Day 1"
    assert len(shown["runs"]) == 10
    newest = shown["runs"][0]
    assert (newest["outcome"], newest["error"], newest["tools_called"]) == ("failed", "rate_limited", ["whats_on_sale"])
    assert shown["standing_order"]["last_outcome"] == "failed"
    assert use(people.charlie, "get_standing_order", standing_order_id=id)["status"] == "not_found"


def test_update_standing_order_moves_the_next_run_and_names_what_changed(people: People, use: Use) -> None:
    order = create(use, people.alice)
    id = order["standing_order_id"]
    same = use(people.alice, "update_standing_order", standing_order_id=id, run_hour=7, prompt=PROMPT)
    assert (same["changed"], due(same["standing_order"])) == ([], due(order))
    words = use(people.alice, "update_standing_order", standing_order_id=id, prompt="Something else.")
    assert (words["changed"], due(words["standing_order"])) == (["prompt"], due(order))
    daily = use(people.alice, "update_standing_order", standing_order_id=id, cadence="daily", run_hour=5)
    assert daily["changed"] == ["cadence", "run_hour", "run_weekday"]
    assert due(daily["standing_order"]) == next_run(clock.now(), 5)
    assert rows(Schedule)[0].every == timedelta(days=1)
    weekly = use(people.alice, "update_standing_order", standing_order_id=id, cadence="weekly")
    assert weekly["standing_order"]["run_weekday"] == 1
    assert due(weekly["standing_order"]) == next_run(clock.now(), 5, 1)


def test_update_standing_order_refuses_a_weekday_of_a_daily_order(people: People, use: Use) -> None:
    id = create(use, people.alice, cadence="daily")["standing_order_id"]
    answer = use(people.alice, "update_standing_order", standing_order_id=id, run_weekday=3)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "run_weekday")


def test_update_standing_order_files_and_clears_its_trip(people: People, use: Use) -> None:
    trip, id = use(people.alice, "create_trip", name="Japan")["trip"]["trip_id"], create(use, people.alice)
    named = {"standing_order_id": id["standing_order_id"]}
    assert use(people.alice, "update_standing_order", **named, trip_id=trip)["standing_order"]["trip_id"] == trip
    cleared = use(people.alice, "update_standing_order", **named, clear=["trip_id"])
    assert (cleared["changed"], cleared["standing_order"]["trip_id"]) == (["trip_id"], None)


def test_update_standing_order_leaves_a_stopped_one_as_it_is(people: People, use: Use) -> None:
    id = create(use, people.alice)["standing_order_id"]
    use(people.alice, "cancel_standing_order", standing_order_id=id)
    answer = use(people.alice, "update_standing_order", standing_order_id=id, run_hour=9)
    assert (answer["status"], "stopped" in answer["message"]) == ("invalid", True)
    assert use(people.bob, "update_standing_order", standing_order_id=id, run_hour=9)["status"] == "paywall"
    assert use(people.alice, "run_standing_order", standing_order_id=id)["status"] == "invalid"


@pytest.mark.spec("s3.standing_order.cancel_keeps_result")
@pytest.mark.spec("s2.6.order_id")
def test_cancel_standing_order_stops_it_and_keeps_record_and_result(people: People, use: Use) -> None:
    id = create(use, people.alice)["standing_order_id"]
    run_of(id, started_at=clock.now(), finished_at=clock.now(), outcome="ok", result="# Two bonuses")
    stopped = use(people.alice, "cancel_standing_order", standing_order_id=id)["standing_order"]
    assert (stopped["state"], stopped["next_run_at"], stopped["last_outcome"]) == ("stopped", None, "ok")
    assert stopped["stopped_at"] is not None
    assert use(people.alice, "cancel_standing_order", standing_order_id=id)["standing_order"] == stopped
    assert use(people.alice, "get_standing_order", standing_order_id=id)["last_result"] == "# Two bonuses"
    change(Schedule, next_due_at=clock.now() - timedelta(hours=1))
    with transaction() as session:
        assert create_due_runs(session) == 0
    assert use(people.alice, "cancel_standing_order")["errors"][0]["field"] == "standing_order_id"
    assert use(people.charlie, "cancel_standing_order", standing_order_id=id)["status"] == "not_found"


def test_run_standing_order_queues_one_run_beside_the_schedule(people: People, use: Use) -> None:
    order = create(use, people.alice)
    id, before = order["standing_order_id"], clock.now()
    answer = use(people.alice, "run_standing_order", standing_order_id=id)
    assert (answer["status"], answer["queued"]) == ("ok", True)
    expected, free = (datetime.fromisoformat(answer[name]) for name in ("expected_by", "next_allowed_at"))
    assert before < expected < before + timedelta(minutes=3)
    assert timedelta(hours=1) <= free - before < timedelta(hours=1, minutes=1)
    (run,), (job,) = rows(StandingOrderRun), rows(JobRun)
    assert (shorten_uuid(run.id), run.manual, run.job_run_id, run.outcome) == (answer["run_id"], True, job.id, None)
    shown = use(people.alice, "get_standing_order", standing_order_id=id)
    assert due(shown["standing_order"]) == due(order)
    assert [r["run_id"] for r in shown["runs"]] == [answer["run_id"]]


def test_run_standing_order_is_exact_under_concurrency_and_free_again_after_an_hour(people: People, use: Use) -> None:
    id, other = (create(use, people.alice)["standing_order_id"] for _ in range(2))
    assert at_once(people, lambda call: run_standing_order(call, id)) == ["done"] + ["refused"] * 7
    assert (len(rows(JobRun)), len(rows(StandingOrderRun))) == (1, 1)
    again = use(people.alice, "run_standing_order", standing_order_id=id)
    assert (again["status"], again["limit"]) == ("limit_reached", "standing_order_runs")
    assert datetime.fromisoformat(again["resets_at"]) == rows(StandingOrderRun)[0].queued_at + timedelta(hours=1)
    assert use(people.alice, "run_standing_order", standing_order_id=other)["status"] == "ok"
    change(StandingOrderRun, queued_at=clock.now() - timedelta(hours=1))
    assert use(people.alice, "run_standing_order", standing_order_id=id)["status"] == "ok"


def test_run_standing_order_without_a_model_queues_nothing(people: People, use: Use, configure: Configure) -> None:
    id = create(use, people.alice)["standing_order_id"]
    configure(STANDING_ORDER_MODEL="")
    assert use(people.alice, "run_standing_order", standing_order_id=id)["status"] == "backend_unavailable"
    assert rows(JobRun) == []


def test_a_smaller_plan_pauses_orders_and_a_larger_one_resumes_them_at_their_hour(people: People, use: Use) -> None:
    order = create(use, people.alice)
    id = order["standing_order_id"]
    for plan, state in ((Plan.FREE, "stopped"), (Plan.PREMIUM, "running")):
        with transaction() as session:
            change_plan(session, session.get_one(Account, people.alice.account_id), plan)
        shown = use(people.alice, "get_standing_order", standing_order_id=id)["standing_order"]
        assert shown["state"] == state
        if state == "stopped":
            refused = use(people.alice, "update_standing_order", standing_order_id=id, run_hour=9)
            assert (refused["status"], "paused" in refused["message"]) == ("invalid", True)
    assert due(shown) == due(order)
