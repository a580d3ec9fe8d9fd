"""Sentences of answers: singular and plural, and names in place of slugs."""

import re
from datetime import timedelta
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS, Effect
from mcp_server.toolkit.wording import airline_name, program_name
from shared import clock
from shared.domain.plurals import pluralize
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.dates import evaluate
from tests.support.people import People

BARE_NUMBER = re.compile(r"[\d,]+ [^:.;]*[.;] ?")


def travel_day() -> str:
    return (clock.today() + timedelta(days=60)).isoformat()


ROUTE = {"origin": "LHR", "destination": "JFK"}


@pytest.mark.parametrize(
    ("number", "noun", "plural", "words"),
    [
        (0, "day", "", "0 days"),
        (1, "day", "", "1 day"),
        (1_200, "day", "", "1,200 days"),
        (1, "city", "cities", "1 city"),
        (2, "city", "cities", "2 cities"),
    ],
)
def test_some_says_one_or_many(number: int, noun: str, plural: str, words: str) -> None:
    assert pluralize(number, noun, plural) == words


def test_programmes_and_airlines_go_by_name_and_unknown_ones_by_what_they_came_with() -> None:
    facts = reference()
    assert program_name(facts, "british-airways-club") == "The British Airways Club"
    assert program_name(facts, "a-new-club") == "a-new-club"
    assert (airline_name(facts, "BA"), airline_name(facts, "??")) == ("British Airways", "??")


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("get_program_rules", {"program": "virgin-red"}, "Virgin Red: Points do not expire. We have no rule"),
        ("get_partner_award_options", {**ROUTE, "operating_airline": "BA"}, "1 programme."),
        ("list_supported_airlines", {"endpoint": "flight_alert"}, "12 airlines, among them: "),
        ("list_programs", {"kind": "all", "query": "jetblue"}, "1 programme: JetBlue TrueBlue."),
        ("admin_platform_overview", {"days": 1}, "new in 1 day; 0 jobs failed in 7 days."),
        ("admin_mcp_usage_stats", {"days": 1}, " in 1 day,"),
        ("get_usage", {}, "0 searches used today"),
        ("affordable_destinations", {"program": "avios", "balance": 9_350, "cabin": "business"}, "from London"),
        (
            "list_transfer_partners",
            {"program": "virgin-red"},
            "1 programme known here: Virgin Atlantic Flying",
        ),
        (
            "find_transfer_paths",
            {"from_program": "BA", "target_program": "aerclub", "points_needed": 1},
            "send 1 point, 1 arrive.",
        ),
        (
            "search_all_airlines",
            {**ROUTE, "date": travel_day, "airlines": ["BA"], "max_points": 1},
            "at up to 1 point. Searched with sandbox for 1 airline.",
        ),
        ("get_award_chart_faq", {"program": "hyatt"}, "(standard room, category 1"),
        ("get_program_rules", {"program": "wyndham"}, "mixed cabin"),
    ],
)
def test_one_is_not_many(people: People, use: Use, tool: str, given: dict[str, Any], words: str) -> None:
    given = evaluate(given)
    message = use(people.ada, tool, **given)["message"]
    assert words in message
    assert " 1 programmes" not in message


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search_all_airlines", {"date": travel_day}),
        ("search_monthly_availability", {"airline": "BA", "month": lambda: travel_day()[:7]}),
        ("search_cash_flights", {"date": travel_day}),
        ("compare_cash_vs_points", {"date": travel_day}),
        ("search_hybrid", {"date": travel_day, "hubs": ["DUB"]}),
    ],
)
def test_of_a_city_the_airports_that_were_asked_are_named(
    people: People, use: Use, tool: str, given: dict[str, Any]
) -> None:
    given = evaluate(given)
    whole = use(people.alice, tool, origin="LON", destination="NYC", **given)
    assert whole["message"].endswith(" LON means LHR, LGW and LCY. NYC means JFK, EWR and LGA.")
    assert "means" not in use(people.alice, tool, **ROUTE, **given)["message"]


@pytest.mark.parametrize("half", [0, 1])
def test_no_message_opens_with_a_bare_number(people: People, use: Use, half: int) -> None:
    """`3 documents.` answers no question; `3 documents: A; B; C.` and `No documents.` do."""
    faults = []
    areas = sorted({tool.area for tool in TOOLS.values()})[half::2]
    tools = [tool for tool in TOOLS.values() if tool.area in areas and not tool.live]
    adds = [tool for tool in tools if tool.effect == Effect.ADDS]
    lists = [tool for tool in tools if tool.name.startswith(("list_", "discover_", "get_buy_"))]
    for tool in (*adds, *lists):
        message = use(people.paula, tool.name, **sample_arguments(tool))["message"]
        if BARE_NUMBER.match(message):
            faults.append(f"{tool.name}: {message}")
    assert faults == []
