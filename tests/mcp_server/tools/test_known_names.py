"""A name that is known and has no data is answered as that by every tool; an unknown one is refused as unknown."""

import re
from collections.abc import Iterator
from typing import Any

from mcp_server.calls.questions import Question, insert_held
from mcp_server.toolkit.registry import TOOLS, Tool
from shared.errors import Choice
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.people import People

OUTSIDE = ("Airpoints", "Scene+", "TD Rewards")
UNKNOWN = "Zorblatt Flugmeilen"
_NAMES = re.compile(r"(^|_)(program|programs|issuer|bank|chain|chains)$")
# What the person writes is kept as it stands, or is looked for among what the person has kept.
AS_WRITTEN = {"add_flight_booking", "update_flight_booking", "log_lounge_visit", "update_lounge_visit"}
KEEPS_OWN = "update_points_balance"  # a programme without data is kept as the person's own


def _list_parameters() -> Iterator[tuple[Tool, str]]:
    for tool in TOOLS.values():
        for name in tool.arguments.schema["properties"]:
            if _NAMES.search(name) and tool.name not in AS_WRITTEN:
                yield tool, name


def _ask(use: Use, people: People, tool: Tool, parameter: str, name: str) -> dict[str, Any]:
    node = tool.arguments.schema["properties"][parameter]
    value: Any = [name] if node.get("type") == "array" else name
    return use(
        people.alice if tool.name == KEEPS_OWN else people.paula,
        tool.name,
        **sample_arguments(tool, **{parameter: value}),
    )


def test_a_name_without_data_is_answered_as_that(people: People, use: Use) -> None:
    faults = []
    for number, (tool, parameter) in enumerate(_list_parameters()):
        name = OUTSIDE[number % len(OUTSIDE)]
        answer = _ask(use, people, tool, parameter, name)
        words, states = ("known here, but ha", ("invalid", "not_found"))
        if tool.name == KEEPS_OWN:
            words, states = (f"{name}: ", ("ok",))
        if words not in answer["message"] or answer["status"] not in states:
            faults.append(f"{tool.name} {parameter}={name}: {answer['status']} {answer['message'][:200]}")
        answer = _ask(use, people, tool, parameter, UNKNOWN)
        if "known here, but ha" in answer["message"] or answer["status"] in ("ok", "partial"):
            faults.append(f"{tool.name} {parameter}={UNKNOWN}: {answer['status']} {answer['message'][:200]}")
    assert faults == []


def test_a_balance_is_saved_by_everyday_names(people: People, use: Use) -> None:
    names = {"Delta miles": "delta-skymiles", "Alaska miles": "atmos-rewards", "UR": "chase-ultimate-rewards"}
    names |= {"Hyatt": "world-of-hyatt", "Livelo": "livelo", "Amex MR": "amex-membership-rewards"}
    for name, slug in names.items():
        assert use(people.alice, "update_points_balance", program=name, balance=7)["balance"]["program"] == slug
    several = use(people.alice, "update_points_balance", program="Avios", balance=7)
    assert (several["status"], len(several["candidates"])) == ("candidates", 6)
    in_britain = use(people.alice, "update_points_balance", program="Amex", country="United Kingdom", balance=7)
    assert in_britain["balance"]["program"] == "amex-membership-rewards-uk"


def test_a_programme_that_a_tool_does_not_cover_is_named(people: People, use: Use) -> None:
    faults = []
    for tool, parameter in _list_parameters():
        if tool.name == "update_points_balance":
            continue  # it takes every programme with data
        values = tool.arguments.schema["properties"][parameter].get("enum", ())
        others = [p.name for p in reference().programs.values() if p.slug not in values][:3]
        for name in others if values and set(values) <= set(reference().programs) else ():
            answer = _ask(use, people, tool, parameter, name)
            if f"is {name}, which is known here, but has no data" not in answer["message"]:
                faults.append(f"{tool.name} {parameter}={name}: {answer['message'][:200]}")
    assert faults == []


def test_a_currency_of_several_programmes_is_that_of_those_the_person_holds_points_in(people: People, use: Use) -> None:
    asked = {"program": "Avios", "topics": ["expiry"]}
    assert use(people.alice, "get_program_rules", **asked)["status"] == "candidates"
    use(people.alice, "update_points_balance", program="BA", balance=40_000)
    taken = use(people.alice, "get_program_rules", **asked)
    assert (taken["status"], taken["program"]) == ("ok", "british-airways-club")
    assert "Avios is taken for The British Airways Club, where you hold points." in taken["message"]
    use(people.alice, "update_points_balance", program="Iberia Club", balance=9_000)
    assert use(people.alice, "get_program_rules", **asked)["status"] == "candidates"


def test_a_list_takes_all_programmes_of_a_shared_name_that_are_held() -> None:
    choices = [Choice(slug, slug.upper()) for slug in ("ba", "ib", "ei")]
    asked = {"programs": ["Avios", "flying-blue"], "program": "Avios"}
    in_list, alone = (Question("Which?", path, choices) for path in (("programs", 0), ("program",)))
    taken = insert_held(in_list, {"ba", "ei", "flying-blue"}, asked)
    assert taken == (asked | {"programs": ["ba", "ei", "flying-blue"]}, ["BA", "EI"])
    assert insert_held(alone, {"ei"}, asked) == (asked | {"program": "ei"}, ["EI"])
    assert insert_held(alone, {"ba", "ei"}, asked) is None
    assert insert_held(in_list, {"flying-blue"}, asked) is None
