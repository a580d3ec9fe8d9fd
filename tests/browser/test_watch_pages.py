"""Watches and notices in a real browser, with much on them, on both hosts."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from jobs import dispatcher, runs
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.messages import Notification
from shared.db.standing_orders import StandingOrder, StandingOrderRun
from shared.db.trips import ChatLink, SearchRecord
from shared.domain.plans import Plan
from tests.auth_server.mailbox import Mails, mails, text  # noqa: F401 - a fixture
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.rest.test_watch_pages import add_finds, add_monitor
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab
from tests.support.sandbox_seats import set_seat

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
LIST = "/dashboard/watches"
LONG = "Unbreakablename" * 5


def find_caller() -> Caller:
    with transaction() as session:
        row = session.scalars(select(Account)).one()
        return Caller(row.id, row.public_id, Plan.PREMIUM, False, "client-of-tests", "Tests")


def fill_watches(use: Any, caller: Caller) -> dict[str, int]:
    """One of each kind, with finds, results and long names; the number of each."""
    route = add_monitor(
        use, caller, cabin="business", passengers=2, max_points=80000, nonstop_only=True, weekdays=["fri", "sat"]
    )
    add_finds(route)
    now, mine = clock.now(), {"account_id": caller.account_id}
    window = {"date_range_start": clock.today(), "date_range_end": clock.today() + timedelta(days=30)}
    rows: dict[str, Any] = {
        "flight": FlightAlert(
            **mine, airline="JL", departure="LAX", destination="HND", active=True, last_hit_at=now, **window
        ),
        "delay": DelayAlert(
            **mine,
            airport="JFK",
            channels=["email"],
            label=LONG,
            min_delay_minutes=45,
            active=True,
            last_checked_at=now,
        ),
        "order": StandingOrder(
            **mine, prompt=f"Look at Tokyo {LONG} " * 9, cadence="weekly", run_hour=7, run_weekday=5
        ),
    }
    with transaction() as session:
        session.add_all(rows.values())
        session.flush()
        facts = {"outcome": "ok", "queued_at": now, "started_at": now, "finished_at": now, "manual": False}
        result = f"Two seats on Friday.\n\n- {LONG} " * 9
        session.add(StandingOrderRun(**mine, standing_order_id=rows["order"].id, result=result, **facts))
        return {"route": route} | {kind: row.id for kind, row in rows.items()}


def test_the_pages_of_watches_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    tab.go(world.url + LIST)
    tab.wait("document.body.innerText.includes('No route is watched')")
    assert look_everywhere(tab) == []
    ids = fill_watches(use, find_caller())
    pages = {"": "LAX to NRT"} | {f"/{kind}/{id}": "Change" for kind, id in ids.items()}
    pages |= {f"/{kind}/{id}/change": "Save" for kind, id in ids.items()}
    pages |= {f"/route/{ids['route']}/end": "Keep it", f"/route/{ids['route']}?done=created": "It is on."}
    for path, words in pages.items():
        tab.go(world.url + LIST + path)
        tab.wait(f"document.body.innerText.includes({words!r}) && location.href.endsWith({path!r})")
        assert look_everywhere(tab) == [], path
    assert tab.run("document.scripts.length") == 0


def test_faults_on_the_form_of_a_watch_are_said_and_read(tab: Tab, world: World) -> None:
    signed_in(tab, world.url, "premium")
    tab.go(f"{world.url}{LIST}/route/new")
    tab.wait("document.querySelector('form.form')")
    tab.run("document.querySelector('form.form').noValidate = true")
    tab.fill("origin", "QQQ")
    tab.fill("passengers", "many")
    tab.press("form.form button.primary")
    tab.wait("document.querySelector('.fault')")
    assert look_everywhere(tab) == []


def test_a_watch_from_the_form_to_the_mail_to_its_pause_and_back(
    tab: Tab, world: World, mails: Mails, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made on the web, found by a check, opened from the mail, paused by the mail's link, resumed on its page."""
    signed_in(tab, world.url, "premium")
    first = clock.today() + timedelta(days=40)
    for value, airline, program in (("shut", None, None), ("open:3", "BA", "british-airways-club")):
        set_seat(value, "LHR", "JFK", first, "business", airline, program)
    tab.go(f"{world.url}{LIST}")
    tab.wait("document.title.startsWith('Watches')")
    tab.press("main a.button.primary")
    tab.wait("document.title.startsWith('New watch')")
    typed = {"origin": "LHR", "destination": "JFK", "earliest_date": str(first), "latest_date": str(first)}
    for name, value in (typed | {"cabin": "business", "passengers": "2"}).items():
        tab.fill(name, value)
    tab.press("form.form button.primary")
    tab.wait("document.body.innerText.includes('It is on.')")
    page = tab.run("location.pathname")
    assert "the first check is on its way" in tab.text()
    dispatcher.step()
    runs.wake()
    (mail,) = mails(1)
    opened = re.search(r"Steps to book: http://[^/]+(/\S+)", text(mail))
    pause = re.search(r"Pause this watch: (http://\S+)", text(mail))
    assert opened is not None
    assert opened[1] == page
    assert pause is not None
    tab.go(world.url + opened[1])
    tab.wait("document.body.innerText.includes('Best that was open at the last check')")
    assert "Party of two" in tab.text()
    tab.go(f"{world.url}/dashboard/notices")
    tab.wait("document.body.innerText.includes('A mail says the same.')")
    tab.press(f"main a[href='{page}']")
    tab.wait(f"location.pathname === '{page}'")
    tab.go(pause[1])
    tab.wait("document.title.startsWith('Pause this watch?')")
    tab.press("main form button")
    tab.wait("document.title.startsWith('This watch is paused')")
    tab.press(f"main a[href='{page}']")
    tab.wait("document.querySelector('.pill')?.innerText === 'Paused'")
    assert look_everywhere(tab) == []
    tab.press("form[action$='/resume'] button")
    tab.wait("document.body.innerText.includes('It is on again')")
    assert tab.run("document.querySelector('.pill').innerText") == "On"
    tab.press("form[action$='/pause'] button")
    tab.wait("document.body.innerText.includes('It is not checked and sends nothing')")
    assert look_everywhere(tab) == []
    tab.press(".notice form button")
    tab.wait("document.body.innerText.includes('It is on again')")


def test_notices_fit_and_are_marked_and_deleted(tab: Tab, world: World) -> None:
    signed_in(tab, world.url, "premium")
    tab.go(f"{world.url}/dashboard/notices")
    tab.wait("document.body.innerText.includes('No notices yet')")
    assert look_everywhere(tab) == []
    mine = find_caller().account_id
    with transaction() as session:
        for n in range(17):
            facts = {"subject_type": "route_monitor", "subject_id": "1"} if n % 2 else {}
            row = {"kind": "route_monitor", "title": f"{n} {LONG}", "body": f"One line\n{LONG * 2}"}
            moment = clock.now() - timedelta(minutes=n)
            session.add(Notification(account_id=mine, dedupe_key=f"n{n}", created_at=moment, **row, **facts))
    tab.go(f"{world.url}/dashboard/notices?")
    tab.wait("document.body.innerText.includes('17 unread')")
    assert look_everywhere(tab) == []
    tab.press(".apps li button")
    tab.wait("document.body.innerText.includes('The notice is marked as read')")
    assert "16 unread" in tab.text()
    tab.press(".apps li a.button")
    tab.wait("document.title.startsWith('Delete this notice?')")
    assert look_everywhere(tab) == []
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('The notice is deleted')")
    tab.press("form.full > p > button")
    tab.wait("document.body.innerText.includes('All notices are marked as read')")
    assert "unread" not in tab.text()


def test_activity_fits_and_can_be_read(tab: Tab, world: World) -> None:
    signed_in(tab, world.url, "premium")
    mine = find_caller().account_id
    with transaction(mine) as session:
        for n in range(12):
            asked = {"origin": "LHR", "destination": "JFK", "departure_date": "2027-03-19", "cabin": "business"}
            row = {"tool": "search_award_flights", "arguments": asked, "summary": f"{n} offers. {LONG * 2}"}
            moment = clock.now() - timedelta(minutes=n)
            session.add(SearchRecord(outcome="no_data" if n % 2 else "ok", created_at=moment, **row))
        session.add(ChatLink(title=LONG, url=f"https://chat.example/{LONG}", summary=f"Decided:\n{LONG}"))
    tab.go(f"{world.url}/dashboard/activity")
    tab.wait("document.body.innerText.includes('13 in all')")
    assert look_everywhere(tab) == []
    tab.press(".apps ~ nav a.button")
    tab.wait("document.body.innerText.includes('Page 2')")
