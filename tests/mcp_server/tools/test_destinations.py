"""Destinations a balance reaches, by conversation."""

import pytest

from mcp_server.toolkit.context import ANONYMOUS
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.affordable_destinations.result")
def test_affordable_destinations_lists_ten_the_balance_covers_the_farthest_first(people: People, use: Use) -> None:
    answer = use(people.bob, "affordable_destinations", program="british-airways-club", balance=25_025)
    found = answer["destinations"]
    assert len(found) == 10 < answer["total_found"]
    assert all(d["points"] <= 25_025 for d in found)
    assert [d["distance_miles"] for d in found] == sorted((d["distance_miles"] for d in found), reverse=True)
    assert len({d["city"] for d in found}) == 10
    singapore = next(d for d in found if d["destination"] == "SIN")
    assert (singapore["cabin"], singapore["points"], singapore["peak_points"]) == ("economy", 25_025, 38_500)
    assert "Confidence is low" in answer["message"]
    assert answer["unaudited"] is True


@pytest.mark.spec("s4.4.affordable_destinations.cabin")
def test_affordable_destinations_prices_the_cabin_asked_for(people: People, use: Use) -> None:
    answer = use(people.bob, "affordable_destinations", program="BA", balance=55_000, cabin="business")
    assert {d["cabin"] for d in answer["destinations"]} == {"business"}
    assert max(d["points"] for d in answer["destinations"]) == 55_000
    assert use(people.bob, "affordable_destinations", program="BA", balance=1, cabin="first")["status"] == "invalid"


@pytest.mark.spec("s4.4.affordable_destinations.open")
def test_affordable_destinations_needs_no_account(people: People, use: Use) -> None:
    assert use(ANONYMOUS, "affordable_destinations", program="avios", balance=9_000)["destinations"]


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
    assert (answer["status"], len(answer["nearest"])) == ("not_found", 3)


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
    answer = use(people.bob, "affordable_destinations", program="BA", balance=5_224)
    assert answer["destinations"] == []
    assert "5,225" in answer["message"]
    assert use(people.bob, "affordable_destinations", program="BA", balance=5_225)["destinations"]
    assert use(people.bob, "affordable_destinations", program="BA", balance=0)["status"] == "invalid"
