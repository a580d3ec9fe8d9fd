"""Activity on the web: searches and saved chats newest first, by kind and page, of one account alone."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.trips import ChatLink, SearchRecord
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_watch_pages import read
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/activity"
ASKED = {"origin": "LHR", "destination": "JFK", "cabin": None, "airlines": ["BA", "VS"], "nonstop_only": True}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def add_search(who: Caller, minutes: int, **more: Any) -> None:
    facts = {"tool": "search_award_flights", "arguments": ASKED, "summary": f"{minutes} offers.", "outcome": "ok"}
    with transaction(who.account_id) as session:
        session.add(SearchRecord(created_at=clock.now() - timedelta(minutes=minutes), **facts | more))


def add_chat(who: Caller, minutes: int, **more: Any) -> None:
    with transaction(who.account_id) as session:
        facts = {"title": "Kyoto", "url": "https://chat.example/c/1", "summary": "Where to stay."} | more
        session.add(ChatLink(created_at=clock.now() - timedelta(minutes=minutes), **facts))


def test_searches_and_chats_stand_together_newest_first(world: World, ann: Caller) -> None:
    assert "Nothing yet." in read(world, PAGE)
    add_search(ann, 3)
    add_chat(ann, 2)
    add_search(ann, 1, outcome="no_data", summary="No seats.")
    page = read(world, PAGE)
    places = [page.index(words) for words in ("No seats.", "Where to stay.", "3 offers.")]
    assert places == sorted(places)
    assert "Asked for: origin LHR, destination JFK, airlines BA, VS, nonstop only yes" in page
    assert "nothing found" in page
    assert '<a class="name" href="https://chat.example/c/1" rel="noreferrer">Kyoto</a>' in world.get(PAGE).text


@pytest.mark.parametrize(("kind", "present"), [("search", (True, False)), ("chat", (False, True)), ("x", (True, True))])
def test_one_kind_is_shown_alone(world: World, ann: Caller, kind: str, present: tuple[bool, bool]) -> None:
    add_search(ann, 3)
    add_chat(ann, 2)
    page = read(world, f"{PAGE}?kind={kind}")
    assert ("3 offers." in page, "Where to stay." in page) == present


def test_a_long_list_has_pages_and_none_is_heavy(world: World, ann: Caller) -> None:
    for minutes in range(23):
        add_search(ann, minutes, arguments=dict.fromkeys("abcdef", "<&>" * 60), summary=f"{minutes}: " + "<&>" * 300)
    first = world.get(f"{PAGE}?kind=search")
    assert len(first.content) < 30_000
    older = html.unescape(re.findall(r'href="([^"]*)">Older', first.text)[0])
    assert older == f"{PAGE}?kind=search&page=2"
    assert "Page 2, 23 in all" in read(world, older)
    last = read(world, f"{PAGE}?page=3")
    assert ("22: " in last, "Older" in last) == (True, False)
    assert "There is nothing on this page." in read(world, f"{PAGE}?page=9")


def test_nobody_sees_what_another_person_did(world: World, ann: Caller) -> None:
    add_search(ann, 1, summary="A secret plan.")
    world.http.cookies.clear()
    sign_up(world, "bob@example.test")
    assert "secret" not in read(world, PAGE)
