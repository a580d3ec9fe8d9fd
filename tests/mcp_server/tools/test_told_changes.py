"""What an update answers names the thing and the new value, so that no one has to compare."""

from typing import Any, NamedTuple

import pytest

from shared.domain.dates import format_day
from tests.evals.tasks.script import fill_in, pick
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import days_ahead
from tests.support.people import People
from tests.support.settings_and_clock import Configure


class Case(NamedTuple):
    """A thing made by one tool and changed by another; `id` is where its number stands in the first answer."""

    make: tuple[str, dict[str, Any]]
    id: str
    change: tuple[str, dict[str, Any]]
    words: str


FLIGHT = {"airline": "BA", "flight_number": "BA117", "origin": "LHR", "destination": "JFK", "departure_date": "day+50"}
FLIGHT |= {"cabin_class": "economy", "kind": "cash", "cash_paid": 480, "notes": "Aisle."}
STAY = {"hotel_id": "conrad-tokyo", "check_in_date": "day+100", "check_out_date": "day+103", "kind": "cash"}
WATCH = {"origin": "SFO", "destination": "ZRH", "earliest_date": "day+90", "latest_date": "day+104"}
QATAR = {"airline": "QR", "departure": "LHR", "destination": "DOH", "date_range_start": "day+40"}
CASES = [
    Case(
        ("add_flight_booking", FLIGHT),
        "booking.booking_id",
        ("update_flight_booking", {"departure_date": "day+51", "cash_paid": 1500.5, "clear": ["notes"]}),
        "Changed BA117 LHR-JFK: departure date now {day+51}; cash paid now 1,500.50; notes removed.",
    ),
    Case(
        ("add_hotel_booking", STAY | {"original_pay_rate_usd": 1200}),
        "booking.booking_id",
        ("update_hotel_booking", {"check_out_date": "day+104"}),
        "Changed Conrad Tokyo: check out date now {day+104}.",
    ),
    Case(
        ("add_card", {"card": "us-amex-gold"}),
        "card.card_id",
        ("update_card", {"nickname": "Blue one"}),
        "Changed American Express Gold Card: nickname now Blue one.",
    ),
    Case(
        ("add_voucher", {"voucher_slug": "hilton-free-night-reward", "expires_on": "day+300"}),
        "voucher.voucher_id",
        ("update_voucher", {"expires_on": "day+330"}),
        "Changed Hilton Free Night Reward: expires on now {day+330}.",
    ),
    Case(
        ("log_lounge_visit", {"lounge_name": "Centurion", "airport": "JFK", "visited_on": "day-3", "guests": 0}),
        "visit.visit_id",
        ("update_lounge_visit", {"guests": 2}),
        "Changed the visit to Centurion (JFK): guests now 2.",
    ),
    Case(
        ("create_trip", {"name": "Lisbon"}),
        "trip.trip_id",
        ("update_trip", {"start_date": "day+60"}),
        "Changed trip {id} (Lisbon): start date now {day+60}.",
    ),
    Case(
        ("create_route_monitor", WATCH),
        "monitor.monitor_id",
        ("update_route_monitor", {"passengers": 3, "max_points": 80_000}),
        "Changed monitor {id}, SFO to ZRH: passengers now 3; max points now 80,000. It is checked now",
    ),
    Case(
        ("create_flight_alert", QATAR | {"date_range_end": "day+68", "cabin_class": "business"}),
        "alert.alert_id",
        ("update_flight_alert", {"active": False}),
        "Changed the alert: active now off. Alert {id}, Qatar Airways from LHR to DOH, is paused.",
    ),
    Case(
        ("create_delay_alert", {"airport": "EWR", "min_delay_minutes": 45}),
        "alert.alert_id",
        ("update_delay_alert", {"min_delay_minutes": 90}),
        "Changed the alert for EWR: min delay minutes now 90. Alert {id}: ",
    ),
    Case(
        ("create_standing_order", {"prompt": "New bonuses?", "cadence": "daily", "run_hour": 7}),
        "standing_order.standing_order_id",
        ("update_standing_order", {"cadence": "weekly", "run_weekday": 5}),
        "Changed standing order {id}: cadence now weekly; run weekday now Friday. It next runs on Friday, ",
    ),
    Case(
        ("create_client_portfolio", {"client_name": "Moreau"}),
        "portfolio.portfolio_id",
        ("update_client_portfolio", {"balances": {"flying-blue": 140_000}}),
        "Changed Moreau (client portfolio {id}): balances now flying-blue 140,000.",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.change[0])
def test_an_update_names_the_thing_and_its_new_values(
    people: People, use: Use, configure: Configure, case: Case
) -> None:
    configure(STANDING_ORDER_MODEL="local-model")
    made = use(people.paula, case.make[0], **fill_in(case.make[1], {}))
    number = pick(made, case.id)
    tool, arguments = case.change
    changed = use(people.paula, tool, **{case.id.rpartition(".")[2]: number}, **fill_in(arguments, {}))
    words = case.words.replace("{id}", str(number))
    for days in (51, 60, 104, 330):
        words = words.replace(f"{{day+{days}}}", format_day(days_ahead(days)))
    assert changed["message"].startswith(words), changed["message"]


def test_of_the_mails_only_those_that_changed_are_named(people: People, use: Use) -> None:
    changed = use(people.alice, "update_profile", home_airport="GVA", mail={"route_monitors": False, "deadlines": True})
    assert changed["message"] == "Changed your profile: home airport now GVA; mail now route monitors off."
