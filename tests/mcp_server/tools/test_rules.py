"""Programme rules and questions about charts, by conversation."""

import pytest

from mcp_server.toolkit.context import ANONYMOUS
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def test_get_program_rules_explains_with_sources_and_names_what_is_missing(people: People, use: Use) -> None:
    said = use(people.bob, "get_program_rules", program="aeroplan")
    by = {r["topic"]: r for r in said["rules"]}
    assert by["stopovers"]["limits"] == {"one_way": 1, "return": 2, "points": 5_000}
    assert (by["stopovers"]["allowed"], by["holds"]["allowed"], by["pooling"]["allowed"]) == (True, False, True)
    assert by["changes"]["limits"] == {"per": "person", "change_fee": "100 CAD", "cancel_fee": "150 CAD"}
    assert by["expiry"]["limits"] == {"months": 18}
    assert all(r["source_url"] and r["confidence"] and r["unaudited"] for r in said["rules"])
    assert said["missing_topics"] == ["waitlist", "mixed_cabin", "infants", "gifting", "sweet_spots"]


def test_get_program_rules_answers_the_topics_asked_for_in_one_order(people: People, use: Use) -> None:
    said = use(
        people.bob, "get_program_rules", program="ana-mileage-club", topics=["infants", "mixed_cabin", "waitlist"]
    )
    assert [r["topic"] for r in said["rules"]] == ["mixed_cabin", "infants"]
    assert said["missing_topics"] == ["waitlist"]
    assert use(people.bob, "get_program_rules", program="ana-mileage-club", topics=["waitlist"])["status"] == "no_data"
    assert use(people.bob, "get_program_rules", program="ana-mileage-club", topics=["luggage"])["status"] == "invalid"


@pytest.mark.parametrize(
    ("program", "topic", "allowed"),
    [
        ("united-mileageplus", "stopovers", False),
        ("flying-blue", "stopovers", True),
        ("british-airways-club", "stopovers", None),
        ("singapore-krisflyer", "holds", None),
        ("flying-blue", "holds", True),
        ("hilton-honors", "pooling", True),
        ("marriott-bonvoy", "pooling", False),
    ],
)
def test_get_program_rules_says_yes_no_or_neither(
    people: People, use: Use, program: str, topic: str, allowed: bool | None
) -> None:
    said = use(people.bob, "get_program_rules", program=program, topics=[topic])
    assert [r["allowed"] for r in said["rules"]] == [allowed]


@pytest.mark.spec("s4.4.get_award_chart_faq.open")
def test_get_award_chart_faq_answers_a_loose_name_without_an_account(people: People, use: Use) -> None:
    said = use(ANONYMOUS, "get_award_chart_faq", program="british airways")
    answers = {e["question"]: e["answer"] for e in said["entries"]}
    assert said["program"] == "british-airways-club"
    assert answers["How are own flights priced?"] == "By distance."
    assert answers["Are there peak and off-peak prices?"].startswith("Yes")
    assert said["cheapest_award"] == {
        "route_or_band": "0-650 miles",
        "cabin": "economy",
        "points": 5_225,
        "chart_id": "ba_self",
    }
    assert "The cheapest chart price of own flights is 5,225" in said["message"]
    assert any("LHR-GVA" in s and "10,000" in s and "2025-12-01" in s for s in said["sweet_spots"])
    assert all(e["source_url"] for e in said["entries"])


def test_get_award_chart_faq_of_a_dynamic_programme_has_no_cheapest_award(people: People, use: Use) -> None:
    said = use(people.bob, "get_award_chart_faq", program="united")
    assert said["cheapest_award"] is None
    assert "no chart" in said["message"]
    assert said["sweet_spots"]


def test_get_award_chart_faq_of_a_hotel_programme_speaks_of_nights(people: People, use: Use) -> None:
    said = use(people.bob, "get_award_chart_faq", program="hyatt")
    assert said["cheapest_award"]["points"] == 3_000
    assert "How are nights priced?" in [e["question"] for e in said["entries"]]


def test_get_award_chart_faq_and_rules_hold_for_every_programme(people: People, use: Use) -> None:
    for slug in reference().programs:
        said = use(people.bob, "get_award_chart_faq", program=slug)
        assert (said["status"], said["program"]) == ("ok", slug)
        assert said["entries"], slug
    assert use(people.bob, "get_award_chart_faq", program="virgin")["status"] == "candidates"
