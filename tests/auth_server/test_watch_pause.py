"""The link in a mail that pauses its watch: opening changes nothing, a button pauses it, another continues with it."""

import html
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.bookings import DAILY, HotelBooking
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.hotel_alerts import HotelAlert
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Schedule, schedule
from shared.domain.plans import Plan
from shared.domain.watch_kinds import FLIGHT_ALERT, ROUTE_MONITOR
from shared.outbox import links
from shared.outbox.plan_change import change_plan
from shared.settings import settings
from tests.auth_server.in_process_browser import Browser

KINDS = ["route_monitor", "flight_alert", "delay_alert", "hotel_alert", "hotel_booking"]
STAY = {"hotel_code": "", "hotel_name": "Inn & Spa", "kind": "cash", "cash_rate_currency": "USD"}
ENDS = {"origin": "LHR", "destination": "JFK"}


def link(who: Browser, kind: str, number: int) -> str:
    parts = urlsplit(links.pause_url(who.public_id, kind, number))
    return f"{parts.path}?{parts.query}"


def build_row(kind: str) -> Any:
    day = clock.today() + timedelta(days=60)
    later = day + timedelta(days=2)
    return {
        "route_monitor": RouteMonitor(earliest_date=day, latest_date=later, **ENDS),
        "flight_alert": FlightAlert(
            airline="BA", departure="LHR", destination="JFK", date_range_start=day, date_range_end=later, active=True
        ),
        "delay_alert": DelayAlert(airport="JFK", channels=["email"], min_delay_minutes=30, active=True),
        "hotel_alert": HotelAlert(**STAY, check_in_date=day, check_out_date=later, active=True),
        "hotel_booking": HotelBooking(**STAY, check_in_date=day, check_out_date=later),
    }[kind]


def add_watch(who: Browser, kind: str) -> int:
    """A running watch of this kind."""
    with transaction() as session:
        row = build_row(kind)
        row.account_id = session.query(Account).filter_by(public_id=who.public_id).one().id
        session.add(row)
        session.flush()
        if kind != "delay_alert":
            schedule(session, "hotel_price" if kind == "hotel_booking" else kind, row.id, DAILY)
        return int(row.id)


def set_plan(who: Browser, plan: str) -> None:
    with transaction() as session:
        session.query(Account).filter_by(public_id=who.public_id).one().plan = plan


def is_watched(kind: str, number: int) -> bool:
    """Whether anything would still look at it."""
    with transaction() as session:
        if kind == "delay_alert":
            return session.get_one(DelayAlert, number).active
        name = "hotel_price" if kind == "hotel_booking" else kind
        chosen = select(Schedule.enabled).where(Schedule.kind == name, Schedule.subject_id == number)
        return bool(session.scalar(chosen))


def press(who: Browser, path: str) -> Any:
    """The one button of the page."""
    action = re.search(r'<form method="post" action="([^"]+)"', who.get(path).text)
    assert action is not None
    return who.post(html.unescape(action[1]), {})


@pytest.mark.parametrize("kind", KINDS)
def test_the_button_pauses_that_watch_alone_and_another_goes_on_with_it(ann: Browser, kind: str) -> None:
    set_plan(ann, "pro")
    watch, other = add_watch(ann, kind), add_watch(ann, kind)
    path = link(ann, kind, watch)
    assert "Pause this watch?" in ann.get(path).text
    assert is_watched(kind, watch)
    paused = press(ann, path)
    assert (paused.status_code, paused.headers["location"]) == (303, path)
    assert (is_watched(kind, watch), is_watched(kind, other)) == (False, True)
    assert "This watch is paused" in ann.get(path).text
    assert press(ann, path).status_code == 303
    assert is_watched(kind, watch)
    assert "Pause this watch?" in ann.get(path).text


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_has_to_be_signed_in_and_a_second_press_changes_nothing(
    host: TestClient, ann: Browser, kind: str
) -> None:
    watch = add_watch(ann, kind)
    for _ in range(2):
        assert host.post(link(ann, kind, watch), follow_redirects=False).status_code == 303
        assert not is_watched(kind, watch)


def test_a_link_made_for_another_watch_account_or_purpose_opens_nothing(
    host: TestClient, ann: Browser, bob: Browser
) -> None:
    watch, other = add_watch(ann, "route_monitor"), add_watch(bob, "route_monitor")
    good = link(ann, "route_monitor", watch)
    bad = [
        good.replace(f".{watch}.", f".{other}."),
        good.replace(ann.public_id, bob.public_id),
        good.replace("route_monitor", "flight_alert"),
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        link(ann, "route_monitor", other),  # made here, and not hers
        link(ann, "nonsense", watch),
        f"/pause?{urlsplit(links.unsubscribe_url(ann.public_id, 'route_monitors')).query}",
        "/pause",
        "/pause?token=",
        "/pause?token=route_monitor.1",
        f"/pause?token=route_monitor.{'9' * 40}.{ann.public_id}.x",
    ]
    assert [host.post(path).status_code for path in bad] == [410] * len(bad)
    assert [host.post(path.replace("/pause", "/pause/resume")).status_code for path in bad] == [410] * len(bad)
    assert {host.get(path).status_code for path in bad} == {410}
    assert is_watched("route_monitor", watch)
    assert is_watched("route_monitor", other)


def test_what_its_owner_paused_no_change_of_plan_resumes(host: TestClient, ann: Browser) -> None:
    watch = add_watch(ann, "route_monitor")
    host.post(link(ann, "route_monitor", watch))
    with transaction() as session:
        account = session.query(Account).filter_by(public_id=ann.public_id).one()
        change_plan(session, account, Plan.PRO)
    assert not is_watched("route_monitor", watch)


@pytest.mark.parametrize("kind", ["route_monitor", "flight_alert"])
def test_a_plan_that_is_full_says_so_and_resumes_nothing(host: TestClient, ann: Browser, kind: str) -> None:
    watch = add_watch(ann, kind)
    host.post(link(ann, kind, watch))
    for _ in range((ROUTE_MONITOR if kind == "route_monitor" else FLIGHT_ALERT).cap(Plan.FREE)):
        add_watch(ann, kind)
    answer = host.post(link(ann, kind, watch).replace("/pause", "/pause/resume"))
    assert answer.status_code == 409
    assert "Pause another one first" in answer.text
    assert not is_watched(kind, watch)


def test_a_watch_that_has_ended_has_no_link_any_more(host: TestClient, ann: Browser) -> None:
    watch = add_watch(ann, "route_monitor")
    with transaction() as session:
        session.get_one(RouteMonitor, watch).cancelled_at = clock.now()
        session.get_one(RouteMonitor, watch).cancel_reason = "user"
    assert host.get(link(ann, "route_monitor", watch)).status_code == 410


def test_a_link_outlives_a_new_key_and_dies_with_its_own(
    host: TestClient, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = link(ann, "route_monitor", add_watch(ann, "route_monitor"))
    monkeypatch.setenv("SECRET_KEYS", f"newer-key-0123456789abcdef,{settings().encryption_keys[0]}")
    settings.cache_clear()
    assert host.get(old).status_code == 200
    monkeypatch.setenv("SECRET_KEYS", "newer-key-0123456789abcdef")
    settings.cache_clear()
    assert host.get(old).status_code == 410
    monkeypatch.undo()
    settings.cache_clear()
