"""Questions to the person during a call: how the official client puts them, what their answers do, who abuses them."""

import base64
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS, CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult
from sqlalchemy import select

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.transport import elicitation
from mcp_server.transport.open_questions import MAX_OPEN, MAX_SECONDS
from shared import clock
from shared.db.base import transaction
from shared.db.cards import Card
from shared.db.trips import SearchRecord
from shared.db.usage import SEARCHES, count_used
from shared.errors import Ambiguity, Candidates, Choice
from tests.mcp_server.conftest import World
from tests.mcp_server.probes import Words
from tests.mcp_server.transport.test_sdk_server import Mode
from tests.support.noted_calls import list_notes
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

CATALOGUE = dict(TOOLS)  # before the tools of the tests replace it
ASKING: list[Mode] = ["legacy", "2026-07-28"]
PLATINUM = {"card": "Platinum", "country": "US"}
Ask = Callable[[Any, ElicitRequestParams], Awaitable[ElicitResult]]


def choose_word(call: Call, first: str, second: str) -> Words:
    """Choose words. Free."""
    for text in (first, second):
        if text.startswith("loose"):
            choices = [Choice(f"{text[-1]}{n}", f"Word {n}") for n in (1, 2)]
            raise Candidates(f"{text} can mean 2 words.", ["1", "2"], Ambiguity("word", text, choices))
    return Words(message="Chosen.", words=[first, second], nothing=None)


@pytest.fixture(autouse=True)
def probe(world: World) -> Iterator[None]:
    names = ("add_card", "reset_calendar_feed", "get_calendar_feed", "delete_spending_data")
    with patch.dict(TOOLS, {name: CATALOGUE[name] for name in names}):
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, meter="search")(choose_word)
        yield


class Answering:
    """A person who gives one answer after the other, and what they were shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.forms = list(answers), list[Any]()

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.forms.append(params)
        answer = self.answers.pop(0)
        if answer in ("decline", "cancel"):
            return ElicitResult(action=answer)
        return ElicitResult(action="accept", content={elicitation.FIELD: answer})


async def call_as(
    world: World, caller: Caller, mode: Mode, person: Ask | None, name: str, arguments: dict[str, Any], **round: Any
) -> CallToolResult | InputRequiredResult | MCPError:
    """One call of the official client; with a `round` its own driver does not go on with a question."""
    headers = {"Authorization": f"Bearer {world.token(caller, **round.pop('token', {}))}"}
    path = round.pop("path", "")
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=90) as http:
        transport = streamable_http_client(world.url + path, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=person) as connected:
            if not round:
                return await connected.call_tool(name, arguments)
            try:
                return await connected.session.call_tool(name, arguments, allow_input_required=True, **round)
            except MCPError as refused:
                return refused


def ask(world: World, caller: Caller, mode: Mode, person: Ask | None, name: str, **arguments: Any) -> Any:
    answer = anyio.run(call_as, world, caller, mode, person, name, arguments)
    assert isinstance(answer, CallToolResult)
    return answer.structured_content


def begin(world: World, caller: Caller, name: str, **arguments: Any) -> InputRequiredResult:
    """The first round of a call whose client keeps the question to itself."""

    async def first() -> Any:
        return await call_as(world, caller, "2026-07-28", Answering(), name, arguments, input_responses=None)

    question = anyio.run(first)
    assert isinstance(question, InputRequiredResult)
    return question


def go_on(world: World, caller: Caller, state: str | None, answer: Any, name: str, /, **more: Any) -> Any:
    """The second round, as a hostile client may send it."""
    arguments = more.pop("arguments", {})
    reply = answer if isinstance(answer, ElicitResult) else ElicitResult(action="accept", content={"answer": answer})

    async def second() -> Any:
        rounds = {"input_responses": {elicitation.FIELD: reply}, "request_state": state}
        return await call_as(world, caller, "2026-07-28", Answering(), name, arguments, **rounds, **more)

    answered = anyio.run(second)
    return answered.structured_content if isinstance(answered, CallToolResult) else answered


def read_link(world: World, caller: Caller) -> str:
    return str(world.call(caller, "get_calendar_feed")["structuredContent"]["url"])


def list_outcomes(name: str) -> list[str]:
    return [note.outcome for note in list_notes() if note.tool == name]


@pytest.fixture(autouse=True)
def unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was noted stays in memory, where the test looks."""
    monkeypatch.setattr(USAGE_LOG, "flush", lambda: None)


@pytest.mark.parametrize("mode", ASKING)
def test_a_confirmation_is_asked_in_place_and_done_once(world: World, people: People, mode: Mode) -> None:
    old, person = read_link(world, people.bob), Answering(True)
    answer = ask(world, people.bob, mode, person, "reset_calendar_feed")
    assert answer["status"] == "ok"
    assert answer["url"] == read_link(world, people.bob) != old
    assert list_outcomes("reset_calendar_feed") == ["ok"]
    [form] = person.forms
    assert form.message == "Calendars that use your present link will no longer be updated. Replace the link?"
    assert form.requested_schema["properties"][elicitation.FIELD]["type"] == "boolean"
    assert form.requested_schema["required"] == [elicitation.FIELD]


@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("no", ["decline", False])
def test_who_says_no_changes_nothing_and_is_not_asked_again(world: World, people: People, mode: Mode, no: Any) -> None:
    old = read_link(world, people.bob)
    answer = ask(world, people.bob, mode, Answering(no), "reset_calendar_feed")
    assert answer["message"] == "The user was asked and said no, so nothing was changed."
    assert (answer["status"], answer["would_change"]) == ("confirmation_required", {"calendar_link": "replaced"})
    assert read_link(world, people.bob) == old
    assert list_outcomes("reset_calendar_feed") == ["confirmation_required"]


@pytest.mark.parametrize("mode", ASKING)
def test_who_does_not_answer_gets_the_answer_of_who_cannot_be_asked(world: World, people: People, mode: Mode) -> None:
    old = read_link(world, people.bob)
    unasked = ask(world, people.bob, mode, None, "reset_calendar_feed")
    assert "send confirm true" in unasked["message"]
    assert ask(world, people.bob, mode, Answering("cancel"), "reset_calendar_feed") == unasked
    assert ask(world, people.bob, mode, Answering("yes"), "reset_calendar_feed") == unasked
    assert read_link(world, people.bob) == old
    assert list_outcomes("reset_calendar_feed") == ["confirmation_required"] * 3


@pytest.mark.parametrize("mode", ASKING)
def test_what_is_confirmed_by_the_model_is_asked_nobody(world: World, people: People, mode: Mode) -> None:
    person = Answering()
    assert ask(world, people.bob, mode, person, "reset_calendar_feed", confirm=True)["status"] == "ok"
    assert ask(world, people.bob, mode, person, "delete_spending_data", confirm=True)["status"] == "ok"
    assert person.forms == []


@pytest.mark.parametrize("mode", ASKING)
def test_the_person_sees_what_would_be_deleted(world: World, people: People, mode: Mode) -> None:
    person = Answering(True)
    assert ask(world, people.bob, mode, person, "delete_spending_data")["status"] == "ok"
    assert person.forms[0].message.startswith("This deletes 0 statements with the totals of 0 months for good")


@pytest.mark.parametrize("mode", ASKING)
def test_a_name_that_can_mean_several_is_chosen_in_place(world: World, people: People, mode: Mode) -> None:
    unasked = ask(world, people.bob, mode, None, "add_card", **PLATINUM)
    assert unasked["status"] == "candidates"
    second = unasked["candidates"][1]
    person = Answering(second["slug"])
    answer = ask(world, people.bob, mode, person, "add_card", **PLATINUM)
    assert (answer["status"], answer["card"]["slug"]) == ("ok", second["slug"])
    with transaction(people.bob.account_id) as session:
        assert session.scalars(select(Card.slug)).all() == [second["slug"]]
    assert list_outcomes("add_card") == ["candidates", "ok"]
    [form] = person.forms
    assert form.message == "Which card is meant by “Platinum”?"
    offered = form.requested_schema["properties"][elicitation.FIELD]["oneOf"]
    assert [choice["const"] for choice in offered] == [c["slug"] for c in unasked["candidates"]]
    assert offered[1]["title"] == f"{second['name']} ({second['issuer']}, US)"


@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("answer", ["an-invented-card", 1, True, ""])
def test_an_answer_outside_the_choices_stores_nothing(world: World, people: People, mode: Mode, answer: Any) -> None:
    assert ask(world, people.bob, mode, Answering(answer), "add_card", **PLATINUM)["status"] == "candidates"
    with transaction(people.bob.account_id) as session:
        assert session.scalars(select(Card.id)).all() == []


@pytest.mark.parametrize("mode", ASKING)
def test_a_search_with_two_questions_counts_once(world: World, people: People, mode: Mode) -> None:
    person = Answering("a2", "b1")
    answer = ask(world, people.bob, mode, person, "choose_word", first="loose a", second="loose b")
    assert answer["words"] == ["a2", "b1"]
    assert len(person.forms) == 2
    assert list_outcomes("choose_word") == ["ok"]
    with transaction(people.bob.account_id) as session:
        assert count_used(session, people.bob.account_id, SEARCHES, clock.today()) == 1
        [record] = session.scalars(select(SearchRecord)).all()
    assert (record.arguments, record.outcome) == ({"first": "a2", "second": "b1"}, "ok")


@pytest.mark.parametrize("mode", ASKING)
def test_a_choice_that_belongs_to_two_arguments_is_left_to_the_model(world: World, people: People, mode: Mode) -> None:
    person = Answering()
    answer = ask(world, people.bob, mode, person, "choose_word", first="loose a", second="Loose A")
    assert (answer["status"], person.forms) == ("candidates", [])


def test_a_question_changes_and_counts_nothing_until_it_is_answered(world: World, people: People) -> None:
    begin(world, people.bob, "choose_word", first="loose a", second="b")
    with transaction(people.bob.account_id) as session:
        assert count_used(session, people.bob.account_id, SEARCHES, clock.today()) == 0
        assert session.scalars(select(SearchRecord)).all() == []
    assert list_outcomes("choose_word") == []


def test_an_answer_counts_once_however_often_it_is_sent(world: World, people: People) -> None:
    state = begin(world, people.bob, "reset_calendar_feed").request_state
    first = go_on(world, people.bob, state, True, "reset_calendar_feed")
    again = go_on(world, people.bob, state, True, "reset_calendar_feed")
    assert (first["status"], again["status"]) == ("ok", "confirmation_required")
    assert read_link(world, people.bob) == first["url"]


def test_an_answer_that_comes_too_late_is_none(world: World, people: People, standing_clock: StandingClock) -> None:
    state = begin(world, people.bob, "reset_calendar_feed").request_state
    standing_clock.advance(timedelta(seconds=MAX_SECONDS + 1))
    assert go_on(world, people.bob, state, True, "reset_calendar_feed")["status"] == "confirmation_required"


def test_few_questions_of_an_account_are_open_at_once(world: World, people: People) -> None:
    states = [begin(world, people.bob, "reset_calendar_feed").request_state for _ in range(MAX_OPEN)]
    assert ask(world, people.bob, "2026-07-28", Answering(), "reset_calendar_feed")["status"] == "confirmation_required"
    begin(world, people.alice, "reset_calendar_feed")
    assert go_on(world, people.bob, states[0], True, "reset_calendar_feed")["status"] == "ok"
    begin(world, people.bob, "reset_calendar_feed")


def forge(state: str) -> str:
    middle = len(state) // 2
    return state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]


@pytest.mark.parametrize("hostile", ["forged", "invented", "arguments", "tool", "account", "application", "address"])
def test_a_state_serves_only_the_call_it_was_made_for(world: World, people: People, hostile: str) -> None:
    state = begin(world, people.bob, "choose_word", first="loose a", second="b").request_state
    assert state is not None
    caller, name, more = people.bob, "choose_word", {"arguments": {"first": "loose a", "second": "b"}}
    match hostile:
        case "forged":
            state = forge(state)
        case "invented":
            state = '{"id": "", "asked": null, "replies": {}}'
        case "arguments":
            more["arguments"] = {"first": "loose a", "second": "c"}
        case "tool":
            name = "say_words"
        case "account":
            caller = people.alice
        case "application":
            more["token"] = {"client_id": "client-2"}
        case "address":
            more["path"] = "/readonly"
    refused = go_on(world, caller, state, "a1", name, **more)
    assert isinstance(refused, MCPError)
    assert (refused.code, refused.message) == (INVALID_PARAMS, "Invalid or expired requestState")
    assert list_outcomes(name) == []


def test_a_state_tells_its_bearer_nothing(world: World, people: People) -> None:
    state = begin(world, people.bob, "choose_word", first="loose a", second="b").request_state
    assert state is not None
    assert b"replies" not in base64.urlsafe_b64decode(state.removeprefix("v1.") + "===")


def test_every_process_of_the_service_opens_the_states_of_all(world: World) -> None:
    one, other = elicitation.secure_states(), elicitation.secure_states()
    assert other.codec.unseal(one.codec.seal(b"a state")) == b"a state"


def test_a_question_that_changed_is_asked_anew(world: World, people: People) -> None:
    """What the person agreed to is what they read."""
    state = begin(world, people.bob, "delete_spending_data").request_state
    with patch("mcp_server.tools.spending.pluralize", lambda number, noun: f"{number + 7} {noun}s"):
        anew = go_on(world, people.bob, state, True, "delete_spending_data")
    assert isinstance(anew, InputRequiredResult)
    assert "7 statements" in anew.model_dump_json()


@pytest.mark.parametrize("mode", ASKING)
def test_a_tool_inside_a_call_of_the_lean_address_asks_too(world: World, people: People, mode: Mode) -> None:
    old, person = read_link(world, people.bob), Answering(True)
    inner = {"name": "reset_calendar_feed", "arguments": {}}

    async def session() -> Any:
        headers = {"Authorization": f"Bearer {world.token(people.bob)}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=90) as http:
            transport = streamable_http_client(f"{world.url}/lean", http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=person) as connected:
                return await connected.call_tool("call_write_tool", inner)

    assert anyio.run(session).structured_content["status"] == "ok"
    assert (len(person.forms), read_link(world, people.bob) != old) == (1, True)
    assert list_outcomes("reset_calendar_feed") == ["ok"]
