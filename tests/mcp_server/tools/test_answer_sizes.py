"""How much of an answer a model reads: the bytes of every tool's typical answer, and the bounds of the largest.

A host gives its model the texts, or the structured content, or both; each bound is of one of them.
Print the table with `pytest -s -k table tests/mcp_server/tools/test_answer_sizes.py`.
"""

import re
import statistics
import sys
from datetime import timedelta
from typing import Any, get_args

import anyio
import pytest
from pydantic_core import to_json

from mcp_server.calls.dispatch import Answer, dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.parameters import ProgramSlug
from mcp_server.toolkit.registry import TOOLS, Tier
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.mcp_server.tools.test_isolation import record_parameters
from tests.mcp_server.tools.test_route_monitors import create, found
from tests.support.people import People

SEARCH_BYTES = 9_000  # of search_all_airlines with ten of a hundred offers
HOTELS_BYTES = 8_000  # of search_hotels with ten hotels, on whose place card lists name dozens
MEDIAN_BYTES = 1_500
PLAN_BYTES = 12_000  # of plan_trip over two places and home
TOOL_NAME = re.compile(rf"\b(?:{'|'.join(name for name in TOOLS)})\b")
LARGEST_BYTES = 14_000  # of any tool's typical answer
SLUGS = "|".join(slug for slug in get_args(ProgramSlug) if "-" in slug)
SLUG_OR_DATE = re.compile(rf"\d{{4}}-\d\d-\d\d|\b(?:{SLUGS})\b")
BALANCES = {"amex-membership-rewards": 180_000, "bilt-rewards": 60_000, "chase-ultimate-rewards": 120_000}


def route_and_day() -> dict[str, Any]:
    return {"origin": "LHR", "destination": "JFK", "date": (clock.today() + timedelta(days=60)).isoformat()}


def whole_search() -> dict[str, Any]:
    return route_and_day() | {"flex_days": 3, "passengers": 2}


def typical_arguments() -> dict[str, dict[str, Any]]:
    """What people ask of the tools with the largest answers, where required arguments alone would ask for little."""
    day, week = route_and_day()["date"], (clock.today() + timedelta(days=66)).isoformat()
    return {
        "search_all_airlines": whole_search(),
        "search_availability": route_and_day() | {"airline": "BA", "passengers": 2},
        "search_hybrid": route_and_day() | {"passengers": 2},
        "plan_trip": {"origin": "BOS", "destination": "FCO", "earliest_date": day, "latest_date": week},
        "compare_transfer_options": {"target_program": "flying-blue", "points_needed": 60_000},
        "find_transfer_paths": {
            "from_program": "amex-membership-rewards",
            "target_program": "british-airways-club",
            "points_needed": 60_000,
        },
        "get_partner_award_options": {"origin": "LHR", "destination": "JFK", "cabin": "business", "passengers": 2},
        "get_program_rates": {"program": "virgin-atlantic-flying-club"},
        "list_transfer_partners": {"program": "amex-membership-rewards"},
    }


def ask(caller: Caller, name: str, /, **arguments: Any) -> Answer:
    limiter.cache_clear()
    return anyio.run(dispatch, name, arguments, caller, "mcp")


def count_bytes(answer: Answer) -> tuple[int, int]:
    """Of the structured content, and of the texts."""
    return len(to_json(answer.data)), len(answer.text.encode())


def answer_all(people: People) -> dict[str, Answer]:
    """By tool; those that read come first, and those that remove come last."""
    own = rows_of_every_kind()
    with transaction(people.paula.account_id) as session:
        store_rows(session, own)
    for program, balance in BALANCES.items():
        ask(people.paula, "update_points_balance", program=program, balance=balance)
    answers = {}
    for name in sorted(TOOLS, key=lambda n: (not TOOLS[n].reads, TOOLS[n].hints["destructiveHint"], n)):
        tool = TOOLS[name]
        who = people.ada if tool.tier is Tier.ADMIN else people.paula
        ids = {p: own[p].id for p in record_parameters(tool) if p in own and p in tool.arguments.required}
        ids = {p: str(n) if tool.arguments.schema["properties"][p]["type"] == "string" else n for p, n in ids.items()}
        arguments = typical_arguments().get(name) or sample_arguments(tool, **ids)
        answers[name] = ask(who, name, **arguments)
    return answers


@pytest.mark.slow  # calls every tool
def test_the_table_of_sizes_has_a_small_median_and_messages_are_for_people(people: People) -> None:
    answers = answer_all(people)
    sizes = {name: count_bytes(answer) for name, answer in answers.items()}
    rows = sorted(sizes.items(), key=lambda item: -item[1][0])
    sys.stdout.write("".join(f"{name:34}{data:8,}{texts:8,}\n" for name, (data, texts) in rows))
    assert len(sizes) == 142
    assert statistics.median(data for data, _ in sizes.values()) < MEDIAN_BYTES
    assert statistics.median(texts for _, texts in sizes.values()) < MEDIAN_BYTES
    assert statistics.median(data + texts for data, texts in sizes.values()) < 2 * MEDIAN_BYTES
    assert max(max(size) for size in sizes.values()) < LARGEST_BYTES
    good = {name: answer.message for name, answer in answers.items() if answer.status in ("ok", "partial")}
    assert len(good) > 80
    assert [name for name, message in good.items() if SLUG_OR_DATE.search(message)] == []
    assert {name: message for name, message in good.items() if TOOL_NAME.search(message)} == {}


def test_a_search_over_all_airlines_is_small_in_either_form(people: People) -> None:
    answer = ask(people.paula, "search_all_airlines", **whole_search())
    assert answer.data["total"] > 30
    assert len(answer.data["options"]) == 10
    assert max(count_bytes(answer)) < SEARCH_BYTES


def test_a_search_of_hotels_is_small_where_card_lists_name_many_more(people: People) -> None:
    day = clock.today() + timedelta(days=60)
    stay = {"check_in_date": str(day), "check_out_date": str(day + timedelta(days=5))}
    answer = ask(people.paula, "search_hotels", destination="Paris", **stay)
    assert len(answer.data["hotels"]) == 10
    assert count_bytes(answer)[0] < HOTELS_BYTES


def test_a_plan_over_several_places_is_small_in_either_form(people: People, use: Use) -> None:
    for program, balance in BALANCES.items():
        use(people.paula, "update_points_balance", program=program, balance=balance)
    stops = [{"place": "FCO", "nights": 4}, {"place": "CDG", "nights": 3}]
    arguments = typical_arguments()["plan_trip"] | {"destination": "CDG", "stops": stops}
    answer = ask(people.paula, "plan_trip", **arguments)
    assert len(answer.data["best"]["onward_awards"]) == len(answer.data["fallback"]["onward_awards"]) == 1
    assert max(count_bytes(answer)) < PLAN_BYTES


LONG_BYTES = 12_000  # of an answer with as many rows as it shows


def test_answers_with_all_their_rows_are_small(people: People, use: Use) -> None:
    for program, balance in BALANCES.items():
        ask(people.paula, "update_points_balance", program=program, balance=balance)
    monitor = create(use, people.paula)["monitor"]["monitor_id"]
    for day in range(30):
        seats = {"taxes": 251, "taxes_currency": "USD", "seats": 2, "stops": 1, "option_id": f"option{day}"}
        found(monitor, 60_000 + day, departs_at="2027-02-01T08:25", arrives_at="2027-02-01T11:20", **seats)
    arguments = {
        "get_route_monitor": {"monitor_id": monitor},
        "get_airports": {"airline": "BA", "per_page": 100},
        "find_transfer_paths": typical_arguments()["find_transfer_paths"],
    }
    sizes = {name: max(count_bytes(ask(people.paula, name, **terms))) for name, terms in arguments.items()}
    assert {name: size for name, size in sizes.items() if size >= LONG_BYTES} == {}


@pytest.mark.parametrize("name", sorted(name for name, tool in TOOLS.items() if tool.condenses))
def test_a_compact_answer_says_less_than_a_full_one_and_nothing_else(people: People, use: Use, name: str) -> None:
    tool = TOOLS[name]
    for program, balance in BALANCES.items():
        use(people.paula, "update_points_balance", program=program, balance=balance)
    arguments = typical_arguments().get(name) or sample_arguments(tool)
    full, compact = (ask(people.paula, name, **arguments, detail=d).data for d in ("full", "compact"))
    assert "provenance" not in full
    if full["status"] not in ("ok", "partial"):
        assert compact == full
        return
    assert restore(compact, compact.get("provenance", {})) <= restore(full, {})


def test_over_rest_an_answer_is_whole_unless_asked_otherwise(people: People) -> None:
    def call(**detail: str) -> dict[str, Any]:
        limiter.cache_clear()
        query = route_and_day() | {"airline": "BA"} | detail
        return anyio.run(dispatch, "search_availability", query, people.paula, "rest").data

    whole = call()
    assert ("detail" in whole, "provenance" in whole, whole["coverage"]["asked"]) == (False, False, ["sandbox"])
    assert call(detail="full")["options"] == whole["options"]
    assert call(detail="compact")["detail"] == "compact"


def restore(value: Any, shared: dict[str, Any], path: str = "") -> set[tuple[str, str]]:
    """Every leaf of an answer that says something, with the way to it; what rows share is put back into them."""
    if isinstance(value, dict):
        leaves = set()
        for name, part in value.items():
            if path == "" and name in ("detail", "provenance", "coverage", "searches_left_today"):
                continue
            leaves |= restore(part, shared, f"{path}.{name}")
        return leaves
    if isinstance(value, list):
        return {leaf for n, part in enumerate(value) for leaf in restore(part, shared, f"{path}[{n}]")}
    return {(path, repr(value))}
