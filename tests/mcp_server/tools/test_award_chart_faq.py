"""Usual questions about a programme's award chart, answered through the gate."""

import pytest

from mcp_server.toolkit.context import ANONYMOUS
from mcp_server.tools.award_chart_faq import STATUS_QUESTIONS
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.get_award_chart_faq.open")
def test_get_award_chart_faq_answers_a_loose_name_without_an_account(people: People, use: Use) -> None:
    answer = use(ANONYMOUS, "get_award_chart_faq", program="british airways")
    answers = {e["question"]: e["answer"] for e in answer["entries"]}
    assert answer["program"] == "british-airways-club"
    assert answers["How are own flights priced?"].startswith("British Airways publishes no chart;")
    assert (answer["cheapest_award"], "cheapest" in answer["message"]) == (None, False)
    assert any("LHR-GVA" in s and "10,000" in s and "2025-12-01" in s for s in answer["sweet_spots"])
    assert all(e["source_url"] for e in answer["entries"])


def test_get_award_chart_faq_names_the_cheapest_chart_price(people: People, use: Use) -> None:
    answer = use(people.bob, "get_award_chart_faq", program="iberia club")
    answers = {e["question"]: e["answer"] for e in answer["entries"]}
    assert answers["How are own flights priced?"] == "By distance."
    assert answers["Are there peak and off-peak prices?"].startswith("Yes")
    cheapest = answer["cheapest_award"]
    assert f"The cheapest chart price of own flights is {cheapest['points']:,}" in answer["message"]


def test_get_award_chart_faq_of_a_dynamic_programme_has_no_cheapest_award(people: People, use: Use) -> None:
    answer = use(people.bob, "get_award_chart_faq", program="united")
    assert answer["cheapest_award"] is None
    assert "no chart" in answer["message"]
    assert answer["sweet_spots"]


def test_get_award_chart_faq_of_a_hotel_programme_speaks_of_nights(people: People, use: Use) -> None:
    answer = use(people.bob, "get_award_chart_faq", program="hyatt")
    assert answer["cheapest_award"]["points"] == 3_000
    assert "How are nights priced?" in [e["question"] for e in answer["entries"]]


def test_get_award_chart_faq_and_rules_hold_for_every_programme(people: People, use: Use) -> None:
    for slug in reference().programs:
        answer = use(people.bob, "get_award_chart_faq", program=slug)
        assert (answer["status"], answer["program"]) == ("ok", slug)
        assert answer["entries"] or "Nothing is known here" in answer["message"], slug
    assert use(people.bob, "get_award_chart_faq", program="virgin")["status"] == "candidates"


@pytest.mark.parametrize(
    ("program", "question", "answer"),
    [
        ("aeroplan", "What do tickets count towards status?", "Economy Standard: 2 SQC per CAD"),
        ("ba", "How many Avios do tickets earn?", "Gold: 9 Avios per GBP"),
    ],
)
def test_get_award_chart_faq_says_what_earns_points_and_status(
    people: People, use: Use, program: str, question: str, answer: str
) -> None:
    entries = use(people.bob, "get_award_chart_faq", program=program)["entries"]
    assert answer in {e["question"]: e["answer"] for e in entries}[question]


def test_every_kind_of_status_rule_answers_a_question() -> None:
    assert {r.rule for r in reference().rows("status_earning_rules.csv")} == set(STATUS_QUESTIONS)


@pytest.mark.parametrize(
    ("program", "question", "words"),
    [
        ("wyndham", "What are points worth?", "A bedroom costs 7,500, 15,000 or 30,000 points a night"),
        ("wyndham", "Are resort fees charged on award nights?", "points do not pay them"),
        ("accor", "What are points worth?", "2,000 points pay EUR 40.00 of a bill"),
        ("hyatt", "What does a night cost?", "category 4 12,000 to 25,000"),
    ],
)
def test_a_hotel_programme_is_answered_with_numbers(
    people: People, use: Use, program: str, question: str, words: str
) -> None:
    answers = {e["question"]: e["answer"] for e in use(people.bob, "get_award_chart_faq", program=program)["entries"]}
    assert words in answers[question]


def test_get_award_chart_faq_of_bilt_says_when_rent_day_is_and_promises_no_bonus(people: People, use: Use) -> None:
    entries = use(people.bob, "get_award_chart_faq", program="Bilt")["entries"]
    answer = next(entry for entry in entries if entry["question"] == "When is Rent Day?")
    assert answer["answer"].lower().startswith("on the first of the month")
    assert "none is certain before" in answer["answer"]
    assert answer["verified_on"] == "2026-05-21"  # the day of its page
