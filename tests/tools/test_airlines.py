"""One airline by conversation: release window, cancellation fee, whose flight a code is."""

from datetime import timedelta

import pytest

from shared import clock
from tests.people import People
from tests.tools.conftest import Use


@pytest.mark.spec("s4.4.get_award_release_window.result")
@pytest.mark.parametrize("name", ["BA", "british airways", "british-airways"])
def test_get_award_release_window_counts_days_before_departure(people: People, use: Use, name: str) -> None:
    said = use(people.bob, "get_award_release_window", airline=name)
    assert said["airline"] == {"code": "BA", "name": "British Airways"}
    assert said["days_before_departure"] == 355
    assert said["opens_for_date"] == (clock.today() + timedelta(days=355)).isoformat()
    assert said["source_url"].startswith("https://")


@pytest.mark.spec("s4.4.get_award_release_window.hint_330")
def test_get_award_release_window_is_recommended_before_far_searches() -> None:
    from mcp_server.toolbox import TOOLS

    assert "330 days" in TOOLS["get_award_release_window"].description


def test_get_award_release_window_without_a_known_window_is_no_data(people: People, use: Use) -> None:
    assert use(people.bob, "get_award_release_window", airline="AI")["status"] == "no_data"
    assert use(people.bob, "get_award_release_window", airline="zz top air")["status"] == "not_found"


@pytest.mark.spec("s4.4.get_cancellation_fee.result", "s4.4.get_cancellation_fee.partner_note")
def test_get_cancellation_fee_says_what_and_that_partners_differ(people: People, use: Use) -> None:
    said = use(people.bob, "get_cancellation_fee", airline="british-airways")
    assert said["program"] == "british-airways-club"
    assert said["fee"] == {"amount": 55, "currency": "USD", "unit": "cash per person"}
    assert said["deadline"] == "24 h before departure"
    assert "partner programme" in said["partner_note"]


def test_get_cancellation_fee_shows_an_unknown_amount_as_no_data(people: People, use: Use) -> None:
    said = use(people.bob, "get_cancellation_fee", airline="TP")
    assert said["fee"]["amount"] == "no_data"
    assert said["change_fee"]["amount"] == 50


@pytest.mark.parametrize(("code", "airline"), [("BA 117", "BA"), ("baw117", "BA"), ("B6 1", "B6"), ("JL005", "JL")])
def test_lookup_flight_tells_the_carrier(people: People, use: Use, code: str, airline: str) -> None:
    said = use(people.bob, "lookup_flight", flight_number=code)
    assert said["airline"]["code"] == airline
    assert said["program"]
    assert said["schedule"] == "no_data"


def test_lookup_flight_of_an_unknown_carrier_is_not_found(people: People, use: Use) -> None:
    assert use(people.bob, "lookup_flight", flight_number="ZZ 12")["status"] == "not_found"
    assert use(people.bob, "lookup_flight", flight_number="not a flight")["status"] == "invalid"
