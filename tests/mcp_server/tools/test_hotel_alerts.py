"""Stays that are watched before they are booked, through the gate; they are bookings in no count."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from mcp_server.toolkit.context import Call, Caller
from mcp_server.tools.hotel_bookings import update_hotel_booking
from shared import clock
from shared.db.base import transaction
from shared.db.hotel_alerts import HotelAlert
from shared.db.runs import Schedule
from shared.domain.dates import format_iso_day
from shared.domain.watch_kinds import HOTEL_ALERT
from shared.errors import LimitReached
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.sandbox_seats import set_stay


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def watch(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    dates = {"check_in_date": day(20), "check_out_date": day(23)}
    return use(who, "add_hotel_booking", **{"hotel_id": "Conrad Tokyo", "booked": False} | dates | more)


def is_scheduled(number: int) -> list[bool]:
    with transaction() as session:
        rows = select(Schedule.enabled).where(Schedule.kind == HOTEL_ALERT.run, Schedule.subject_id == number)
        return list(session.scalars(rows))


def test_a_stay_is_watched_listed_changed_paused_and_deleted(people: People, use: Use) -> None:
    saved = watch(use, people.alice, max_points_per_night=60_000)
    number = saved["booking"]["booking_id"]
    assert saved["message"].startswith(f"Saved as hotel alert {number}: Conrad Tokyo from ")
    assert "3 nights, at most 60,000 points a night. Nothing is booked." in saved["message"]
    assert (saved["booking"]["booked"], saved["next_check_on"], is_scheduled(number)) == (False, day(0), [True])
    again = watch(use, people.alice, max_points_per_night=50_000)
    assert (again["already_saved"], again["booking"]["booking_id"]) == (True, number)
    set_stay("points:150000,cash:600", "htl_conrad-tokyo", day(20))
    checked = use(people.alice, "check_hotel_booking_price", booking_id=number)
    assert "50,000 points a night, within your limit (at most 60,000 points a night)." in checked["message"]
    listed = use(people.alice, "list_hotel_bookings", booked=False)
    assert [row["booking_id"] for row in listed["bookings"]] == [number]
    assert listed["message"] == f"1 hotel alert: Conrad Tokyo from {format_iso_day(day(20))}."
    changed = use(people.alice, "update_hotel_booking", booking_id=number, max_cash_per_night=150)
    assert (changed["booking"]["kind"], changed["booking"]["max_points_per_night"]) == ("cash", None)
    shown = use(people.alice, "get_hotel_booking", booking_id=number)["message"]
    assert "not booked: 200 USD a night, over your limit (at most 150 USD a night)." in shown
    for active in (False, True):
        switched = use(people.alice, "update_hotel_booking", booking_id=number, active=active)
        assert (switched["booking"]["monitoring"]["active"], is_scheduled(number)) == (active, [active])
    assert switched["message"] == f"Hotel alert {number} is checked again from now on."
    gone = use(people.alice, "delete_hotel_booking", booking_id=number)
    assert (gone["message"], is_scheduled(number)) == (f"Hotel alert {number}, Conrad Tokyo, is removed here.", [])


def test_what_is_only_watched_counts_as_no_booking(people: People, use: Use) -> None:
    number = watch(use, people.alice)["booking"]["booking_id"]
    trip = use(people.alice, "create_trip", name="Tokyo")["trip"]["trip_id"]
    assert use(people.alice, "list_hotel_bookings")["bookings"] == []
    assert use(people.alice, "get_portfolio")["bookings"]["upcoming_stays"] == 0
    moved = use(people.alice, "assign_bookings_to_trip", trip_id=trip, hotel_booking_ids=[number])
    assert moved["not_found"]["hotels"] == [number]
    assert use(people.charlie, "get_hotel_booking", booking_id=number)["status"] == "not_found"
    watches = use(people.alice, "get_portfolio", sheet="watches")["sheet"]["csv"].splitlines()
    assert (len(watches), watches[1].startswith("hotel alert,")) == (2, True)
    stays = use(people.alice, "get_portfolio", sheet="stays")["sheet"]["csv"]
    assert stays.splitlines()[1].endswith(",false,,")
    copied = use(people.charlie, "get_portfolio", sheet="stays", pasted=stays)["sheet"]["rows"]
    saved = [use(people.charlie, "add_hotel_booking", **row["arguments"])["booking"]["booked"] for row in copied]
    assert ([row["state"] for row in copied], saved) == (["new"], [False])
    repeated = use(people.alice, "get_portfolio", sheet="stays", pasted=stays)["sheet"]["rows"]
    assert [row["state"] for row in repeated] == ["saved"]
    assert watch(use, people.alice, booked=True, original_points=150_000)["already_saved"] is False


def test_terms_of_the_other_sort_are_refused_and_the_plan_limits_alerts(people: People, use: Use) -> None:
    refused = {
        "original_points": watch(use, people.alice, original_points=90_000),
        "max_cash_per_night": watch(use, people.alice, max_points_per_night=1000, max_cash_per_night=100),
        "check_in_date": watch(use, people.alice, check_in_date=day(0), check_out_date=day(2)),
        "max_points_per_night": watch(use, people.alice, booked=True, max_points_per_night=1000),
    }
    assert {n: (a["status"], a["errors"][0]["field"]) for n, a in refused.items()} == {
        name: ("invalid", name) for name in refused
    }
    assert watch(use, people.bob)["status"] == "paywall"
    cap = HOTEL_ALERT.cap(people.alice.plan)
    add_alerts(people.alice, cap)
    full = watch(use, people.alice)
    assert (full["status"], full["limit"], full["cap"]) == ("limit_reached", "hotel_alerts", cap)


def add_alerts(who: Caller, count: int, **more: Any) -> list[int]:
    with transaction(who.account_id) as session:
        rows = [
            HotelAlert(
                hotel_code="htl_x",
                hotel_name="X",
                check_in_date=clock.today() + timedelta(days=n + 1),
                check_out_date=clock.today() + timedelta(days=n + 2),
                kind="award",
                cash_rate_currency="USD",
                **more,
            )
            for n in range(count)
        ]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


def test_the_last_place_goes_to_one_of_eight_that_are_resumed_at_once(people: People) -> None:
    def resume(number: int) -> bool:
        call, is_done = Call(people.alice, "mcp", clock.now()), False
        try:
            update_hotel_booking(call, number, active=True)
            is_done = True
        except LimitReached:
            pass
        finally:
            call.finish(commit=is_done)
        return is_done

    add_alerts(people.alice, HOTEL_ALERT.cap(people.alice.plan) - 1)
    paused = add_alerts(people.alice, 9, active=False)[1:]
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(resume, paused)) == [False] * 7 + [True]
