"""Saved chats and recent searches through the gate: kept when asked, listed newest first, of one account alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.db.base import transaction
from shared.db.trips import ChatLink, SearchRecord
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_trip_items import trip
from tests.support.people import People

START = datetime(2026, 3, 1, tzinfo=UTC)
LINK = {"title": "Kyoto", "url": "https://chat.example/c/1?x=y", "summary": "Where to stay.\nAnd when."}


def lately(account_id: int, searches: list[int], chats: list[int], trip_id: int | None = None) -> None:
    """Searches and chats made so many days after the start, named by it."""
    with transaction(account_id) as session:
        for n in searches:
            row = SearchRecord(trip_id=trip_id, tool="x", arguments={"n": n}, summary=f"s{n}", outcome="ok")
            row.created_at = START + timedelta(days=n)
            session.add(row)
        for n in chats:
            session.add(ChatLink(trip_id=trip_id, title=f"c{n}", created_at=START + timedelta(days=n)))


def list_activity(use: Use, who: Any, **filters: Any) -> tuple[list[str], list[str], int]:
    answer = use(who, "list_recent_activity", **filters)
    assert answer["status"] == "ok"
    return [s["summary"] for s in answer["searches"]], [c["title"] for c in answer["chats"]], answer["paging"]["total"]


def test_save_chat_link_keeps_every_field(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    answer = use(people.alice, "save_chat_link", **LINK, trip_id=there)
    chat = answer["chat"]
    assert (answer["status"], answer["created"]) == ("ok", True)
    assert {name: chat[name] for name in LINK} == LINK
    assert chat["trip_id"] == there
    assert use(people.alice, "get_trip", trip_id=there)["chats"] == [chat]
    assert use(people.alice, "list_recent_activity")["chats"] == [chat]


def test_save_chat_link_replaces_an_entry_and_leaves_it_in_its_trip(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    first = use(people.alice, "save_chat_link", **LINK, trip_id=there)["chat"]
    answer = use(people.alice, "save_chat_link", title="Osaka", chat_id=first["chat_id"])
    assert answer["created"] is False
    changed = {"title": "Osaka", "url": None, "summary": None, "updated_at": answer["chat"]["updated_at"]}
    assert answer["chat"] == first | changed
    assert use(people.alice, "list_recent_activity")["paging"]["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "title"),
        ({"title": " "}, "title"),
        ({"title": "x" * 161}, "title"),
        ({"title": "x", "summary": "x" * 1001}, "summary"),
        ({"title": "x", "url": "http://chat.example/1"}, "url"),
        ({"title": "x", "url": "javascript:alert(1)"}, "url"),
        ({"title": "x", "url": "https://"}, "url"),
        ({"title": "x", "url": "https://[::1"}, "url"),
        ({"title": "x", "url": "https://bank.example@evil.example/"}, "url"),
        ({"title": "x", "url": "https://chat.example/\n1"}, "url"),
        ({"title": "x", "url": "https://chat.example/" + "x" * 500}, "url"),
        ({"title": "x", "transcript": "All that was said."}, "transcript"),
    ],
)
def test_save_chat_link_refuses_bad_input(people: People, use: Use, arguments: dict[str, Any], field: str) -> None:
    answer = use(people.alice, "save_chat_link", **arguments)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "list_recent_activity")["paging"]["total"] == 0


def test_save_chat_link_and_remove_chat_link_know_no_chat_or_trip_of_another(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    hers = use(people.alice, "save_chat_link", **LINK)["chat"]
    for chat, of_trip in ((hers["chat_id"], there), (10**9, 10**9)):
        answer = use(people.charlie, "save_chat_link", title="Mine", chat_id=chat)
        assert (answer["status"], answer["what"], answer["id"]) == ("not_found", "saved chat", chat)
        answer = use(people.charlie, "save_chat_link", title="Mine", trip_id=of_trip)
        assert (answer["status"], answer["what"], answer["id"]) == ("not_found", "trip", of_trip)
        assert use(people.charlie, "remove_chat_link", chat_id=chat)["status"] == "not_found"
    assert use(people.charlie, "list_recent_activity")["paging"]["total"] == 0
    assert use(people.alice, "list_recent_activity")["chats"] == [hers]


def test_remove_chat_link_forgets_it(people: People, use: Use) -> None:
    chat = use(people.alice, "save_chat_link", **LINK)["chat"]["chat_id"]
    answer = use(people.alice, "remove_chat_link", chat_id=chat)
    assert answer["removed"] == {"chat_id": chat, "title": "Kyoto"}
    assert use(people.alice, "remove_chat_link", chat_id=chat)["status"] == "not_found"
    assert use(people.alice, "list_recent_activity")["chats"] == []


def test_list_recent_activity_pages_searches_and_chats_together(people: People, use: Use) -> None:
    lately(people.alice.account_id, searches=[1, 4, 5], chats=[2, 3])
    lately(people.charlie.account_id, searches=[9], chats=[8])
    assert list_activity(use, people.alice) == (["s5", "s4", "s1"], ["c3", "c2"], 5)
    assert list_activity(use, people.alice, per_page=2) == (["s5", "s4"], [], 5)
    assert list_activity(use, people.alice, per_page=2, page=2) == ([], ["c3", "c2"], 5)
    assert list_activity(use, people.alice, per_page=2, page=3) == (["s1"], [], 5)
    assert list_activity(use, people.alice, per_page=2, page=4) == ([], [], 5)
    assert list_activity(use, people.alice, page=10**9, per_page=100) == ([], [], 5)


def test_list_recent_activity_by_kind_trip_and_day(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    lately(people.alice.account_id, searches=[1], chats=[2], trip_id=there)
    lately(people.alice.account_id, searches=[3], chats=[4])
    assert list_activity(use, people.alice, kind="search") == (["s3", "s1"], [], 2)
    assert list_activity(use, people.alice, kind="chat") == ([], ["c4", "c2"], 2)
    assert list_activity(use, people.alice, trip_id=there) == (["s1"], ["c2"], 2)
    assert list_activity(use, people.alice, since="2026-03-04") == (["s3"], ["c4"], 2)
    assert list_activity(use, people.alice, trip_id=there, since="2026-03-03", kind="search") == ([], [], 0)


def test_list_recent_activity_shows_no_search_of_the_other_data_mode(people: People, use: Use) -> None:
    lately(people.alice.account_id, searches=[1, 2], chats=[])
    with transaction() as session:
        session.info.pop("synthetic")
        other = session.query(SearchRecord).filter_by(summary="s2").one()
        other.synthetic = not other.synthetic
    assert list_activity(use, people.alice) == (["s1"], [], 1)
    assert use(people.alice, "get_usage")["status"] == "ok"


def test_list_recent_activity_of_another_accounts_trip_is_not_found(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    for id in (there, 10**9):
        answer = use(people.charlie, "list_recent_activity", trip_id=id)
        assert (answer["status"], answer["what"], answer["id"]) == ("not_found", "trip", id)
