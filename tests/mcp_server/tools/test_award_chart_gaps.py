"""Programmes whose chart is not here: the answer says why, and editors' notes stay out of every answer."""

import re

import pytest

from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

EDITORS_WORDS = re.compile(r"audit|conflict|captured|estimate|general knowledge|github|cross-check|csv", re.IGNORECASE)


@pytest.mark.parametrize(
    ("program", "chart", "reason"),
    [
        ("korean air", "partner", "for a round trip only"),
        ("sas", "partner", "for a round trip"),
        ("thai", "partner", "that chart is not known here"),
        ("british airways", "own", "publishes no chart"),
        ("velocity", "own", "a seat can cost more"),
    ],
)
def test_get_program_rates_says_why_a_chart_is_not_here(
    people: People, use: Use, program: str, chart: str, reason: str
) -> None:
    answer = use(people.bob, "get_program_rates", program=program, chart=chart)
    assert answer["status"] == "no_data"
    assert reason in answer["message"]
    assert answer["reason"]["source_url"].startswith("https://")


def test_get_program_rates_without_a_reason_says_that_no_source_was_found(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="aegean")
    assert answer["status"] == "no_data"
    assert "No dated source of such a chart was found." in answer["message"]


def test_get_pricing_says_why_a_price_is_not_here(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="korean air", origin="CDG", destination="JFK", partner_airline="AF")
    assert answer["status"] == "no_data"
    assert "sells partner flights for a round trip only" in answer["message"]


def test_lufthansa_flights_are_dynamic_and_no_example_is_promised(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="miles and more", origin="FRA", destination="JFK")
    assert (answer["status"], answer["dynamic"], answer["unaudited"]) == ("ok", True, False)
    assert "there is no chart. No dated example of a price is known." in answer["message"]


def test_jetblue_with_qatar_is_not_priced_by_the_chart_of_other_partners(people: People, use: Use) -> None:
    route = use(
        people.bob, "get_pricing", program="qatar", origin="JFK", destination="LHR", partner_airline="B6"
    )  # the chart of other partners would say 20,750
    whole = use(people.bob, "get_program_rates", program="qatar", partner_airline="B6")
    for answer in (route, whole):
        assert answer["status"] == "no_data"
        assert "JetBlue flights have prices of their own" in answer["message"]
        assert len(answer["examples"]) == 2


def test_dated_prices_of_the_route_come_first_and_are_named(people: People, use: Use) -> None:
    ask = {"program": "air india", "origin": "JFK", "destination": "DEL", "cabin": "economy"}
    answer = use(people.bob, "get_pricing", **ask)
    assert "Dated prices of this route: economy 40,000 one way (lowest), seen 2 Jul 2026." in answer["message"]
    assert [(e["origin"], e["destination"]) for e in answer["examples"]].index(("DEL", "JFK")) == 0
    elsewhere = use(people.bob, "get_pricing", **ask | {"origin": "SIN", "destination": "SYD"})
    assert "this route" not in elsewhere["message"]


def test_reasons_of_own_charts_quote_no_prices_of_partners(people: People, use: Use) -> None:
    assert use(people.bob, "get_program_rates", program="sas")["examples"] == []
    assert len(use(people.bob, "get_program_rates", program="sas", chart="partner")["examples"]) == 56


@pytest.mark.parametrize(
    ("program", "partner", "origin", "destination", "business", "confidence"),
    [  # of Turkish no page was seen that says which countries are Europe 1
        ("turkish", None, "IST", "JFK", 65_000, "medium"),
        ("jal", "BA", "LHR", "JFK", 42_000, "high"),
    ],
)
def test_charts_seen_on_the_airlines_own_pages_are_audited(
    people: People,
    use: Use,
    program: str,
    partner: str | None,
    origin: str,
    destination: str,
    business: int,
    confidence: str,
) -> None:
    answer = use(
        people.bob, "get_pricing", program=program, origin=origin, destination=destination, partner_airline=partner
    )
    assert answer["cabins"]["business"]["standard"] == business
    assert (answer["audited_on"], answer["confidence"]) == ("2026-07-01", confidence)  # the day of the page


def test_the_turkish_price_says_which_kind_of_ticket_it_is(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="turkish")
    assert any("Promotion award tickets" in caveat for caveat in answer["caveats"])


def test_remarks_on_charts_are_sentences_for_readers() -> None:
    rows = [r for r in reference().rows("award_charts.csv") if r.remark]
    sentences = [r.remark for r in rows] + [r.reason for r in reference().rows("award_chart_gaps.csv")]
    assert len(rows) > 8
    assert [s for s in sentences if EDITORS_WORDS.search(s) or not s.endswith(".")] == []


def test_every_gap_is_of_a_listed_programme() -> None:
    assert {r.program for r in reference().rows("award_chart_gaps.csv")} <= set(reference().programs)


def test_american_partner_chart_shows_no_editors_note(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="american", chart="partner", cabin="economy")
    assert not EDITORS_WORDS.search(" ".join(answer["caveats"]))
    assert any("22,500 off-peak" in caveat for caveat in answer["caveats"])
