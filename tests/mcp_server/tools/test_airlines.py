"""One airline by conversation: release window, cancellation fee, whose flight a code is."""

from datetime import timedelta

import pytest

from shared import clock
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.get_award_release_window.result")
@pytest.mark.parametrize("name", ["BA", "british airways", "british-airways"])
def test_get_award_release_window_counts_days_before_departure(people: People, use: Use, name: str) -> None:
    answer = use(people.bob, "get_award_release_window", airline=name)
    assert answer["airline"] == {"code": "BA", "name": "British Airways"}
    assert answer["days_before_departure"] == 355
    assert answer["opens_for_date"] == (clock.today() + timedelta(days=355)).isoformat()
    assert answer["source_url"].startswith("https://")


def test_get_award_release_window_tells_apart_when_partners_get_seats(people: People, use: Use) -> None:
    answer = use(people.bob, "get_award_release_window", airline="EY")
    assert (answer["days_before_departure"], answer["partner_days"]) == (330, 30)
    assert "first and business" in answer["notes"]
    assert use(people.bob, "get_award_release_window", airline="BA")["partner_days"] is None


@pytest.mark.spec("s4.4.get_award_release_window.hint_330")
def test_get_award_release_window_is_recommended_before_far_searches() -> None:
    from mcp_server.toolkit.registry import TOOLS

    assert "330 days" in TOOLS["get_award_release_window"].description


def test_get_award_release_window_without_a_known_window_is_no_data(people: People, use: Use) -> None:
    assert use(people.bob, "get_award_release_window", airline="CZ")["status"] == "no_data"
    assert use(people.bob, "get_award_release_window", airline="zz top air")["status"] == "not_found"


@pytest.mark.parametrize(
    ("airline", "days"), [("LA", 330), ("AI", 337), ("CA", 361), ("CI", 330), ("ET", 330), ("FJ", 330), ("RJ", 330)]
)
def test_get_award_release_window_knows_airlines_that_only_partners_sell(
    people: People, use: Use, airline: str, days: int
) -> None:
    assert use(people.bob, "get_award_release_window", airline=airline)["days_before_departure"] == days


def test_get_cancellation_fee_of_united_is_free_and_checked_on_its_own_page(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="United")
    assert (answer["fee"]["amount"], answer["unaudited"], answer["confidence"]) == (0, False, "high")
    assert "www.united.com" in answer["source_url"]
    assert answer["message"].startswith("Cancelling an award of United MileagePlus: free; 125 USD")


def test_get_cancellation_fee_without_an_own_programme_names_those_that_book(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="LATAM Airlines")
    assert answer["status"] == "no_data"
    assert "The programme that books the award sets it" in answer["message"]
    assert "Delta SkyMiles (free)" in answer["message"]


def test_notes_for_auditors_stay_out_of_answers_about_an_airline(people: People, use: Use) -> None:
    window = use(people.bob, "get_award_release_window", airline="AC")
    assert "conflict" not in f"{window['message']} {window['notes']}"
    assert "conflict" not in str(use(people.bob, "get_cancellation_fee", airline="AF")["note"])


@pytest.mark.spec("s4.4.get_cancellation_fee.result", "s4.4.get_cancellation_fee.partner_note")
def test_get_cancellation_fee_says_what_and_that_partners_differ(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="british-airways")
    assert answer["program"] == "british-airways-club"
    assert answer["fee"] == {"amount": 55, "currency": "USD", "unit": "cash per person"}
    assert answer["deadline"] == "24 h before departure"
    assert "partner programme" in answer["partner_note"]


def test_get_cancellation_fee_shows_an_unknown_amount_as_no_data(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="TP")
    assert answer["fee"]["amount"] == "no_data"
    assert answer["change_fee"]["amount"] == 50


@pytest.mark.parametrize(("code", "airline"), [("BA 117", "BA"), ("baw117", "BA"), ("B6 1", "B6"), ("JL005", "JL")])
def test_lookup_flight_tells_the_carrier(people: People, use: Use, code: str, airline: str) -> None:
    answer = use(people.bob, "lookup_flight", flight_number=code)
    assert answer["airline"]["code"] == airline
    assert answer["program"]
    assert answer["schedule"] == "no_data"


def test_lookup_flight_of_a_carrier_without_award_search_pretends_none(people: People, use: Use) -> None:
    answer = use(people.bob, "lookup_flight", flight_number="RYR 1883")
    assert (answer["airline"]["code"], answer["airline"]["name"]) == ("FR", "Ryanair")
    assert (answer["airline"]["slug"], answer["program"], answer["supported_endpoints"]) == (None, None, [])
    assert "cannot be searched" in answer["message"]
    listed = use(people.bob, "list_supported_airlines")["airlines"]
    assert "FR" not in [a["code"] for a in listed]
    assert use(people.bob, "get_award_release_window", airline="Ryanair")["status"] == "not_found"


def test_lookup_flight_of_an_unknown_carrier_is_not_found(people: People, use: Use) -> None:
    assert use(people.bob, "lookup_flight", flight_number="ZZ 12")["status"] == "not_found"
    assert use(people.bob, "lookup_flight", flight_number="not a flight")["status"] == "invalid"


@pytest.mark.parametrize(
    ("airline", "program", "amount", "currency"),
    [
        ("Iberia", "iberia-club", 25.0, "EUR"),
        ("QR", "qatar-airways-privilege-club", 25.0, "USD"),
        ("Southwest", "southwest-rapid-rewards", 0.0, "USD"),
        ("ANA", "ana-mileage-club", 3000.0, "miles"),
    ],
)
def test_get_cancellation_fee_is_the_airlines_own_programmes(
    people: People, use: Use, airline: str, program: str, amount: float, currency: str
) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline=airline)
    assert answer["program"] == program
    assert (answer["fee"]["amount"], answer["fee"]["currency"]) == (amount, currency)


def test_get_cancellation_fee_of_lufthansa_is_no_longer_one_number(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="Lufthansa")
    assert answer["fee"]["amount"] == "no_data"
    assert "it depends on the fare of the award since 3 Jun 2025" in answer["message"]


def test_get_cancellation_fee_of_finnair_gives_the_change_fee_that_is_known(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="Finnair")
    assert (answer["fee"]["amount"], answer["change_fee"]["amount"]) == ("no_data", 50.0)
    assert answer["deadline"] == "24 h before departure"


def test_get_cancellation_fee_keeps_money_and_miles_apart(people: People, use: Use) -> None:
    answer = use(people.bob, "get_cancellation_fee", airline="Etihad")
    assert answer["fee"] == {"amount": 25.0, "currency": "miles", "unit": "percent of miles per person"}
    assert answer["change_fee"] == {"amount": 600.0, "currency": "AED", "unit": "cash per person"}
    assert "25 percent of miles per person" in answer["message"]


def test_get_cancellation_fee_lists_exempt_tiers_one_by_one(people: People, use: Use) -> None:
    assert use(people.bob, "get_cancellation_fee", airline="QR")["exempt_tiers"] == ["Gold", "Platinum"]


def test_lookup_flight_of_hawaiian_says_who_prices_its_awards(people: People, use: Use) -> None:
    answer = use(people.bob, "lookup_flight", flight_number="HA 12")
    assert answer["program"] == "atmos-rewards"
    assert "Atmos Rewards" in answer["message"]


@pytest.mark.parametrize(
    ("flight", "day", "alliance", "words"),
    [
        ("SK 925", None, "skyteam", "a member of SkyTeam"),
        ("SK 925", "2024-08-31", "star_alliance", "a member of Star Alliance"),
        ("SK 925", "2024-09-01", "skyteam", "a member of SkyTeam"),
        ("WY 101", None, "oneworld", "a member of oneworld"),
        ("FJ 810", "2025-03-31", None, None),
        ("FJ 810", "2025-04-01", "oneworld", "a member of oneworld"),
        ("EK 1", None, None, None),
        ("AZ 608", "2026-03-31", None, None),
        ("AZ 608", None, "star_alliance", "a member of Star Alliance"),
        ("VS 3", None, "skyteam", "a member of SkyTeam"),
    ],
)
def test_lookup_flight_names_the_alliance_of_the_day(
    people: People, use: Use, flight: str, day: str | None, alliance: str | None, words: str | None
) -> None:
    answer = use(people.bob, "lookup_flight", flight_number=flight, **({"date": day} if day else {}))
    assert answer["airline"]["alliance"] == alliance
    assert (words or "a flight of") in answer["message"]
    assert bool(words) == ("a member of" in answer["message"])


def test_list_programs_takes_alliance_and_hubs_from_the_airlines(people: People, use: Use) -> None:
    def alliance(program: str) -> str | None:
        (line,) = use(people.bob, "list_programs", kind="all", query=program)["programs"]
        return str(line["alliance"]) if line["alliance"] else None

    assert (alliance("eurobonus"), alliance("flying-blue"), alliance("skywards")) == ("skyteam", "skyteam", "none")
    assert (alliance("aeroplan"), alliance("world-of-hyatt")) == ("star_alliance", None)
    (line,) = use(people.bob, "list_programs", query="flying-blue")["programs"]
    assert line["hubs"] == ["CDG", "ORY", "AMS"]


def test_lookup_flight_of_an_airline_that_ended_says_so(people: People, use: Use) -> None:
    answer = use(people.bob, "lookup_flight", flight_number="NK 1")
    assert answer["message"] == "NK 1 was a flight of Spirit Airlines, which ended all flights on 2 May 2026."
    assert answer["airline"]["stopped_on"] == "2026-05-02"
    assert use(people.bob, "lookup_flight", flight_number="BA 1")["airline"]["stopped_on"] is None
