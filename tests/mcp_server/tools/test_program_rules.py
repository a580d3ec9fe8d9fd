"""Rules of a programme, asked through the gate."""

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def test_get_program_rules_explains_with_sources_and_names_what_is_missing(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rules", program="aeroplan")
    by = {r["topic"]: r for r in answer["rules"]}
    assert by["stopovers"]["limits"] == {"one_way": 1, "return": 2, "points": 5_000}
    assert (by["stopovers"]["allowed"], by["holds"]["allowed"], by["pooling"]["allowed"]) == (True, False, True)
    fees = {"per": "person", "change_fee": "100 CAD", "cancel_fee": "150 CAD", "deadline": "2 h before departure"}
    assert by["changes"]["limits"] == fees
    assert by["expiry"]["limits"] == {"months": 18}
    assert all(r["source_url"] and r["confidence"] for r in answer["rules"])
    assert answer["missing_topics"] == ["waitlist", "mixed_cabin", "infants", "gifting", "sweet_spots"]


def test_get_program_rules_answers_the_topics_asked_for_in_one_order(people: People, use: Use) -> None:
    answer = use(
        people.bob, "get_program_rules", program="ana-mileage-club", topics=["infants", "mixed_cabin", "waitlist"]
    )
    assert [r["topic"] for r in answer["rules"]] == ["mixed_cabin", "infants"]
    assert answer["missing_topics"] == ["waitlist"]
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
    answer = use(people.bob, "get_program_rules", program=program, topics=[topic])
    assert [r["allowed"] for r in answer["rules"]] == [allowed]
