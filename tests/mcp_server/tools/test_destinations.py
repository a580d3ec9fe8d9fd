"""Destinations a balance reaches, by conversation."""

import pytest

from mcp_server.toolkit.context import ANONYMOUS
from shared.domain.destinations import Destination, find_farthest
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.affordable_destinations.result")
def test_affordable_destinations_lists_published_prices_alone(people: People, use: Use) -> None:
    """The programme's chart ended in December 2025; one price from London was announced since."""
    answer = use(people.bob, "affordable_destinations", program="british-airways-club", balance=25_025)
    (geneva,) = answer["destinations"]
    assert (geneva["destination"], geneva["origin"], geneva["cabin"]) == ("GVA", "LHR", "economy")
    assert (geneva["points"], geneva["peak_points"], answer["total_found"]) == (10_000, None, 1)
    assert "No chart is known since 14 Dec 2025: only prices that were announced one by one count" in answer["message"]
    assert answer["source_url"] == "https://boardinggroup.one/?p=18853"


def test_affordable_destinations_lists_the_chart_in_force_farthest_first() -> None:
    """Of a chart, as a programme has one again: ten cities, the farthest first, each at its lowest price."""
    cities = [
        Destination(f"A{n:02}", f"City {n}", "GB", "LHR", "economy", 5_000 + n, None, 100 * n) for n in range(1, 20)
    ]
    listed, total = find_farthest(cities, 5_012, 10)
    assert (len(listed), total) == (10, 12)
    assert [d.miles for d in listed] == sorted((d.miles for d in listed), reverse=True)


@pytest.mark.spec("s4.4.affordable_destinations.cabin")
def test_affordable_destinations_prices_the_cabin_asked_for(people: People, use: Use) -> None:
    answer = use(people.bob, "affordable_destinations", program="BA", balance=55_000, cabin="business")
    assert [(d["destination"], d["cabin"], d["points"]) for d in answer["destinations"]] == [
        ("GVA", "business", 16_500)
    ]
    assert use(people.bob, "affordable_destinations", program="BA", balance=1, cabin="first")["status"] == "invalid"


@pytest.mark.spec("s4.4.affordable_destinations.open")
def test_affordable_destinations_needs_no_account(people: People, use: Use) -> None:
    assert use(ANONYMOUS, "affordable_destinations", program="avios", balance=10_000)["destinations"]


@pytest.mark.spec("s4.4.affordable_destinations.program", "s4.4.affordable_destinations.shared_currency_name")
@pytest.mark.parametrize("name", ["avios", "Avios", "BA", "british-airways", "british-airways-club", "British Airways"])
def test_affordable_destinations_takes_every_name_of_the_one_programme(people: People, use: Use, name: str) -> None:
    answer = use(people.bob, "affordable_destinations", program=name, balance=9_000)
    assert (answer["status"], answer["program"]) == ("ok", "british-airways-club")


@pytest.mark.parametrize("name", ["flying blue", "virgin points", "iberia-club", "virgin-atlantic-flying-club"])
def test_affordable_destinations_refuses_other_programmes_by_name(people: People, use: Use, name: str) -> None:
    answer = use(people.bob, "affordable_destinations", program=name, balance=9_000)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "program")
    assert "british-airways-club" in answer["errors"][0]["expected"]


def test_affordable_destinations_of_an_unknown_programme_names_the_nearest(people: People, use: Use) -> None:
    answer = use(people.bob, "affordable_destinations", program="brittish airways klub", balance=9_000)
    assert (answer["status"], answer["nearest"]) == ("not_found", ["british-airways-club"])


@pytest.mark.spec("s4.4.affordable_destinations.london_only")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("London", "ok"),
        ("lon", "ok"),
        ("LHR", "ok"),
        ("stn", "ok"),
        ("MAN", "invalid"),
        ("Paris", "invalid"),
        ("", "invalid"),
    ],
)
def test_affordable_destinations_starts_in_london_only(people: People, use: Use, origin: str, status: str) -> None:
    answer = use(people.bob, "affordable_destinations", program="BA", balance=9_000, origin=origin)
    assert answer["status"] == status
    assert status == "ok" or "only London" in answer["message"]


@pytest.mark.spec("s4.4.affordable_destinations.balance")
def test_affordable_destinations_says_what_the_cheapest_takes(people: People, use: Use) -> None:
    answer = use(people.bob, "affordable_destinations", program="BA", balance=9_999)
    assert answer["destinations"] == []
    assert "10,000" in answer["message"]
    assert use(people.bob, "affordable_destinations", program="BA", balance=10_000)["destinations"]
    assert use(people.bob, "affordable_destinations", program="BA", balance=0)["status"] == "invalid"
