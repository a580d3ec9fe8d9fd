"""What is saved already is not saved a second time by the tools that add, unless the caller says so."""

import threading
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS, Effect
from shared.db.base import transaction
from shared.db.repeats import _KEYS
from shared.domain.plans import Plan
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People, account
from tests.support.settings_and_clock import Configure

FLIGHT = {"airline": "BA", "origin": "LHR", "destination": "JFK", "departure_date": "2027-01-21",
          "cabin_class": "economy", "kind": "cash", "cash_paid": 400, "flight_number": "BA117"}  # fmt: skip
STAY = {"hotel_id": "Conrad Tokyo", "check_in_date": "2027-01-21", "check_out_date": "2027-01-25",
        "original_points": 90_000}  # fmt: skip
VISIT = {"lounge_name": "No1 Lounge", "airport": "LHR", "visited_on": "2026-11-02"}
# Tool, arguments, the part of the answer that holds the row, the same in other words, and what is another row.
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any], dict[str, Any]]] = [
    ("add_card", {"card": "House card", "custom": True}, "card.card_id", {"card": "HOUSE CARD", "notes": "x"},
     {"member": "Sam"}),
    ("add_card", {"card": "House card", "custom": True, "opened_on": "2026-01-05"}, "card.card_id",
     {"opened_on": None}, {"opened_on": "2026-02-05"}),
    ("add_flight_booking", FLIGHT | {"confirmation_number": "AAA111"}, "booking.booking_id",
     {"flight_number": "ba 0117", "confirmation_number": None}, {"confirmation_number": "BBB222"}),
    ("add_flight_booking", FLIGHT, "booking.booking_id", {"airline": "British Airways", "notes": "x"},
     {"departure_date": "2027-01-22"}),
    ("add_hotel_booking", STAY, "booking.booking_id", {"confirmation_number": "H-1"},
     {"check_out_date": "2027-01-26"}),
    ("create_trip", {"name": "Kyoto"}, "trip.trip_id", {"name": "kyoto", "destination": "KIX"}, {"name": "Nara"}),
    ("log_lounge_visit", VISIT, "visit.visit_id", {"rating": 4}, {"visited_on": "2026-11-03"}),
    ("add_voucher", {"voucher_slug": "hyatt-free-night-cat-1-4", "reference": "X1"}, "voucher.voucher_id",
     {"reference": "x1", "notes": "y"}, {"reference": "X2"}),
    ("create_client_portfolio", {"client_name": "Ann Smith"}, "portfolio.portfolio_id",
     {"client_email": "ann@example.test"}, {"client_name": "Ann Smyth"}),
    ("save_chat_link", {"title": "Kyoto"}, "chat.chat_id", {"summary": "First."}, {"title": "Nara"}),
    ("create_standing_order", {"prompt": "Seats LHR to JFK."}, "standing_order.standing_order_id",
     {"prompt": "seats LHR to JFK."}, {"run_hour": 9}),
]  # fmt: skip
# They add something each time by what they are: a watch says so in a sentence, a document or a search is a new one.
NOT_FOR = {
    *("create_route_monitor", "create_flight_alert", "create_delay_alert", "generate_branded_pdf"),
    *("check_hotel_booking_price", "connect_integration", "run_standing_order"),
}


@pytest.fixture(autouse=True)
def model(configure: Configure) -> None:
    configure(STANDING_ORDER_MODEL="local-model")


def _row_id(answer: dict[str, Any], path: str) -> Any:
    part, name = path.split(".")
    return answer[part][name]


@pytest.mark.parametrize(("tool", "arguments", "path", "same", "other"), CASES)
def test_the_same_is_saved_once_unless_again_is_said(
    people: People,
    use: Use,
    tool: str,
    arguments: dict[str, Any],
    path: str,
    same: dict[str, Any],
    other: dict[str, Any],
) -> None:
    first = use(people.paula, tool, **arguments)
    assert first["already_saved"] is False
    repeat = {name: value for name, value in (arguments | same).items() if value is not None}
    told = use(people.paula, tool, **repeat)
    assert (told["status"], told["already_saved"]) == ("ok", True)
    assert "nothing was added or changed" in told["message"]
    assert _row_id(told, path) == _row_id(first, path)
    foreign = use(account("peter", Plan.PRO), tool, **arguments)
    assert _row_id(foreign, path) != _row_id(first, path)
    for more in (arguments | other, repeat | {"again": True}):
        added = use(people.paula, tool, **more)
        assert added["already_saved"] is False
        assert _row_id(added, path) != _row_id(first, path)


def test_every_tool_that_adds_knows_what_is_saved_already() -> None:
    adds = {name for name, tool in TOOLS.items() if tool.effect is Effect.ADDS} - NOT_FOR
    assert {name for name in adds if "again" not in TOOLS[name].arguments.schema["properties"]} == set()


def test_an_item_of_a_schedule_is_saved_once(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="Kyoto")["trip"]["trip_id"]
    dinner = {"trip_id": trip, "title": "Dinner", "day": "2027-01-22", "start_time": "20:00"}
    first = use(people.alice, "save_itinerary_item", **dinner)
    told = use(people.alice, "save_itinerary_item", **dinner, notes="By the river")
    assert (told["already_saved"], told["created"], told["item"]["item_id"]) == (True, False, first["item"]["item_id"])
    later = use(people.alice, "save_itinerary_item", **dinner | {"start_time": "21:00"})
    assert later["created"]


def test_the_only_trip_of_the_plan_named_again_is_no_question_of_the_plan(people: People, use: Use) -> None:
    first = use(people.alice, "create_trip", name="Kyoto")
    assert use(people.alice, "create_trip", name="Kyoto")["trip"]["trip_id"] == first["trip"]["trip_id"]


def test_what_was_cancelled_or_archived_is_no_repeat(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="Kyoto")["trip"]["trip_id"]
    use(people.alice, "delete_trip", trip_id=trip)
    assert use(people.alice, "create_trip", name="Kyoto")["already_saved"] is False


def test_two_calls_at_once_save_once(people: People, use: Use) -> None:
    answers: list[dict[str, Any]] = []
    callers = [
        threading.Thread(target=lambda: answers.append(use(people.paula, "add_flight_booking", **FLIGHT)))
        for _ in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert sorted(answer["already_saved"] for answer in answers) == [False, True, True, True]


def test_each_natural_key_names_columns_of_its_table() -> None:
    with transaction():
        for kind, key in _KEYS.items():
            assert set(key.same + key.fits) <= set(kind.__table__.columns.keys())
