"""What a call leaves out and the profile knows, over the whole catalogue; and airlines that a person avoids."""

import dataclasses
import inspect
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS, Effect, Tier, Tool
from shared import clock
from shared.domain.preferences import SETTINGS
from shared.errors import NoData
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.fake_rates import fare, fares_of
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]

UPDATE = "update_profile"
PROFILE = {"default_cabin": "first", "default_passengers": 3, "currency": "CHF", "home_airport": "GVA"}
OTHERS = {"default_cabin": "economy", "default_passengers": 5, "currency": "JPY", "home_airport": "ZRH"}
PERSONAL = re.compile(r"cabin(_class)?|passengers|travellers|adults|guests|origin|home_airport|(.+_)?currency")
OWN_MEANING = {
    ("add_card", "bonus_currency"): "what a bonus is paid in, mostly points",
    ("add_flight_booking", "passengers"): "what was booked is not guessed",
    ("calculate_flight_earnings", "fare_currency"): "a programme counts its own currency",
    ("calculate_flight_earnings", "cabin"): "it has a cabin called premium",
    ("get_spending_summary", "currency"): "that of most purchases",
    ("import_spending_statement", "currency"): "the statement, the layout and the card say it before the profile does",
    ("log_lounge_visit", "guests"): "who came along to a lounge is no party that travels",
}
VS = {"airline": "VS", "program": "virgin-atlantic-flying-club"}


def list_personal(tool: Tool) -> list[str]:
    """The optional parameters that a profile could fill, of tools that change no row and state no plain facts."""
    if tool.static or tool.effect in (Effect.CHANGES, Effect.REPLACES):
        return []
    optional = tool.arguments.schema["properties"].keys() - set(tool.arguments.required)
    return sorted(name for name in optional if PERSONAL.fullmatch(name))


FILLED = [
    (tool, name)
    for tool in TOOLS.values()
    for name in list_personal(tool)
    if (tool.name, name) not in OWN_MEANING or name == "cabin"
]


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Callable[[Tool], dict[str, Any]]:
    """Replaces the body of a tool by one that keeps what it is called with."""

    def watch(tool: Tool) -> dict[str, Any]:
        given: dict[str, Any] = {}

        def note(_call: Any, **arguments: Any) -> Any:
            given.clear()
            given.update(arguments)
            raise NoData("Nothing is looked for.", missing=[])

        async def note_live(call: Any, **arguments: Any) -> Any:
            note(call, **arguments)

        body = note_live if inspect.iscoroutinefunction(tool.function) else note
        monkeypatch.setitem(TOOLS, tool.name, dataclasses.replace(tool, function=body))
        return given

    return watch


def test_each_parameter_that_a_profile_could_fill_is_filled_or_has_a_reason() -> None:
    personal = {(tool.name, name) for tool in TOOLS.values() for name in list_personal(tool)}
    filled = {(tool.name, name) for tool in TOOLS.values() if tool.knows_person for name in tool.arguments.settings}
    assert personal - filled - OWN_MEANING.keys() == set()
    assert OWN_MEANING.keys() <= personal
    assert len(FILLED) > 20


@pytest.mark.parametrize("name", sorted({tool.name for tool, _ in FILLED}))
def test_a_tool_takes_from_the_profile_what_is_left_out_and_says_so(
    people: People, use: Use, received: Callable[[Tool], dict[str, Any]], name: str
) -> None:
    tool, personal = TOOLS[name], [parameter for tool, parameter in FILLED if tool.name == name]
    given = received(tool)
    use(people.paula, name, **sample_arguments(tool))
    expected = {
        parameter: known if known in tool.arguments.schema["properties"][parameter].get("enum", (known,)) else before
        for parameter, before in given.items()
        if parameter in personal and (known := PROFILE[SETTINGS[parameter]])
    }
    use(people.paula, UPDATE, **PROFILE)
    message = use(people.paula, name, **sample_arguments(tool))["message"]
    assert {parameter: given[parameter] for parameter in personal} == expected
    assert "as your profile says" in message or not tool.reads
    sent = {parameter: OTHERS[SETTINGS[parameter]] for parameter in personal}
    message = use(people.paula, name, **sample_arguments(tool) | sent)["message"]
    assert {parameter: given[parameter] for parameter in personal} == sent
    assert "as your profile says" not in message


def test_a_change_leaves_as_it_is_what_a_call_leaves_out(
    people: People, use: Use, received: Callable[[Tool], dict[str, Any]]
) -> None:
    use(people.paula, UPDATE, **PROFILE)
    for tool in [tool for tool in TOOLS.values() if tool.effect is Effect.CHANGES and tool.tier is not Tier.ADMIN]:
        given = received(tool)
        use(people.paula, tool.name, **sample_arguments(tool))
        assert all(given.get(name) is None for name in SETTINGS if name not in tool.arguments.required), tool.name


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def test_a_search_is_made_as_the_profile_says_and_says_so(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day(), points=50_000), seat(travel_day(), **VS, points=60_000)))
    use(people.alice, UPDATE, default_cabin="business", default_passengers=2, avoided_airlines=["British Airways"])
    route = {"origin": "LHR", "destination": "JFK", "date": travel_day().isoformat()}
    answer = use(people.alice, "search_all_airlines", **route)
    assert (answer["asked"]["cabins"], answer["asked"]["passengers"]) == (["business"], 2)
    assert [o["airline"] for o in answer["options"]] == ["VS"]
    assert "In business for 2, as your profile says." in answer["message"]
    assert "1 offer of British Airways left out, as your profile says." in answer["message"]
    named = use(people.alice, "search_all_airlines", **route, airlines=["BA", "VS"])
    assert sorted(o["airline"] for o in named["options"]) == ["BA", "VS"]


def test_a_usual_cabin_that_the_plan_does_not_search_refuses_no_search(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one", seat(travel_day(), cabin="economy", points=50_000)))
    use(people.bob, UPDATE, default_cabin="business")
    route = {"origin": "LHR", "destination": "JFK", "date": travel_day().isoformat()}
    answer = use(people.bob, "search_all_airlines", **route)
    assert (answer["status"], answer["asked"]["cabins"]) == ("ok", ["economy"])
    assert "Your usual cabin, business, needs Premium." in answer["message"]
    assert use(people.bob, "search_all_airlines", **route, cabin="business")["status"] == "paywall"


def test_preferred_airlines_come_first_among_equals(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day(), points=50_000), seat(travel_day(), **VS, points=50_000)))
    route = {"origin": "LHR", "destination": "JFK", "date": travel_day().isoformat(), "cabin": "business"}
    for first in ("VS", "BA"):
        use(people.alice, UPDATE, preferred_airlines=[first])
        answer = use(people.alice, "search_all_airlines", **route)
        assert answer["options"][0]["airline"] == first


@pytest.mark.slow
def test_airlines_to_avoid_leave_every_answer_with_offers(people: People, use: Use, with_sources: WithSources) -> None:
    day = {"date": travel_day().isoformat()}
    days = {"earliest_date": day["date"], "latest_date": day["date"]}
    offers = [seat(travel_day(), cabin="economy", points=10_000), seat(travel_day(), **VS, cabin="economy")]
    with_sources(
        selling("one", *offers), fares_of("shop", fare("400", carriers=("BA",)), fare("500", carriers=("VS",)))
    )
    use(people.alice, "update_points_balance", program="british-airways-club", balance=90_000)
    use(people.alice, "search_all_airlines", origin="LHR", destination="JFK", **day, cabin="economy")
    use(people.alice, UPDATE, avoided_airlines=["BA"])
    route = {"origin": "LHR", "destination": "JFK"}
    month = {"month_from": day["date"][:7], "month_to": day["date"][:7]}
    for name, arguments in {
        "plan_trip": route | days,
        "search_cash_flights": route | day,
        "compare_cash_vs_points": route | day,
        "search_hybrid": route | day | {"cabin": "economy", "hubs": ["DUB"]},
        "list_flights": route,
        "explore_destinations": {"origin": "LHR"} | month,
        "get_partner_award_options": route,
    }.items():
        message = use(people.alice, name, **arguments)["message"]
        assert re.search(r"\d+ offers? of British Airways left out, as your profile says\.", message), (name, message)
