"""Air Passenger Duty through the gate: by band, cabin and day, for flights that leave the United Kingdom."""

from decimal import Decimal
from typing import Any

import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.observations import write
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

TOOL = "estimate_award_fees"


def ask(use: Use, people: People, origin: str, destination: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = use(people.alice, TOOL, origin=origin, destination=destination, **more)
    return answer


@pytest.mark.parametrize(
    ("destination", "cabin", "amount", "band"),
    [
        ("JFK", "economy", 102, "B"),
        ("JFK", "business", 244, "B"),
        ("SFO", "premium_economy", 244, "B"),  # 5,370 miles flown, but Washington decides
        ("CDG", "economy", 15, "A"),
        ("TFS", "business", 32, "A"),  # Madrid decides for the Canary Islands
        ("SIN", "first", 253, "C"),
        ("EDI", "economy", 8, "domestic"),
    ],
)
def test_departure_duty_goes_by_capital_and_cabin(
    people: People, use: Use, destination: str, cabin: str, amount: float, band: str
) -> None:
    duty = ask(use, people, "LHR", destination, cabin=cabin)["departure_duty"]
    assert (duty["amount"], duty["highest"], duty["currency"], duty["bands"]) == (amount, amount, "GBP", [band])
    assert all(duty[field] for field in ("verified_on", "source_url", "second_source_url"))


def test_departure_duty_follows_the_day_of_departure(people: People, use: Use) -> None:
    before = ask(use, people, "LHR", "JFK", date="2027-03-31")["departure_duty"]
    after = ask(use, people, "LHR", "JFK", date="2027-04-01")["departure_duty"]
    assert (before["amount"], before["valid_to"]) == (102, "2027-03-31")
    assert (after["amount"], after["valid_from"]) == (105.33, "2027-04-01")
    assert ask(use, people, "LHR", "JFK", date="2020-01-01")["status"] == "invalid"


def test_departure_duty_between_two_bands_is_a_range(people: People, use: Use) -> None:
    answer = ask(use, people, "LHR", "ICN")
    duty = answer["departure_duty"]
    assert (duty["amount"], duty["highest"], duty["bands"]) == (102, 106, ["B", "C"])
    assert "102.00 to 106.00 GBP per person" in answer["message"]


def test_departure_duty_is_due_only_where_the_flight_leaves_the_united_kingdom(people: People, use: Use) -> None:
    arriving = ask(use, people, "JFK", "LHR")
    assert (arriving["departure_duty"], "Duty" in arriving["message"]) == (None, False)
    inverness = ask(use, people, "INV", "AMS")
    assert inverness["departure_duty"] is None
    assert "Flights that leave INV are exempt from Air Passenger Duty." in inverness["message"]
    assert ask(use, people, "JER", "CDG")["status"] == "no_data"  # Jersey is not part of it


def test_departure_duty_says_who_owes_none_and_that_a_domestic_return_is_charged_twice(
    people: People, use: Use
) -> None:
    duty = ask(use, people, "LHR", "EDI")["departure_duty"]
    assert "Children under 16 owe none in economy" in duty["note"]
    assert "charged on both flights" in duty["note"]
    assert "charged on both flights" not in ask(use, people, "LHR", "JFK")["departure_duty"]["note"]


def test_departure_duty_of_a_direct_long_flight_from_northern_ireland_is_nothing(people: People, use: Use) -> None:
    answer = ask(use, people, "BFS", "JFK", cabin="business")
    duty = answer["departure_duty"]
    assert (duty["amount"], duty["highest"], duty["bands"]) == (0, 244, ["B"])
    assert "0.00 to 244.00 GBP per person" in answer["message"]
    assert "A direct flight from Northern Ireland to a country beyond band A owes nothing." in answer["message"]
    short = ask(use, people, "BFS", "CDG")["departure_duty"]
    assert short["amount"] == short["highest"] > 0


def test_departure_duty_is_not_said_to_be_in_a_sum_that_is_lower(people: People, use: Use) -> None:
    def see(*taxes: str) -> None:
        seat = {"source": "sandbox", "airline": "BA", "origin": "LHR", "destination": "JFK", "cabin": "business"}
        seat |= {"date": clock.today(), "points": 50_000, "seats": 1, "seen_at": clock.now(), "taxes_currency": "USD"}
        programs = ("british-airways-club", "iberia-club")
        with transaction() as session:
            sums = zip(programs, taxes, strict=False)
            write(session, [seat | {"program": program, "taxes": Decimal(sum)} for program, sum in sums])

    see("220")
    answer = ask(use, people, "LHR", "JFK", cabin="business")
    assert [fee["below_duty"] for fee in answer["fees"]] == [True]
    assert "below the duty alone" in answer["message"]
    assert "The taxes include" not in answer["message"]
    see("220", "520")
    answer = ask(use, people, "LHR", "JFK", cabin="business")
    assert {fee["program"]: fee["below_duty"] for fee in answer["fees"]} == {
        "british-airways-club": True,
        "iberia-club": False,
    }
    assert "Some averages are below the duty" in answer["message"]
