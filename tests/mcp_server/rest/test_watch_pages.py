"""Watches on the web: all kinds in a list, one watch on its own page, made, changed, paused and ended by hand."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.hotel_alerts import HotelAlert
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from shared.db.standing_orders import StandingOrder, StandingOrderRun
from shared.domain.watch_kinds import LIMITED_KINDS
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

LIST = "/dashboard/watches"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def day(days: int) -> str:
    return str(clock.today() + timedelta(days=days))


def read(world: World, path: str) -> str:
    """The words of a page, in one line."""
    answer = world.get(path)
    assert answer.status_code == 200, answer.text[-2000:]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def add_monitor(use: Any, who: Caller, **more: Any) -> int:
    terms = {"origin": "LAX", "destination": "NRT", "earliest_date": day(50), "latest_date": day(60)}
    return int(use(who, "create_route_monitor", **terms | more)["monitor"]["monitor_id"])


def add_finds(monitor_id: int) -> None:
    """Two checks: at the first two seats, at the second a cheaper one, and the dearer of the first is gone."""
    now = clock.now()
    facts = {"program": "virgin-atlantic-flying-club", "origin": "LAX", "destination": "NRT", "cabin": "business"}
    facts |= {"taxes": 312, "taxes_currency": "USD", "seats": 2, "stops": 0, "source": "sandbox", "mode": "sandbox"}
    with transaction() as session:
        for hours, points, days, is_open in ((48, 75000, 51, False), (48, 70000, 52, True), (6, 60000, 53, True)):
            when = clock.today() + timedelta(days=days)
            session.add(
                MonitorMatch(
                    monitor_id=monitor_id,
                    airline="NH",
                    points=points,
                    date=when,
                    flight_numbers=["NH105"],
                    departs_at=f"{when}T11:55",
                    arrives_at=f"{when + timedelta(days=1)}T15:40",
                    found_at=now - timedelta(hours=hours),
                    **facts,
                )
            )
            key = f"NH|{facts['program']}|{when}|business"
            session.add(MonitorKey(monitor_id=monitor_id, key=key, matched=is_open, answered_at=now))
        for hours, outcome, new in ((48, "ok", 2), (24, "backend_unavailable", 0), (6, "partial", 1)):
            session.add(
                MonitorCheck(
                    monitor_id=monitor_id,
                    run_id=hours,
                    checked_at=now - timedelta(hours=hours),
                    outcome=outcome,
                    options_seen=12,
                    new_matches=new,
                    failed_sources=[] if outcome == "ok" else ["seats_aero"],
                )
            )
        row = session.get_one(RouteMonitor, monitor_id)
        row.matches_total, row.last_checked_at = 3, now - timedelta(hours=6)


def test_an_empty_list_says_what_each_kind_is_for(world: World, ann: Caller) -> None:
    page = read(world, LIST)
    for words in ("No route is watched", "No airline is watched", "No airport is watched", "Nothing runs by itself"):
        assert words in page


def test_all_kinds_stand_in_the_list_with_state_and_last_find(world: World, ann: Caller, use: Any) -> None:
    add_finds(add_monitor(use, ann, cabin="business", passengers=2))
    window = {"date_range_start": clock.today(), "date_range_end": clock.today() + timedelta(days=9)}
    mine = {"account_id": ann.account_id}
    with transaction() as session:
        alert = {"airline": "JL", "departure": "LAX", "destination": "HND", "active": False}
        session.add(FlightAlert(**mine, **alert, **window))
        session.add(DelayAlert(**mine, airport="JFK", channels=["email"], min_delay_minutes=45, active=True))
        session.add(StandingOrder(**mine, prompt="Look at Tokyo", cadence="weekly", run_hour=7, run_weekday=5))
    page = read(world, LIST)
    assert "LAX to NRT, business On 60,000 points each, 120,000 for two on" in page
    assert "JL, LAX to HND Paused Nothing found yet" in page
    assert "Delays at JFK On No warning yet From 45 minutes on, by mail" in page
    assert "Look at Tokyo On It has not run yet Every Friday at 07:00 UTC" in page


def test_a_long_list_is_turned_page_by_page(world: World, use: Any) -> None:
    paula = sign_up(world, "paula@example.test", "enterprise")
    for n in range(10):
        add_monitor(use, paula, max_points=60000 + n)
    text = world.get(LIST).text
    assert (text.count("LAX to NRT"), f"{LIST}?routes=2#routes" in text) == (8, True)
    second = world.get(f"{LIST}?routes=2").text
    assert (second.count("LAX to NRT"), f"{LIST}?routes=1#routes" in second) == (2, True)
    for odd in ("0", "x", "9" * 40, "-1"):
        assert world.get(f"{LIST}?routes={odd}").status_code == 200


def test_the_page_of_a_watch_says_terms_finds_checks_and_prices(world: World, ann: Caller, use: Any) -> None:
    id = add_monitor(use, ann, cabin="business", passengers=2, max_points=80000, nonstop_only=True, weekdays=["fri"])
    add_finds(id)
    page = read(world, f"{LIST}/route/{id}")
    assert "Award seats from LAX to NRT, business, two travellers," in page
    assert "at most 80,000 points per person, non-stop only, on Fridays." in page
    assert "120,000 points + $624 for two · 60,000 + $312 each" in page
    assert "NH105, 2 seats LAX 11:55 non-stop NRT 15:40 +1" in page
    assert "NH105, LAX to NRT, 11:55 to 15:40 +1, non-stop, business, Virgin Atlantic Flying Club, 2 seats" in page
    assert "LAX 11:55 non-stop NRT 15:40 +1" in page
    marked = r"\w\w \w+ \d+ \w+ \d+"
    assert re.search(rf"{marked} open NH105, .* 60,000 .* {marked} open NH105, .* 70,000", page)
    assert re.search(rf"{marked} gone NH105, .* 75,000", page)
    assert "1 new seat. seats.aero did not answer." in page
    assert "No answer from seats.aero." in page
    text = world.get(f"{LIST}/route/{id}").text
    assert 'role="img"' in text
    assert len(text.encode()) < 30_000


def test_a_watch_is_made_changed_and_stopped_by_hand(world: World, ann: Caller) -> None:
    terms = {"origin": "lon", "destination": "JFK", "earliest_date": day(50), "latest_date": day(60)}
    made = send_form(world, f"{LIST}/route/new", f"{LIST}/route/new", **terms, weekdays_fri="yes", max_points="70,000")
    with transaction() as session:
        row = session.scalars(select(RouteMonitor)).one()
    page = f"{LIST}/route/{row.id}"
    assert (made.status_code, made.headers["location"]) == (303, f"{page}?done=created")
    assert (row.origin, row.weekdays, row.max_points, row.cabin, row.passengers) == ("LON", ["fri"], 70000, None, 1)
    changed = send_form(
        world, f"{page}/change", f"{page}/change", max_points="", cabin="first", airlines="BA, Virgin Atlantic"
    )
    assert changed.headers["location"] == f"{page}?done=changed", changed.text
    with transaction() as session:
        row = session.scalars(select(RouteMonitor)).one()
    assert (row.max_points, row.cabin, row.airlines, row.weekdays) == (None, "first", ["BA", "VS"], ["fri"])
    assert "cannot be started again" in read(world, f"{page}/end")
    stopped = send_form(world, f"{page}/end", f"{page}/end")
    assert stopped.headers["location"] == f"{page}?done=stopped"
    text = read(world, f"{page}?done=stopped")
    assert "Stopped" in text
    assert "Watch it again" in text
    assert "/change" not in world.get(page).text


def test_what_did_not_change_is_not_sent(world: World, ann: Caller, use: Any) -> None:
    """A limit on taxes would else take the currency of the profile again."""
    id = add_monitor(use, ann, max_taxes=200, nonstop_only=True)
    with transaction() as session:
        session.get_one(RouteMonitor, id).max_taxes_currency = "JPY"
    page = f"{LIST}/route/{id}"
    assert send_form(world, f"{page}/change", f"{page}/change", passengers="3").status_code == 303
    with transaction() as session:
        row = session.get_one(RouteMonitor, id)
        assert (row.passengers, row.max_taxes_currency, row.nonstop_only) == (3, "JPY", True)


@pytest.mark.parametrize(
    ("field", "typed"),
    [("origin", "QQQ"), ("latest_date", "2020-01-02"), ("passengers", "many"), ("airlines", "BA, No one Air")],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, field: str, typed: str
) -> None:
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": day(50), "latest_date": day(60)}
    new = f"{LIST}/route/new"
    refused = send_form(world, new, new, **terms | {"weekdays_sun": "yes", field: typed})
    assert refused.status_code == 422
    if field != "airlines":  # of a name no one bears the tool says it for the whole
        assert f'id="{field}-fault" role="alert"' in refused.text
    assert f'value="{typed}"' in refused.text
    assert 'name="weekdays_sun" value="yes" checked' in refused.text
    with transaction() as session:
        assert session.scalars(select(RouteMonitor)).all() == []


@pytest.mark.parametrize("kind", ["route", "flight", "delay"])
def test_pausing_acts_at_once_and_offers_the_way_back(world: World, ann: Caller, use: Any, kind: str) -> None:
    page = f"{LIST}/{kind}/{_add(use, ann, kind)}"
    assert send_form(world, page, f"{page}/pause").headers["location"] == f"{page}?done=paused"
    after = world.get(f"{page}?done=paused").text
    assert "It is not checked and sends nothing" in after
    assert after.count(f'action="{page}/resume"') == 2
    assert send_form(world, f"{page}?done=paused", f"{page}/resume").headers["location"] == f"{page}?done=resumed"
    assert "It is on again" in read(world, f"{page}?done=resumed")
    assert f'action="{page}/pause"' in world.get(page).text


def _add(use: Any, who: Caller, kind: str) -> int:
    if kind == "route":
        return add_monitor(use, who)
    window = {"date_range_start": clock.today() + timedelta(9), "date_range_end": clock.today() + timedelta(days=19)}
    row: Any = {
        "flight": lambda: FlightAlert(airline="JL", departure="LAX", destination="HND", active=True, **window),
        "delay": lambda: DelayAlert(airport="JFK", channels=["email"], min_delay_minutes=45, active=True),
        "order": lambda: StandingOrder(prompt="Look at Tokyo", cadence="daily", run_hour=7),
    }[kind]()
    with transaction() as session:
        row.account_id = who.account_id
        session.add(row)
        session.flush()
        return int(row.id)


def test_a_full_plan_resumes_nothing_and_says_why(world: World, use: Any) -> None:
    bob = sign_up(world, "bob@example.test")
    page = f"{LIST}/route/{add_monitor(use, bob)}"
    send_form(world, page, f"{page}/pause")
    add_monitor(use, bob, origin="SFO")
    full = send_form(world, page, f"{page}/resume")
    assert full.status_code == 409
    assert "Your plan runs 1 of these at once" in full.text
    assert 'href="/plans"' in full.text
    new = f"{LIST}/route/new"
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": day(50), "latest_date": day(60)}
    refused = send_form(world, new, new, **terms)
    assert (refused.status_code, "See the plans" in refused.text) == (422, True)


@pytest.mark.parametrize("kind", ["flight", "delay"])
def test_alerts_are_changed_and_deleted_by_hand(world: World, ann: Caller, use: Any, kind: str) -> None:
    page = f"{LIST}/{kind}/{_add(use, ann, kind)}"
    typed = {"flight": {"cabin_class": "business"}, "delay": {"min_delay_minutes": "90", "label": "Work"}}[kind]
    assert send_form(world, f"{page}/change", f"{page}/change", **typed).headers["location"] == f"{page}?done=changed"
    assert {"flight": "business", "delay": "From 90 minutes on"}[kind] in read(world, page)
    assert send_form(world, f"{page}/end", f"{page}/end").headers["location"] == f"{LIST}?done=deleted"
    assert "The alert is deleted" in read(world, f"{LIST}?done=deleted")
    assert world.get(page).status_code == 404


def test_a_hotel_is_watched_paused_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    new = f"{LIST}/hotel/new"
    terms = {"hotel_id": "Conrad Tokyo", "check_in_date": day(50), "check_out_date": day(53)}
    made = send_form(world, new, new, **terms, max_points_per_night="70,000")
    with transaction() as session:
        row = session.scalars(select(HotelAlert)).one()
    page = f"{LIST}/hotel/{row.id}"
    assert (made.status_code, made.headers["location"]) == (303, f"{page}?done=created"), made.text
    assert (row.max_points_per_night, row.kind) == (70_000, "award")
    listed = read(world, LIST)
    assert "Conrad Tokyo On No price for it yet" in listed
    assert "at most 70,000 points a night" in listed
    assert send_form(world, page, f"{page}/pause").headers["location"] == f"{page}?done=paused"
    assert send_form(world, f"{page}?done=paused", f"{page}/resume").headers["location"] == f"{page}?done=resumed"
    changed = send_form(world, f"{page}/change", f"{page}/change", max_points_per_night="", max_cash_per_night="180.50")
    assert changed.headers["location"] == f"{page}?done=changed", changed.text
    assert "at most 180.50 USD a night" in read(world, page)
    assert send_form(world, f"{page}/end", f"{page}/end").headers["location"] == f"{LIST}?done=deleted"
    assert world.get(page).status_code == 404


def test_a_flight_alert_is_made_by_hand(world: World, ann: Caller) -> None:
    new = f"{LIST}/flight/new"
    terms = {"airline": "JL", "departure": "LAX", "destination": "HND"}
    terms |= {"date_range_start": day(50), "date_range_end": day(60)}
    assert "done=created" in send_form(world, new, new, **terms, nonstop_only="yes").headers["location"]
    with transaction() as session:
        row = session.scalars(select(FlightAlert)).one()
    assert (row.airline, row.nonstop_only, row.cabin_class) == ("JL", True, None)


def test_a_delay_alert_is_made_by_hand_where_the_plan_has_it(world: World, ann: Caller) -> None:
    new = f"{LIST}/delay/new"
    made = send_form(world, new, new, airport="JFK", channels_email="yes")
    assert "done=created" in made.headers["location"], made.text
    refused = send_form(world, new, new, airport="LGA", channels_sms="yes", channels_email="")
    assert refused.status_code == 422
    world.http.cookies.clear()
    sign_up(world, "bob@example.test")
    assert "This needs the Premium plan" in send_form(world, new, new, airport="JFK", channels_email="yes").text


def test_without_a_language_model_no_order_is_made_or_run(world: World, ann: Caller, use: Any) -> None:
    new = f"{LIST}/order/new"
    without = send_form(world, new, new, prompt="Look at Tokyo")
    assert (without.status_code, "no language model" in without.text) == (422, True)
    page = f"{LIST}/order/{_add(use, ann, 'order')}"
    assert send_form(world, page, f"{page}/run").status_code == 503


def test_the_last_result_of_an_order_stands_on_its_page(world: World, ann: Caller, use: Any) -> None:
    id = _add(use, ann, "order")
    with transaction() as session:
        moment = clock.now() - timedelta(hours=3)
        facts = {"outcome": "ok", "queued_at": moment, "started_at": moment, "finished_at": moment}
        session.add(
            StandingOrderRun(
                account_id=ann.account_id,
                standing_order_id=id,
                manual=False,
                result="Two seats\non <b>Friday</b>",
                **facts,
            )
        )
    page = f"{LIST}/order/{id}"
    text = world.get(page).text
    assert "on &lt;b&gt;Friday&lt;/b&gt;" in text
    assert "Its last run worked" in read(world, LIST)
    changed = send_form(world, f"{page}/change", f"{page}/change", run_hour="9")
    assert changed.headers["location"] == f"{page}?done=changed", changed.text
    assert "Every day at 09:00 UTC" in read(world, page)
    weekly = send_form(world, f"{page}/change", f"{page}/change", cadence="weekly", run_weekday="3")
    assert weekly.status_code == 303
    assert "Every Wednesday at 09:00 UTC" in read(world, page)
    assert send_form(world, f"{page}/end", f"{page}/end").headers["location"] == f"{page}?done=stopped"
    assert "Run now" not in read(world, page)


def test_a_strangers_watch_is_not_there(world: World, ann: Caller, use: Any) -> None:
    ids = {kind: _add(use, ann, kind) for kind in ("route", "flight", "delay", "order")}
    world.http.cookies.clear()
    sign_up(world, "bob@example.test", "premium")
    for kind, id in ids.items():
        for page in (f"{LIST}/{kind}/{id}", f"{LIST}/{kind}/{id}/change", f"{LIST}/{kind}/{id}/end"):
            assert world.get(page).status_code == 404, page
    for number in ("0", "x", "9" * 30, "-1"):
        assert world.get(f"{LIST}/route/{number}").status_code == 404


def test_without_an_answer_the_person_is_told(
    world: World, ann: Caller, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = add_monitor(use, ann)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    assert world.get(LIST).text.count("did not answer right now") == len(LIMITED_KINDS)
    assert world.get(f"{LIST}/route/{id}").status_code == 503
