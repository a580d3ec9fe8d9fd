"""The inbox tools: listing, filtering, marking, and two accounts that never see each other's notices."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.domain.short_ids import shorten_uuid
from shared.outbox.enqueue import tell
from tests.support.people import People

Use = Callable[..., dict[str, Any]]
PLAN = {"plan": "pro", "paused": {}, "resumed": {"route monitors": [3]}}
MAIL = {"subject": "S", "recipient": "a@example.test"}


def notice(who: Caller, key: str, event: str = "plan_changed", **more: Any) -> str:
    with transaction() as session:
        facts: dict[str, Any] = PLAN if event == "plan_changed" else MAIL
        id = tell(session, session.get_one(Account, who.account_id), event, facts, dedupe_key=key, **more)
        assert id is not None
        return shorten_uuid(id)


def test_list_notifications_shows_each_field_newest_first(people: People, use: Use) -> None:
    older = notice(people.alice, "a")
    newer = notice(people.alice, "b", "mail_failed", subject=("route_monitor", 12))
    answer = use(people.alice, "list_notifications")
    assert answer["status"] == "ok"
    first, second = answer["notifications"]
    assert [first["notification_id"], second["notification_id"]] == [newer, older]
    assert set(first) == {"notification_id", "kind", "title", "body", "read", "subject", "link", "created_at"}
    assert first["subject"] == {"type": "route_monitor", "id": "12"}
    assert (second["subject"], second["read"], second["kind"]) == (None, False, "account")
    paths = [urlsplit(entry["link"]).path for entry in (first, second)]
    assert paths == ["/dashboard/watches/route/12", "/dashboard/account"]
    assert answer["unread"] == 2
    assert answer["paging"] == {"page": 1, "per_page": 20, "total": 2, "has_more": False}


def test_list_notifications_filters_and_pages(people: People, use: Use) -> None:
    ids = [notice(people.alice, f"n{n}") for n in range(5)]
    use(people.alice, "mark_notifications_read", notification_ids=ids[:2])
    unread = use(people.alice, "list_notifications", unread_only=True)
    assert {n["notification_id"] for n in unread["notifications"]} == set(ids[2:])
    assert use(people.alice, "list_notifications", kind="route_monitor")["notifications"] == []
    assert len(use(people.alice, "list_notifications", kind="account")["notifications"]) == 5
    assert use(people.alice, "list_notifications", since="2999-01-01")["notifications"] == []
    assert len(use(people.alice, "list_notifications", since="2020-01-01")["notifications"]) == 5
    last = use(people.alice, "list_notifications", page=3, per_page=2)
    assert (len(last["notifications"]), last["paging"]["has_more"], last["paging"]["total"]) == (1, False, 5)


@pytest.mark.spec("s3.notification.read_keeps")
@pytest.mark.spec("s2.9.notification_id_string")
def test_mark_notifications_read_keeps_the_notice(people: People, use: Use) -> None:
    one, other = notice(people.alice, "a"), notice(people.alice, "b")
    answer = use(people.alice, "mark_notifications_read", notification_ids=[one])
    assert (answer["marked"], answer["unread"], answer["not_found"]) == (1, 1, [])
    listed = {n["notification_id"]: n["read"] for n in use(people.alice, "list_notifications")["notifications"]}
    assert listed == {one: True, other: False}
    assert use(people.alice, "mark_notifications_read", notification_ids=[one])["marked"] == 0


def test_mark_notifications_read_marks_all(people: People, use: Use) -> None:
    for n in range(3):
        notice(people.alice, f"n{n}")
    assert use(people.alice, "mark_notifications_read", all=True)["marked"] == 3
    assert use(people.alice, "mark_notifications_read", all=True)["unread"] == 0


def test_mark_notifications_read_names_what_it_did_not_find(people: People, use: Use) -> None:
    mine, unknown = notice(people.alice, "a"), str(uuid4())
    answer = use(people.alice, "mark_notifications_read", notification_ids=[unknown, mine, "not an id", unknown])
    assert (answer["marked"], answer["not_found"]) == (1, [unknown, "not an id"])


@pytest.mark.parametrize(
    "arguments", [{}, {"all": False}, {"notification_ids": []}, {"notification_ids": ["x"], "all": True}]
)
def test_mark_notifications_read_wants_ids_or_all(people: People, use: Use, arguments: dict[str, Any]) -> None:
    answer = use(people.alice, "mark_notifications_read", **arguments)
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == "notification_ids"


def test_charlie_neither_sees_nor_marks_alices_notices(people: People, use: Use) -> None:
    hers = notice(people.alice, "a")
    seen = use(people.charlie, "list_notifications")
    assert (seen["notifications"], seen["unread"], seen["paging"]["total"]) == ([], 0, 0)
    assert use(people.charlie, "mark_notifications_read", notification_ids=[hers])["not_found"] == [hers]
    assert use(people.charlie, "mark_notifications_read", all=True)["marked"] == 0
    with transaction() as session:
        assert session.query(Notification).one().read_at is None


@pytest.mark.spec("s3.notification.delete_any", "s4.4.delete_notification.confirm_hint")
def test_delete_notification_deletes_a_notice_read_or_unread(people: People, use: Use) -> None:
    read, unread, kept = (notice(people.alice, key) for key in "abc")
    use(people.alice, "mark_notifications_read", notification_ids=[read])
    for name in (read, unread):
        gone = use(people.alice, "delete_notification", notification_id=name)
        assert (gone["status"], gone["removed"]["notification_id"]) == ("ok", name)
        assert gone["removed"]["title"]
        assert use(people.alice, "delete_notification", notification_id=name)["status"] == "not_found"
    assert [n["notification_id"] for n in use(people.alice, "list_notifications")["notifications"]] == [kept]
    assert "Confirm with the user first" in TOOLS["delete_notification"].description


@pytest.mark.parametrize("name", ["not an id", "00000000-0000-4000-8000-000000000000", ""])
def test_delete_notification_of_a_notice_that_is_not_there_finds_none(people: People, use: Use, name: str) -> None:
    assert use(people.alice, "delete_notification", notification_id=name)["status"] == "not_found"


def test_charlie_cannot_delete_alices_notice(people: People, use: Use) -> None:
    hers = notice(people.alice, "a")
    assert use(people.charlie, "delete_notification", notification_id=hers)["status"] == "not_found"
    assert use(people.alice, "list_notifications")["paging"]["total"] == 1
