"""Ids in results are short: they stand in each row, and a model copies them character by character."""

from typing import Any

import pytest

from shared.db.base import transaction
from shared.db.inbound_mail import InboundMail
from shared.db.messages import Notification
from shared.domain.plans import Plan
from shared.domain.short_ids import shorten_uuid
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_call_budgets import _belongings, find_long_ids, list_ids
from tests.mcp_server.tools.test_sandbox_rows import ROUTE, travel_day
from tests.support.people import People, account
from tests.support.sandbox_seats import set_seat


def test_the_walk_sees_the_ids_of_offers_watches_plans_mails_and_documents(people: People, use: Use) -> None:
    """And it would see them if they were long."""
    answer: dict[str, Any] = {"status": "ok", "options": [{"trip_id": "x" * 25, "subject": {"id": "y" * 25}}]}
    assert [path[-1] for path, _ in find_long_ids(answer)] == ["trip_id", "id"]
    assert find_long_ids({"status": "ok", "booking": {"trip_id": "x" * 36, "booking_id": 1}}) == []
    who = account("petra", Plan.PRO)
    set_seat("open:4", "LHR", "JFK", travel_day(), "business", "BA")
    day = travel_day().isoformat()
    _belongings(who, range(1))
    shown: dict[str, set[str]] = {}
    for name, arguments in {
        "search_availability": ROUTE | {"airline": "BA", "date": day},
        "search_all_airlines": ROUTE | {"date": day},
        "search_hybrid": ROUTE | {"date": day},
        "compare_cash_vs_points": ROUTE | {"date": day, "cabin": "business"},
        "list_flights": {},
        "list_notifications": {},
        "list_inbox_messages": {},
        "list_branded_pdfs": {},
    }.items():
        answer = use(who, name, **arguments)
        shown[name] = {path[-1] for path, _ in list_ids(answer)}
    assert all(shown.values()), shown


def test_the_id_of_a_mail_is_as_short_in_its_notice(people: People, use: Use) -> None:
    with transaction(people.paula.account_id) as session:
        mail = InboundMail(digest="1", from_domain="hotel.test", subject="x", raw=b"x", state="needs_review")
        session.add(mail)
        session.flush()
        subject = {"subject_type": "inbox_message", "subject_id": str(mail.id)}
        session.add(Notification(dedupe_key="1", kind="inbox", title="x", body="x", **subject))
        id = shorten_uuid(mail.id)
    (notice,) = use(people.paula, "list_notifications")["notifications"]
    (message,) = use(people.paula, "list_inbox_messages")["messages"]
    assert notice["subject"] == {"type": "inbox_message", "id": id}
    assert message["message_id"] == id


@pytest.mark.parametrize(
    ("tool", "parameter", "more"),
    [
        ("delete_notification", "notification_id", {}),
        ("resolve_inbox_message", "message_id", {"action": "discard"}),
        ("revoke_branded_pdf", "pdf_id", {}),
    ],
)
def test_an_id_of_earlier_days_names_the_same_record(
    people: People, use: Use, tool: str, parameter: str, more: dict[str, Any]
) -> None:
    """They had 36 characters; both forms name it, and neither names it for anybody else."""
    (rows,) = _belongings(people.paula, range(1))
    forms = (str(rows[parameter].id), shorten_uuid(rows[parameter].id))
    stranger = account("petra", Plan.PRO)
    answers = [use(stranger, tool, **{parameter: id}, **more)["status"] for id in forms]
    assert answers == ["not_found", "not_found"]
    other = _belongings(people.paula, range(1, 2))[0][parameter].id
    answers = [use(people.paula, tool, **{parameter: id}, **more)["status"] for id in (forms[0], shorten_uuid(other))]
    assert answers == ["ok", "ok"]


def test_notices_are_marked_by_either_form_of_their_ids(people: People, use: Use) -> None:
    sets = _belongings(people.paula, range(2))
    first, second = (rows["notification_ids"].id for rows in sets)
    names = [str(first), shorten_uuid(first), shorten_uuid(second), "nobodys"]
    answer = use(people.paula, "mark_notifications_read", notification_ids=names)
    assert (answer["marked"], answer["not_found"]) == (2, ["nobodys"])
