"""Rules of a programme, asked through the gate."""

from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from shared.reference.load import reference
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
    assert answer["missing_topics"] == ["waitlist", "mixed_cabin", "gifting", "sweet_spots"]


def test_get_program_rules_answers_the_topics_asked_for_in_one_order(people: People, use: Use) -> None:
    answer = use(
        people.bob, "get_program_rules", program="ana-mileage-club", topics=["infants", "mixed_cabin", "waitlist"]
    )
    assert [r["topic"] for r in answer["rules"]] == ["mixed_cabin", "infants", "infants"]  # of babies and of children
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
        ("turkish-miles-and-smiles", "pooling", True),
    ],
)
def test_get_program_rules_says_yes_no_or_neither(
    people: People, use: Use, program: str, topic: str, allowed: bool | None
) -> None:
    answer = use(people.bob, "get_program_rules", program=program, topics=[topic])
    assert [r["allowed"] for r in answer["rules"]] == [allowed]


def _rule(use: Use, caller: Caller, program: str, topic: str) -> dict[str, Any]:
    return use(caller, "get_program_rules", program=program, topics=[topic])


def test_get_program_rules_of_lifemiles_says_that_only_earning_extends(people: People, use: Use) -> None:
    (rule,) = _rule(use, people.bob, "lifemiles", "expiry")["rules"]
    assert "12 months: only earning extends, redeeming does not" in rule["summary"]
    assert "Exceptions: 24 months for members with elite status" in rule["summary"]
    assert (rule["verified_on"] is not None, rule["unaudited"]) == (True, False)


def test_get_program_rules_does_not_guess_where_sources_contradict_each_other(people: People, use: Use) -> None:
    answer = _rule(use, people.bob, "southwest", "pooling")
    assert (answer["status"], answer["missing"]) == ("no_data", ["pooling"])
    assert "a way to pool was announced in 2025" in answer["message"]


def test_get_program_rules_says_of_an_old_rule_how_old_it_is(people: People, use: Use) -> None:
    answer = _rule(use, people.bob, "icelandair", "infants")
    assert answer["status"] == "no_data"
    assert "The newest source is of 2018; what is older than 5 years is not shown." in answer["message"]


@pytest.mark.parametrize(
    ("program", "months", "summary"),
    [
        ("flying blue", 24, "Points end 24 months after the last activity."),
        ("finnair", 18, "earning or using Avios; transfers do not count"),
        ("aadvantage", 24, "They do not end for holders of an AAdvantage card"),
        ("wyndham", 18, "each point also ends four years after it was earned"),
    ],
)
def test_get_program_rules_of_expiry_are_audited(
    people: People, use: Use, program: str, months: int, summary: str
) -> None:
    (rule,) = _rule(use, people.bob, program, "expiry")["rules"]
    assert (rule["limits"], rule["unaudited"]) == ({"months": months}, False)
    assert summary in rule["summary"]


def test_get_program_rules_of_cathay_has_the_five_stopovers_of_its_terms(people: People, use: Use) -> None:
    (rule,) = _rule(use, people.bob, "asia miles", "stopovers")["rules"]
    assert "five at most" in rule["summary"]
    assert rule["source_url"].startswith("https://www.asiamiles.com/")


@pytest.mark.parametrize(
    ("program", "topic", "message"),
    [
        ("aeroplan", "infants", "Aeroplan: A baby on the lap costs 2,500 points or a small sum in cash, plus taxes."),
        ("hilton-honors", "pooling", "Hilton Honors: Members can put their points together."),
        ("krisflyer", "waitlist", "Singapore Airlines KrisFlyer: Waitlists: on its own flights until 3 weeks before"),
        ("atmos", "mixed_cabin", "the highest cabin of any flight sets the price of the whole itinerary. Not checked."),
        ("korean air", "gifting", "Korean Air SKYPASS: Who may travel: the member and registered family"),
        ("emirates", "mixed_cabin", "We have no rule of Emirates Skywards for mixed cabins."),
        ("aeroplan", "waitlist", "We have no rule of Aeroplan for waitlists."),
    ],
)
def test_get_program_rules_answers_in_the_sentence(
    people: People, use: Use, program: str, topic: str, message: str
) -> None:
    assert message in _rule(use, people.bob, program, topic)["message"]


def test_get_program_rules_says_whether_there_are_waitlists(people: People, use: Use) -> None:
    found = {p: _rule(use, people.bob, p, "waitlist")["rules"][0]["allowed"] for p in ("asia miles", "krisflyer")}
    assert found == {"asia miles": False, "krisflyer": True}


def test_most_asked_programmes_have_a_rule_for_babies() -> None:
    """Twelve of the airline programmes people ask for most, each with a source."""
    rows = {r.program: r for r in reference().rows("program_facts.csv") if r.topic == "infants"}
    asked = "air-canada-aeroplan american-airlines-aadvantage british-airways-club delta-skymiles flying-blue"
    asked += " united-mileageplus korean-air-skypass ana-mileage-club jal-mileage-bank qatar-airways-privilege-club"
    asked += " southwest-rapid-rewards lufthansa-miles-and-more"
    assert [p for p in asked.split() if p not in rows or rows[p].source_url == "general knowledge"] == []
