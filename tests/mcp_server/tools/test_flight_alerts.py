"""The flight alert tools: creating within the cap, listing, changing, pausing and deleting."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.tools.flight_alerts import create_flight_alert
from shared import clock
from shared.db.base import transaction
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.runs import Schedule
from shared.errors import LimitReached
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.people import People


def window_start() -> date:
    return clock.today() + timedelta(days=30)


def window_end() -> date:
    return clock.today() + timedelta(days=60)


def window_arguments() -> dict[str, Any]:
    return {"date_range_start": window_start().isoformat(), "date_range_end": window_end().isoformat()}


GONE = {"date_range_start": "2020-01-01", "date_range_end": "2020-01-02"}


def create(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    terms = {"airline": "BA", "departure": "LHR", "destination": "JFK", **window_arguments()}
    return use(who, "create_flight_alert", **(terms | more))


def schedules() -> list[Schedule]:
    with transaction() as session:
        return list(session.scalars(select(Schedule).order_by(Schedule.id)))


def seen(alert_id: int) -> None:
    with transaction() as session:
        row = {
            "alert_id": alert_id,
            "key": f"BA|x|{window_start()}|economy",
            "matched": True,
            "answered_at": clock.now(),
        }
        session.add(FlightAlertKey(**row))


def keys() -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(FlightAlertKey)) or 0


@pytest.mark.spec("s2.5a.airports_either_case")
@pytest.mark.spec("s2.5a.cabin_absent_any")
@pytest.mark.spec("s2.5a.alert_id")
@pytest.mark.running_clock  # its rows are dated one after the other
def test_create_flight_alert_stores_the_terms_and_is_due_at_once(people: People, use: Use) -> None:
    answer = create(use, people.alice, departure="lhr", destination="Jfk")
    alert = answer["alert"]
    assert alert | {"created_at": None} == {
        "alert_id": alert["alert_id"],
        "airline": "BA",
        "departure": "LHR",
        "destination": "JFK",
        **window_arguments(),
        "cabin_class": None,
        "passengers": 1,
        "nonstop_only": False,
        "weekdays": None,
        "max_taxes": None,
        "max_taxes_currency": None,
        "active": True,
        "last_checked_at": None,
        "last_hit_at": None,
        "created_at": None,
    }
    assert isinstance(alert["alert_id"], int)
    assert (answer["active_count"], answer["cap"]) == (1, 25)
    (due,) = schedules()
    assert (due.kind, due.subject_id, due.every) == ("flight_alert", alert["alert_id"], timedelta(hours=6))
    assert due.next_due_at <= clock.now()


def test_create_flight_alert_says_through_whose_programme_hawaiian_is_priced(people: People, use: Use) -> None:
    answer = create(use, people.alice, airline="HA", departure="HNL", destination="LAX")
    assert answer["alert"]["airline"] == "HA"
    assert "priced through Atmos Rewards" in answer["message"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"airline": "LH"}, "airline"),
        ({"airline": "British Airways"}, "airline"),
        ({"airline": None}, "airline"),
        ({"departure": "ZZZ"}, "departure"),
        ({"departure": "LHRX"}, "departure"),
        ({"destination": "lhr"}, "destination"),
        ({"destination": None}, "destination"),
        ({"date_range_end": lambda: (window_start() - timedelta(days=1)).isoformat()}, "date_range_end"),
        (GONE, "date_range_end"),
        ({"date_range_start": None}, "date_range_start"),
        ({"date_range_end": None}, "date_range_end"),
        ({"cabin_class": "coach"}, "cabin_class"),
        ({"passengers": 10}, "passengers"),
        ({"weekdays": ["monday"]}, "weekdays[0]"),
    ],
)
@pytest.mark.spec("s2.5a.airline_enum")
@pytest.mark.spec("s2.5a.airports_either_case")
@pytest.mark.spec("s2.5a.window_required")
@pytest.mark.spec("s2.5a.cabin_absent_any")
def test_create_flight_alert_names_what_is_wrong(
    people: People, use: Use, arguments: dict[str, Any], field: str
) -> None:
    arguments = evaluate(arguments)
    answer = create(use, people.alice, **arguments)
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == field
    assert schedules() == []


@pytest.mark.spec("s2.5a.airline_enum")
@pytest.mark.parametrize("airline", ["BA", "VS", "CX", "IB", "QR", "EY", "JL", "B6", "UA", "TP", "HA", "FI"])
def test_create_flight_alert_takes_each_of_the_twelve_airlines(people: People, use: Use, airline: str) -> None:
    assert create(use, people.alice, airline=airline)["status"] == "ok"


@pytest.mark.spec("s4.4.create_flight_alert.free_one")
@pytest.mark.spec("s4.4.create_flight_alert.counted_apart")
def test_create_flight_alert_gives_a_free_account_one_beside_its_route_monitor(people: People, use: Use) -> None:
    monitor = {"origin": "LHR", "destination": "JFK", "earliest_date": window_start().isoformat()}
    assert use(people.bob, "create_route_monitor", **monitor, latest_date=window_end().isoformat())["status"] == "ok"
    first = create(use, people.bob)
    assert (first["status"], first["active_count"], first["cap"]) == ("ok", 1, 1)
    answer = create(use, people.bob)
    assert (answer["status"], answer["limit"], answer["current"], answer["cap"]) == (
        "limit_reached",
        "flight_alerts",
        1,
        1,
    )
    counts = use(people.bob, "get_usage")["counts"]
    assert counts["flight_alerts"] == {"active": 1, "cap": 1}
    assert counts["route_monitors"] == {"active": 1, "cap": 1}
    use(people.bob, "update_flight_alert", alert_id=first["alert"]["alert_id"], active=False)
    assert create(use, people.bob)["status"] == "ok"


def test_create_flight_alert_gives_the_last_place_to_one_of_many_at_once(people: People) -> None:
    def try_one(_number: int) -> str:
        call = Call(people.bob, "mcp", clock.now())
        done = False
        try:
            create_flight_alert(call, "BA", "LHR", "JFK", window_start(), window_end())
            done = True
        except LimitReached:
            return "refused"
        finally:
            call.finish(commit=done)
        return "created"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(try_one, range(8)))
    assert sorted(set(outcomes)) == ["created", "refused"]
    assert outcomes.count("created") == 1
    assert len(schedules()) == 1


def test_list_flight_alerts_shows_all_or_those_asked_for(people: People, use: Use) -> None:
    ids = [create(use, people.alice, airline=code)["alert"]["alert_id"] for code in ("BA", "QR", "VS")]
    use(people.alice, "update_flight_alert", alert_id=ids[1], active=False)
    every = use(people.alice, "list_flight_alerts")
    assert [a["alert_id"] for a in every["alerts"]] == ids[::-1]
    assert (every["active_count"], every["cap"], every["paging"]["total"]) == (2, 25, 3)
    assert [a["alert_id"] for a in use(people.alice, "list_flight_alerts", active=False)["alerts"]] == [ids[1]]
    page = use(people.alice, "list_flight_alerts", active=True, page=2, per_page=1)
    assert ([a["alert_id"] for a in page["alerts"]], page["paging"]["has_more"]) == ([ids[0]], False)
    (one,) = use(people.alice, "list_flight_alerts", alert_id=ids[0])["alerts"]
    assert one["airline"] == "BA"
    assert use(people.charlie, "list_flight_alerts", alert_id=ids[0])["status"] == "not_found"


def test_list_flight_alerts_says_which_the_last_check_learned_nothing_about(people: People, use: Use) -> None:
    id = create(use, people.alice)["alert"]["alert_id"]
    with transaction() as session:
        session.execute(update(FlightAlert).values(last_outcome="connection_required"))
    assert f"alert {id} got no answer: connect seats_aero" in use(people.alice, "list_flight_alerts")["message"]


@pytest.mark.spec("s3.flight_alert.pause")
def test_update_flight_alert_pauses_without_deleting_and_starts_again(people: People, use: Use) -> None:
    id = create(use, people.alice)["alert"]["alert_id"]
    seen(id)
    paused = use(people.alice, "update_flight_alert", alert_id=id, active=False)
    assert (paused["alert"]["active"], paused["changed"]) == (False, ["active"])
    assert [s.enabled for s in schedules()] == [False]
    again = use(people.alice, "update_flight_alert", alert_id=id, active=True)
    assert (again["alert"]["active"], again["changed"]) == (True, ["active"])
    assert [s.enabled for s in schedules()] == [True]
    assert keys() == 0


@pytest.mark.running_clock  # its rows are dated one after the other
def test_update_flight_alert_changes_terms_and_starts_afresh(people: People, use: Use) -> None:
    id = create(use, people.alice, cabin_class="first")["alert"]["alert_id"]
    seen(id)
    with transaction() as session:
        session.execute(update(Schedule).values(next_due_at=clock.now() + timedelta(hours=5)))
    assert use(people.alice, "update_flight_alert", alert_id=id, airline="BA")["changed"] == []
    assert keys() == 1
    answer = use(people.alice, "update_flight_alert", alert_id=id, airline="VS", departure="lgw", clear=["cabin_class"])
    assert set(answer["changed"]) == {"airline", "departure", "cabin_class"}
    assert (answer["alert"]["departure"], answer["alert"]["cabin_class"]) == ("LGW", None)
    assert keys() == 0
    assert schedules()[0].next_due_at <= clock.now()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"destination": "LHR"}, "destination"),
        (GONE, "date_range_end"),
        ({"date_range_end": "2020-01-02"}, "date_range_end"),
        ({"departure": "ZZZ"}, "departure"),
        ({"clear": ["cabin_class"], "cabin_class": "first"}, "clear"),
    ],
)
def test_update_flight_alert_refuses_what_create_would(
    people: People, use: Use, arguments: dict[str, Any], field: str
) -> None:
    before = create(use, people.alice)["alert"]
    answer = use(people.alice, "update_flight_alert", alert_id=before["alert_id"], **arguments)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "list_flight_alerts")["alerts"] == [before]


def test_update_flight_alert_starts_none_without_a_free_place(people: People, use: Use) -> None:
    first = create(use, people.bob)["alert"]["alert_id"]
    use(people.bob, "update_flight_alert", alert_id=first, active=False)
    create(use, people.bob)
    answer = use(people.bob, "update_flight_alert", alert_id=first, active=True)
    assert (answer["status"], answer["current"], answer["cap"]) == ("limit_reached", 1, 1)
    assert not use(people.bob, "list_flight_alerts", alert_id=first)["alerts"][0]["active"]


def test_update_flight_alert_takes_up_one_that_a_plan_paused_where_there_is_room(people: People, use: Use) -> None:
    id = create(use, people.alice)["alert"]["alert_id"]
    with transaction() as session:
        session.execute(update(FlightAlert).values(paused_at=clock.now()))
    assert not use(people.alice, "list_flight_alerts")["alerts"][0]["active"]
    answer = use(people.alice, "update_flight_alert", alert_id=id, active=True)
    assert (answer["alert"]["active"], answer["changed"]) == (True, ["active"])


@pytest.mark.spec("s3.flight_alert.delete_permanent")
@pytest.mark.spec("s2.5a.alert_id")
def test_delete_flight_alert_is_final_and_asks_to_confirm_first(people: People, use: Use) -> None:
    id = create(use, people.alice)["alert"]["alert_id"]
    seen(id)
    assert use(people.charlie, "delete_flight_alert", alert_id=id)["status"] == "not_found"
    answer = use(people.alice, "delete_flight_alert", alert_id=id)
    assert answer["removed"] == {"alert_id": id, "airline": "BA", "route": "LHR-JFK"}
    assert (schedules(), keys()) == ([], 0)
    assert use(people.alice, "delete_flight_alert", alert_id=id)["status"] == "not_found"
    assert use(people.alice, "delete_flight_alert")["errors"][0]["field"] == "alert_id"
    assert "confirm with the user first" in TOOLS["delete_flight_alert"].description


def test_create_flight_alert_says_when_another_one_says_the_same(people: People, use: Use) -> None:
    first = create(use, people.alice)["alert"]["alert_id"]
    assert "the same" not in create(use, people.alice, cabin_class="first")["message"]
    assert "the same" not in create(use, people.charlie)["message"]
    again = create(use, people.alice)
    assert (again["status"], again["active_count"]) == ("ok", 3)
    assert f"Number {first} says the same and is active too" in again["message"]
    for id in (first, again["alert"]["alert_id"]):
        use(people.alice, "update_flight_alert", alert_id=id, active=False)
    assert "the same" not in create(use, people.alice)["message"]


def test_create_flight_alert_takes_filters_and_the_whole_party(people: People, use: Use) -> None:
    answer = create(use, people.alice, passengers=4, nonstop_only=True, weekdays=["sat"], max_taxes=99.5)
    alert = answer["alert"]
    shown = [alert[name] for name in ("passengers", "nonstop_only", "weekdays", "max_taxes", "max_taxes_currency")]
    assert shown == [4, True, ["sat"], 99.5, "USD"]
    assert (
        "Only non-stop flights, days that are a Saturday, taxes of at most 99.50 USD per person." in answer["message"]
    )
    changed = use(people.alice, "update_flight_alert", alert_id=alert["alert_id"], clear=["weekdays"], passengers=2)
    assert (set(changed["changed"]), changed["alert"]["weekdays"]) == ({"weekdays", "passengers"}, None)


def test_create_flight_alert_tells_where_the_airline_flies_and_when_its_days_open(people: People, use: Use) -> None:
    start = clock.today() + timedelta(days=500)
    days = {"date_range_start": start.isoformat(), "date_range_end": start.isoformat()}
    answer = create(use, people.alice, airline="JL", destination="NRT", **days)
    assert "Japan Airlines is known to fly LHR to HND only" in answer["message"]
    assert answer["opens_on"] == (start - timedelta(days=360)).isoformat()
    assert "Japan Airlines opens award seats 360 days ahead" in answer["message"]
