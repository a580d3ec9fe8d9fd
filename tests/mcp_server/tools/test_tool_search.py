"""The search of find_tools: what nothing here serves, other languages, and stories with a wish at their end."""

from pathlib import Path
from typing import Any

import yaml

from mcp_server.calls.tool_search import WORDS, find_wish, prepare_search, read_words
from mcp_server.toolkit.registry import TOOLS
from shared.domain.tool_profiles import AREAS
from tests.evals.requests import load_requests

EVALS = Path(__file__).parents[2] / "evals"
LEAST_REFUSED = 56  # of the 60
LEAST_SHORT_REFUSED = 28  # of the 40 that hold a word or two
MOST_LOST = 0.02  # of the requests that a tool does serve
ASKED = {  # in the languages of booking letters, and the tool that is to be among the first five
    "Wie viele Meilen habe ich?": "list_points_balances",
    "Lösche meine Reise nach Rom": "delete_trip",
    "Meine Hotelrechnung stimmt nicht": "audit_hotel_folio",
    "Combien de points ai-je ?": "list_points_balances",
    "Surveille Paris–Tokyo et préviens-moi": "create_route_monitor",
    "Quiero saber cuántas millas tengo": "list_points_balances",
    "Muéstrame mis viajes": "list_trips",
    "Quanti punti ho?": "list_points_balances",
    "Quale carta di credito mi consigli?": "recommend_cards",
    "Procure assentos prêmio de Lisboa para Nova York": "search_all_airlines",
    "Hoeveel punten heb ik?": "list_points_balances",
    "Ile mam mil?": "list_points_balances",
    "Kaç milim var?": "list_points_balances",
    "сколько у меня миль": "list_points_balances",
    "Hur många poäng har jag?": "list_points_balances",
    "Hvor mange poeng har jeg?": "list_points_balances",
    "Hvor mange point har jeg?": "list_points_balances",
    "特典航空券の空席を探して": "search_all_airlines",
    "我有多少里程？": "list_points_balances",
    "取消奖励机票要多少手续费": "get_cancellation_fee",
    "내 포인트 잔액 보여줘": "list_points_balances",
}
STORIES = {
    "We got married in May and have not had a day off since. My wife wants to go to Hawaii, I would rather see Japan, "
    "and both of us pay for everything with Amex cards. How many points do I have?": "list_points_balances",
    "My mother is ill in Delhi and the hotel there was booked in a hurry last week by my brother, who also paid for "
    "the flight with his card. Now none of it is needed. What does it cost to cancel my award ticket?": (
        "get_cancellation_fee"
    ),
}


def _find(text: str) -> list[str]:
    return prepare_search(tuple(sorted(TOOLS))).find(text)


def _load(name: str) -> Any:
    return yaml.load((EVALS / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def test_a_short_request_whose_words_are_all_known_is_served_however_common_they_are() -> None:
    texts = _load("short.yaml")
    assert (len(texts["served"]), len(texts["elsewhere"])) == (62, 40)
    assert [text for text in texts["served"] if not _find(text)] == []
    assert sum(not _find(text) for text in texts["elsewhere"]) >= LEAST_SHORT_REFUSED


def test_what_nothing_here_serves_is_refused_and_what_a_tool_serves_is_not() -> None:
    texts = _load("elsewhere.yaml")
    requests = load_requests()
    assert len(set(texts)) == 60
    assert sum(not _find(text) for text in texts) >= LEAST_REFUSED
    assert sum(not _find(request.text) for request in requests) <= MOST_LOST * len(requests)


def test_the_languages_of_booking_letters_are_understood() -> None:
    found = {text: _find(text)[:5] for text in ASKED}
    assert [f"{text}: {found[text]}" for text, tool in ASKED.items() if tool not in found[text]] == []


def test_a_long_story_is_understood_by_its_wish() -> None:
    assert {text: _find(text)[0] for text in STORIES} == STORIES
    assert find_wish("We are four. Can you search? The hotel was bad.") == "Can you search?"
    assert find_wish("It rained. Please delete the trip. Thanks") == "Please delete the trip."
    assert find_wish("Nothing. More") == "More"


def test_the_table_of_words_names_tools_and_areas_that_exist() -> None:
    table = read_words()
    assert WORDS.is_file()
    assert table["tools"].keys() <= TOOLS.keys()
    assert table["languages"].keys() - {"elsewhere"} <= AREAS.keys()
