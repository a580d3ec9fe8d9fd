"""The route monitor tools: creating within the cap, listing, reading and cancelling, and walls between accounts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Call, Caller
from mcp_server.tools.route_monitors import create_route_monitor
from shared import clock
from shared.db.base import transaction
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from shared.db.runs import Schedule
from shared.domain.dates import format_weekday
from shared.errors import LimitReached
from tests.support.dates import evaluate
from tests.support.people import People

Use = Callable[..., dict[str, Any]]


def window_start() -> date:
    return clock.today() + timedelta(days=30)


def window_end() -> date:
    return clock.today() + timedelta(days=60)


def window_arguments() -> dict[str, Any]:
    return {"earliest_date": window_start().isoformat(), "latest_date": window_end().isoformat()}


FIELDS = {
    *("monitor_id", "state", "origin", "destination", "earliest_date", "latest_date", "cabin", "airlines"),
    *("passengers", "max_points", "trip_id", "last_checked_at", "next_check_at", "last_match", "matches_total"),
    *(
        "created_at",
        "paused_at",
        "cancelled_at",
        "cancel_reason",
        "best_match",
        "origin_airports",
        "destination_airports",
    ),
    *("nonstop_only", "weekdays", "max_taxes", "max_taxes_currency", "booking_id", "program"),
}


def create(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    return use(who, "create_route_monitor", **{"origin": "LHR", "destination": "JFK", **window_arguments(), **more})


def schedules() -> list[Schedule]:
    with transaction() as session:
        return list(session.scalars(select(Schedule).order_by(Schedule.id)))


def found(monitor_id: int, points: int = 60000, **more: Any) -> None:
    with transaction() as session:
        facts = {"airline": "BA", "program": "british-airways-club", "origin": "LHR", "destination": "JFK"}
        facts |= {"date": window_start()} | more
        session.add(
            MonitorMatch(
                monitor_id=monitor_id,
                cabin="business",
                points=points,
                flight_numbers=["BA-SBX-1"],
                source="sandbox",
                mode="sandbox",
                **facts,
            )
        )


@pytest.mark.spec("s3.route_monitor.created_active")
@pytest.mark.spec("s2.5.airports_upper_case_only")
@pytest.mark.spec("s2.5.window_required")
@pytest.mark.running_clock  # its rows are dated one after the other
def test_create_route_monitor_stores_the_terms_and_is_due_at_once(people: People, use: Use) -> None:
    answer = create(use, people.alice, cabin="business", airlines=["British Airways", "qr", "BA"], passengers=2)
    monitor = answer["monitor"]
    assert answer["status"] == "ok"
    assert set(monitor) == FIELDS
    assert (monitor["state"], monitor["airlines"], monitor["passengers"]) == ("active", ["BA", "QR"], 2)
    assert (answer["active_count"], answer["cap"]) == (1, 20)
    (due,) = schedules()
    assert (due.kind, due.subject_id, due.every) == ("route_monitor", monitor["monitor_id"], timedelta(hours=6))
    assert due.next_due_at <= clock.now()
    assert monitor["next_check_at"] is not None


def test_create_route_monitor_says_for_how_many_and_up_to_which_price(people: People, use: Use) -> None:
    answer = create(use, people.alice, passengers=4, max_points=30_000)
    assert "watches LHR to JFK for four travellers, at most 30,000 points per person. " in answer["message"]


@pytest.mark.spec("s2.5.airlines_filter")
@pytest.mark.spec("s2.5.passengers_one_to_nine")
def test_create_route_monitor_watches_everything_when_little_is_said(people: People, use: Use) -> None:
    monitor = create(use, people.alice)["monitor"]
    stored = [monitor[name] for name in ("cabin", "airlines", "max_points", "passengers")]
    assert stored == [None, None, None, 1]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"origin": "lhr"}, "origin"),
        ({"origin": "ZZZ"}, "origin"),
        ({"destination": "LHR"}, "destination"),
        ({"latest_date": lambda: (window_start() - timedelta(days=1)).isoformat()}, "latest_date"),
        ({"earliest_date": "2020-01-01", "latest_date": "2020-01-02"}, "latest_date"),
        ({"earliest_date": "2027-02-30"}, "earliest_date"),
        ({"latest_date": None}, "latest_date"),
        ({"cabin": "coach"}, "cabin"),
        ({"passengers": 0}, "passengers"),
        ({"passengers": 10}, "passengers"),
        ({"passengers": True}, "passengers"),
        ({"max_points": 0}, "max_points"),
        ({"airlines": ["BA"] * 31}, "airlines"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
@pytest.mark.spec("s2.5.airports_upper_case_only")
@pytest.mark.spec("s2.5.cabin_enum")
@pytest.mark.spec("s2.5.passengers_one_to_nine")
@pytest.mark.spec("s2.5.window_required")
def test_create_route_monitor_names_what_is_wrong(
    people: People, use: Use, arguments: dict[str, Any], field: str
) -> None:
    arguments = evaluate(arguments)
    answer = create(use, people.alice, **arguments)
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == field
    assert schedules() == []


def test_create_route_monitor_watches_the_airports_of_a_city(people: People, use: Use) -> None:
    answer = create(use, people.alice, origin="LON", destination="TYO")
    monitor = answer["monitor"]
    assert (monitor["origin"], monitor["origin_airports"]) == ("LON", ["LHR", "LGW", "LCY"])
    assert monitor["destination_airports"] == ["HND", "NRT"]
    assert "TYO means HND and NRT." in answer["message"]
    (error,) = create(use, people.alice, origin="NYC", destination="JFK")["errors"]
    assert (error["field"], error["problem"]) == ("destination", "is the origin too")


def test_create_route_monitor_does_not_guess_an_airline(people: People, use: Use) -> None:
    answer = create(use, people.alice, airlines=["BA", "no such carrier at all"])
    assert answer["status"] == "not_found"
    assert schedules() == []


@pytest.mark.spec("s3.route_monitor.limit")
def test_create_route_monitor_at_the_cap_creates_nothing_and_says_both_figures(people: People, use: Use) -> None:
    first = create(use, people.bob)
    assert first["status"] == "ok"
    answer = create(use, people.bob)
    assert answer["status"] == "limit_reached"
    assert (answer["active_count"], answer["current"], answer["cap"]) == (1, 1, 1)
    assert answer["limit"] == "route_monitors"
    assert len(schedules()) == 1
    use(people.bob, "cancel_route_monitor", monitor_id=first["monitor"]["monitor_id"])
    assert create(use, people.bob)["status"] == "ok"


@pytest.mark.spec("s3.route_monitor.limit")
def test_create_route_monitor_gives_the_last_place_to_one_of_eight_at_once(people: People) -> None:
    def attempt(_: int) -> bool:
        call = Call(people.bob, "mcp", clock.now())
        created = False
        try:
            create_route_monitor(call, "LHR", "JFK", window_start(), window_end())
            created = True
        except LimitReached:
            pass
        finally:
            call.finish(commit=created)
        return created

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(attempt, range(8))) == [False] * 7 + [True]
    assert len(schedules()) == 1


def test_list_route_monitors_filters_by_state_and_pages(people: People, use: Use) -> None:
    ids = [create(use, people.alice)["monitor"]["monitor_id"] for _ in range(3)]
    use(people.alice, "cancel_route_monitor", monitor_id=ids[0])
    found(ids[2], points=70000)
    active = use(people.alice, "list_route_monitors")
    assert [m["monitor_id"] for m in active["monitors"]] == [ids[2], ids[1]]
    assert (active["active_count"], active["cap"], active["paging"]["total"]) == (2, 20, 2)
    assert active["monitors"][0]["last_match"]["points"] == 70000
    assert active["monitors"][1]["last_match"] is None
    cancelled = use(people.alice, "list_route_monitors", state="cancelled")
    assert [m["monitor_id"] for m in cancelled["monitors"]] == ids[:1]
    page = use(people.alice, "list_route_monitors", state="all", page=2, per_page=2)
    assert ([m["monitor_id"] for m in page["monitors"]], page["paging"]["has_more"]) == (ids[:1], False)


def test_get_route_monitor_shows_checks_and_seats_newest_first(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    for n in range(12):
        with transaction() as session:
            session.add(
                MonitorCheck(
                    monitor_id=id,
                    checked_at=clock.now() - timedelta(hours=6 * n),
                    outcome="ok" if n else "partial",
                    options_seen=n,
                    new_matches=0,
                    failed_sources=[] if n else ["seats_aero"],
                )
            )
    for n in reversed(range(22)):
        found(id, points=1000 + n, date=window_start() + timedelta(days=n))
    answer = use(people.alice, "get_route_monitor", monitor_id=id)
    assert answer["status"] == "ok"
    assert [c["options_seen"] for c in answer["checks"]] == list(range(10))
    assert set(answer["checks"][0]) == {"checked_at", "outcome", "options_seen", "new_matches", "failed_sources"}
    assert answer["checks"][0]["failed_sources"] == ["seats_aero"]
    assert len(answer["matches"]) == 12
    seat = answer["matches"][0]
    assert (seat["mode"], seat["source"], seat["synthetic"]) == ("sandbox", "sandbox", True)
    assert seat == answer["monitor"]["last_match"] | {"found_at": seat["found_at"], "is_open": False}
    assert answer["names"] == {"BA": "British Airways", "british-airways-club": "The British Airways Club"}


def test_get_route_monitor_tells_the_lowest_price_of_each_check(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    minute = clock.now().replace(second=0, microsecond=0)
    for seconds, points in ((3600, 90_000), (3600, 70_000), (41, 60_000), (1, 80_000)):
        found(id, points=points, found_at=minute - timedelta(seconds=seconds))
    prices = use(people.alice, "get_route_monitor", monitor_id=id)["prices"]
    assert [(p["points"], p["seats"]) for p in prices] == [(70_000, 2), (60_000, 1), (80_000, 1)]
    assert [p["found_at"] for p in prices] == sorted(p["found_at"] for p in prices)


def test_the_best_value_that_is_still_open_comes_first(people: People, use: Use) -> None:
    id = create(use, people.alice, passengers=2)["monitor"]["monitor_id"]
    open_day, dear_day, gone_day = (window_start() + timedelta(days=n) for n in (1, 2, 3))
    for points, day in ((90_000, open_day), (179_800, dear_day), (40_000, gone_day)):
        found(id, points=points, date=day, taxes=Decimal("5.60"), taxes_currency="USD")
        with transaction() as session:
            key = f"BA|british-airways-club|{day}|business"
            matched = day != gone_day
            session.add(MonitorKey(monitor_id=id, key=key, matched=matched, answered_at=clock.now()))
    answer = use(people.alice, "get_route_monitor", monitor_id=id)
    assert [match["points"] for match in answer["matches"]] == [90_000, 179_800, 40_000]
    assert [match["is_open"] for match in answer["matches"]] == [True, True, False]
    assert answer["monitor"]["best_match"]["points"] == 90_000
    assert answer["monitor"]["last_match"]["points"] == 40_000
    assert f"{format_weekday(open_day)}, British Airways business" in answer["message"]
    assert "90,000 points each, 180,000 for two, 11.20 USD taxes with The British Airways Club" in answer["message"]


def test_create_route_monitor_keeps_its_filters_and_update_changes_them(people: People, use: Use) -> None:
    filters = {"nonstop_only": True, "weekdays": ["sun", "fri"], "max_taxes": 250}
    answer = create(use, people.alice, **filters)
    monitor = answer["monitor"]
    assert [monitor[name] for name in filters] == [True, ["fri", "sun"], 250]
    assert monitor["max_taxes_currency"] == "USD"
    words = "Only non-stop flights, days that are a Friday or Sunday, taxes of at most 250 USD per person."
    assert words in answer["message"]
    changed = _change(use, people.alice, monitor["monitor_id"], nonstop_only=False, clear=["max_taxes"])
    assert set(changed["changed"]) == {"nonstop_only", "max_taxes", "max_taxes_currency"}
    assert "Only days that are a Friday or Sunday." in changed["message"]


def test_create_route_monitor_tells_where_the_airline_flies(people: People, use: Use) -> None:
    message = create(use, people.alice, destination="NRT", airlines=["JL"])["message"]
    assert "Japan Airlines is known to fly LHR to HND only, and you watch LHR to NRT" in message
    assert "is known to fly" not in create(use, people.alice, destination="TYO", airlines=["JL"])["message"]


def test_create_route_monitor_tells_when_days_go_on_sale(people: People, use: Use) -> None:
    first = clock.today() + timedelta(days=400)
    days = {"earliest_date": first.isoformat(), "latest_date": (first + timedelta(days=9)).isoformat()}
    answer = create(use, people.alice, destination="HND", airlines=["JL"], **days)
    opens_on = first - timedelta(days=360)
    assert (answer["opens_on"], answer["release"]["days_ahead"]) == (opens_on.isoformat(), 360)
    assert f"so {format_weekday(first)} opens on {format_weekday(opens_on)}" in answer["message"]
    anybody = create(use, people.alice, **days)
    assert (anybody["opens_on"], anybody["release"]) == (opens_on.isoformat(), None)
    partly = create(use, people.alice, latest_date=days["latest_date"])
    assert partly["opens_on"] is None
    assert f"The end of the window, {format_weekday(first + timedelta(days=9))}, opens on" in partly["message"]


def _book(use: Use, who: Caller, **more: Any) -> int:
    terms = {"airline": "BA", "origin": "LHR", "destination": "JFK", "flight_number": "BA117", "passengers": 2}
    terms |= {"departure_date": window_start().isoformat(), "cabin_class": "business", "points_spent": 160_000}
    booked = use(who, "add_flight_booking", **(terms | {"program": "ba", "taxes_paid": 400} | more))
    return int(booked["booking"]["booking_id"])


def test_create_route_monitor_watches_a_booked_award(people: People, use: Use) -> None:
    id = _book(use, people.alice)
    answer = create(use, people.alice, booking_id=id)
    monitor = answer["monitor"]
    assert (monitor["booking_id"], monitor["program"], monitor["airlines"]) == (id, "british-airways-club", ["BA"])
    assert (monitor["cabin"], monitor["passengers"], monitor["max_points"]) == ("business", 2, 79_999)
    assert monitor["earliest_date"] == monitor["latest_date"] == window_start().isoformat()
    assert "in business for fewer than the 80,000 points each that were paid, after the fee" in answer["message"]
    assert (answer["fee"]["currency"], answer["release"]) == ("USD", None)
    better = create(use, people.alice, booking_id=id, cabin="first")["monitor"]
    assert (better["cabin"], better["max_points"]) == ("first", None)
    assert _change(use, people.alice, monitor["monitor_id"], passengers=1)["status"] == "invalid"


@pytest.mark.parametrize(
    ("booking", "arguments", "field"),
    [
        ({}, {"destination": "BOS"}, "origin"),
        ({}, {"cabin": "economy"}, "cabin"),
        ({}, {"earliest_date": lambda: (window_start() + timedelta(days=1)).isoformat()}, "earliest_date"),
        ({"points_spent": 0}, {}, "booking_id"),
        ({"return_date": lambda: window_end().isoformat()}, {}, "booking_id"),
    ],
)
def test_create_route_monitor_names_what_a_booked_award_lacks(
    people: People, use: Use, booking: dict[str, Any], arguments: dict[str, Any], field: str
) -> None:
    id = _book(use, people.alice, **evaluate(booking))
    answer = create(use, people.alice, booking_id=id, **evaluate(arguments))
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)


def test_create_route_monitor_finds_no_booking_of_another(people: People, use: Use) -> None:
    id = _book(use, people.alice)
    assert create(use, people.charlie, booking_id=id)["status"] == "not_found"


def test_get_route_monitor_says_how_balances_pay_the_best_open_seat(people: People, use: Use) -> None:
    id = create(use, people.alice, passengers=2)["monitor"]["monitor_id"]
    found(id)
    with transaction() as session:
        key = f"BA|british-airways-club|{window_start()}|business"
        session.add(MonitorKey(monitor_id=id, key=key, matched=True, answered_at=clock.now()))
    assert use(people.alice, "get_route_monitor", monitor_id=id)["funding"] == []
    use(people.alice, "update_points_balance", program="chase-ultimate-rewards", balance=184500)
    (sentence,) = use(people.alice, "get_route_monitor", monitor_id=id)["funding"]
    assert sentence.startswith("You hold 184,500 Chase Ultimate Rewards points: transfer 120,000 to")
    with transaction() as session:
        session.get_one(MonitorKey, (id, key)).matched = False
    assert use(people.alice, "get_route_monitor", monitor_id=id)["funding"] == []


def test_get_route_monitor_never_calls_a_stored_seat_live(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    found(id)
    with transaction() as session:
        session.query(MonitorMatch).one().mode = "live"
    seat = use(people.alice, "get_route_monitor", monitor_id=id)["monitor"]["last_match"]
    assert seat["mode"] == "cached"


@pytest.mark.spec("s3.route_monitor.cancel_keeps_record")
@pytest.mark.spec("s2.5.monitor_id")
def test_cancel_route_monitor_stops_it_and_keeps_the_record(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    with transaction() as session:
        session.add(MonitorKey(monitor_id=id, key="k", matched=True, answered_at=clock.now()))
    answer = use(people.alice, "cancel_route_monitor", monitor_id=id)
    with transaction() as session:
        assert session.get(MonitorKey, (id, "k")) is None
    assert (answer["monitor"]["state"], answer["monitor"]["cancel_reason"]) == ("cancelled", "user")
    assert (answer["monitor"]["next_check_at"], answer["active_count"]) == (None, 0)
    assert [s.enabled for s in schedules()] == [False]
    again = use(people.alice, "cancel_route_monitor", monitor_id=id)
    assert again["monitor"] == answer["monitor"]
    assert use(people.alice, "get_route_monitor", monitor_id=id)["monitor"]["state"] == "cancelled"


@pytest.mark.parametrize(("by_owner", "reason"), [(False, "plan_change"), (True, "user")])
def test_a_paused_monitor_says_whether_the_plan_or_its_owner_did_it(
    people: People, use: Use, by_owner: bool, reason: str
) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    with transaction() as session:
        row = session.get_one(RouteMonitor, id)
        row.paused_at, row.paused_by_owner = clock.now(), by_owner
    answer = use(people.alice, "get_route_monitor", monitor_id=id)["monitor"]
    assert (answer["state"], answer["cancel_reason"]) == ("cancelled", reason)
    assert use(people.alice, "list_route_monitors")["active_count"] == 0
    assert use(people.alice, "cancel_route_monitor", monitor_id=id)["monitor"]["cancel_reason"] == "user"


def test_charlie_cannot_see_or_stop_alices_monitor(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    for name in ("get_route_monitor", "cancel_route_monitor"):
        answer = use(people.charlie, name, monitor_id=id)
        assert (answer["status"], answer["id"]) == ("not_found", id)
    assert use(people.charlie, "list_route_monitors", state="all")["monitors"] == []
    assert use(people.alice, "get_route_monitor", monitor_id=id)["monitor"]["state"] == "active"


def _change(use: Use, who: Caller, id: int, **sent: Any) -> dict[str, Any]:
    return use(who, "update_route_monitor", monitor_id=id, **sent)


@pytest.mark.running_clock  # its rows are dated one after the other
def test_update_route_monitor_changes_terms_and_starts_afresh(people: People, use: Use) -> None:
    id = create(use, people.alice, cabin="first", airlines=["BA"], max_points=90_000)["monitor"]["monitor_id"]
    with transaction() as session:
        session.add(
            MonitorKey(monitor_id=id, key=f"BA|x|{window_start()}|first", matched=True, answered_at=clock.now())
        )
        session.scalars(select(Schedule)).one().next_due_at = clock.now() + timedelta(hours=5)
    same = _change(use, people.alice, id, cabin="first", airlines=["British Airways"])
    assert (same["changed"], same["baseline_reset"]) == ([], False)
    assert schedules()[0].next_due_at > clock.now()
    answer = _change(use, people.alice, id, airlines=["QR", "ba"], passengers=2, clear=["cabin", "max_points"])
    assert (set(answer["changed"]), answer["baseline_reset"]) == (
        {"airlines", "passengers", "cabin", "max_points"},
        True,
    )
    shown = [answer["monitor"][name] for name in ("airlines", "passengers", "cabin", "max_points")]
    assert shown == [["QR", "BA"], 2, None, None]
    with transaction() as session:
        assert session.scalars(select(MonitorKey)).all() == []
    assert schedules()[0].next_due_at <= clock.now()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"destination": "LHR"}, "destination"),
        ({"origin": "ZZZ"}, "origin"),
        ({"latest_date": "2020-01-02"}, "latest_date"),
        ({"earliest_date": "2020-01-01", "latest_date": "2020-01-02"}, "latest_date"),
        ({"clear": ["cabin"], "cabin": "first"}, "clear"),
        ({"passengers": 10}, "passengers"),
    ],
)
def test_update_route_monitor_refuses_what_create_would(
    people: People, use: Use, arguments: dict[str, Any], field: str
) -> None:
    before = create(use, people.alice)["monitor"]
    answer = _change(use, people.alice, before["monitor_id"], **arguments)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "get_route_monitor", monitor_id=before["monitor_id"])["monitor"] == before


def test_update_route_monitor_leaves_a_cancelled_one_as_it_was(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    use(people.alice, "cancel_route_monitor", monitor_id=id)
    answer = _change(use, people.alice, id, passengers=2)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "monitor_id")
    assert [s.enabled for s in schedules()] == [False]
    assert _change(use, people.charlie, id, passengers=2)["status"] == "not_found"


def test_update_route_monitor_does_not_wake_one_that_a_plan_paused(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    with transaction() as session:
        session.get_one(RouteMonitor, id).paused_at = clock.now()
        session.scalars(select(Schedule)).one().enabled = False
    answer = _change(use, people.alice, id, passengers=2)
    assert (answer["status"], answer["monitor"]["cancel_reason"]) == ("ok", "plan_change")
    assert [s.enabled for s in schedules()] == [False]


@pytest.mark.parametrize("by", ["tool", "mail", "plan"])
def test_update_route_monitor_pauses_and_resumes(people: People, use: Use, by: str) -> None:
    """Anyone who paused it, its owner resumes it, and what is found then counts as new."""
    id = create(use, people.alice)["monitor"]["monitor_id"]
    with transaction() as session:
        session.add(MonitorKey(monitor_id=id, key="k", matched=True, answered_at=clock.now()))
        if by != "tool":
            row = session.get_one(RouteMonitor, id)
            row.paused_at, row.paused_by_owner = clock.now(), by == "mail"
            session.scalars(select(Schedule)).one().enabled = False
    if by == "tool":
        paused = _change(use, people.alice, id, active=False)
        assert (paused["changed"], paused["monitor"]["cancel_reason"]) == (["active"], "user")
        assert paused["monitor"]["paused_at"]
        assert "active true resumes it" in paused["message"]
    assert [s.enabled for s in schedules()] == [False]
    resumed = _change(use, people.alice, id, active=True)
    assert (resumed["changed"], resumed["monitor"]["state"], resumed["monitor"]["paused_at"]) == (
        ["active"],
        "active",
        None,
    )
    assert [s.enabled for s in schedules()] == [True]
    with transaction() as session:
        assert session.get(MonitorKey, (id, "k")) is None
    assert _change(use, people.alice, id, active=True)["changed"] == []


def test_update_route_monitor_resumes_none_without_a_free_place(people: People, use: Use) -> None:
    id = create(use, people.bob)["monitor"]["monitor_id"]
    _change(use, people.bob, id, active=False)
    assert create(use, people.bob, origin="CDG")["status"] == "ok"
    refused = _change(use, people.bob, id, active=True)
    assert (refused["status"], refused["limit"]) == ("limit_reached", "route_monitors")
    assert use(people.bob, "get_route_monitor", monitor_id=id)["monitor"]["paused_at"]


def test_update_route_monitor_pauses_for_good_what_a_plan_paused(people: People, use: Use) -> None:
    id = create(use, people.alice)["monitor"]["monitor_id"]
    with transaction() as session:
        session.get_one(RouteMonitor, id).paused_at = clock.now()
    assert _change(use, people.alice, id, active=False)["monitor"]["cancel_reason"] == "user"


def test_create_route_monitor_says_when_another_one_says_the_same(people: People, use: Use) -> None:
    first = create(use, people.alice, airlines=["BA"])["monitor"]["monitor_id"]
    assert "the same" not in create(use, people.alice)["message"]
    told = create(use, people.alice, airlines=["British Airways"])["message"]
    assert f"Number {first} says the same and is active too" in told
