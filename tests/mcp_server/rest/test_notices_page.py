"""Notices on the web: each leads to what it is about, is marked as read and deleted, page by page."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.outbox.enqueue import tell
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_watch_pages import read

PAGE = "/dashboard/notices"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def add(who: Caller, number: int, **more: Any) -> None:
    facts = {"kind": "route_monitor", "title": f"Find {number}", "body": "Two seats", "dedupe_key": f"n{number}"} | more
    with transaction() as session:
        moment = clock.now() - timedelta(minutes=number)
        session.add(Notification(account_id=who.account_id, created_at=moment, **facts))


def list_notices() -> dict[str, bool]:
    with transaction() as session:
        return {row.title: row.read_at is not None for row in session.scalars(select(Notification))}


def find_id(world: World, page: str = PAGE) -> str:
    return world.get(page).text.split('name="notification_id" value="')[1].split('"')[0]


def test_notices_are_marked_one_by_one_and_all(world: World, ann: Caller) -> None:
    for number in range(3):
        add(ann, number)
    assert "3 unread" in read(world, PAGE)
    marked = send_form(world, PAGE, f"{PAGE}/read", notification_id=find_id(world))
    assert marked.headers["location"] == f"{PAGE}?done=read"
    assert list_notices() == {"Find 0": True, "Find 1": False, "Find 2": False}
    unread = read(world, f"{PAGE}?unread=1&done=read")
    assert ("Find 0" in unread, "Find 1" in unread, "marked as read" in unread) == (False, True, True)
    assert send_form(world, PAGE, f"{PAGE}/read").headers["location"] == f"{PAGE}?done=all_read"
    assert set(list_notices().values()) == {True}
    assert "Mark all" not in read(world, PAGE)


def test_a_notice_is_deleted_after_a_question(world: World, ann: Caller) -> None:
    for number in range(17):
        add(ann, number)
    second = f"{PAGE}?page=2"
    id = find_id(world, second)
    ask = f"{PAGE}/delete?id={id}&page=2"
    assert "Find 15" in read(world, ask)
    assert len(list_notices()) == 17
    assert send_form(world, ask, f"{PAGE}/delete").headers["location"] == f"{PAGE}?page=2&done=deleted"
    assert "Find 15" not in list_notices()
    assert world.get(ask).status_code == 404
    assert (
        send_form(world, f"{PAGE}/delete?id={find_id(world)}", f"{PAGE}/delete", notification_id="x").status_code == 404
    )


def test_each_notice_leads_to_what_it_is_about(world: World, ann: Caller) -> None:
    pages = {
        ("route_monitor", "7"): "/dashboard/watches/route/7",
        ("flight_alert", "8"): "/dashboard/watches/flight/8",
        ("delay_alert", "9"): "/dashboard/watches/delay/9",
        ("standing_order", "10"): "/dashboard/watches/order/10",
        ("hotel_booking", "11"): "/dashboard/bookings/stays/11",
        ("integration", "tripit"): "/dashboard/integrations",
    }
    for number, (kind, id) in enumerate(pages):
        add(ann, number, subject_type=kind, subject_id=id)
    add(ann, 30, kind="account", title="Nothing in particular")
    with transaction() as session:
        account = session.get_one(Account, ann.account_id)
        facts = {"plan": "pro", "paused": {}, "resumed": {}}
        tell(session, account, "plan_changed", facts, dedupe_key="p")
    text = world.get(PAGE).text
    assert [page for page in pages.values() if f'href="{page}"' not in text] == []
    assert 'href="/dashboard/account">' in text.split("Plan changed")[0][-200:]
    assert '<span class="name"><b>Nothing in particular' in text


def test_unread_notices_of_the_same_words_are_one_row(world: World, ann: Caller) -> None:
    for number in range(5):
        add(ann, number, kind="account", title="A new browser signed in" if number < 4 else "Something else")
    text = world.get(PAGE).text
    assert (text.count("<li>"), text.count(">Mark as read<")) == (2, 2)
    assert "4 new</span>" in text
    send_form(world, PAGE, f"{PAGE}/read", notification_id=find_id(world))
    assert world.get(f"{PAGE}?unread=1").text.count("<li>") == 1


def test_a_full_page_of_long_notices_stays_light(world: World, ann: Caller) -> None:
    for number in range(20):
        add(
            ann,
            number,
            body="Long words. " * 200,
            title=f"A title {number} " * 10,
            subject_type="route_monitor",
            subject_id="1",
        )
    text = world.get(PAGE).text
    assert (text.count("<li>"), "Older" in text, len(text.encode()) < 30_000) == (15, True, True)
    for odd in ("0", "x", "9" * 40):
        assert world.get(f"{PAGE}?page={odd}").status_code == 200


def test_a_strangers_notice_is_not_there(world: World, ann: Caller) -> None:
    add(ann, 1)
    id = find_id(world)
    world.http.cookies.clear()
    bob = sign_up(world, "bob@example.test")
    add(bob, 2)
    assert "Find 1" not in read(world, PAGE)
    assert world.get(f"{PAGE}/delete?id={id}").status_code == 404
    send_form(world, PAGE, f"{PAGE}/read", notification_id=id)
    ask = f"{PAGE}/delete?id={find_id(world)}"
    assert send_form(world, ask, f"{PAGE}/delete", notification_id=id).status_code == 404
    assert list_notices() == {"Find 1": False, "Find 2": False}


def test_without_an_answer_the_person_is_told(world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    assert world.get(PAGE).status_code == 503
