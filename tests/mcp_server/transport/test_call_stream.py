"""Questions on the stream of a call that waits: sessions, answers of others, clients that go away or never answer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import anyio
import httpx
import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Caller, LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport import call_stream, person_answers
from mcp_server.transport.open_questions import MAX_OPEN, open_question
from mcp_server.transport.person_answers import PersonAnswers
from shared.db.base import engine
from shared.errors import ConfirmationRequired
from shared.redis import connect, key
from tests.mcp_server.conftest import World, bearer
from tests.mcp_server.probes import Words
from tests.mcp_server.transport.test_revocation_events import until
from tests.support.noted_calls import list_notes
from tests.support.people import People
from tests.support.service import wait_for

CATALOGUE = dict(TOOLS)  # before the tools of the tests replace it
TWO_KINDS = "application/json, text/event-stream"
FORMS: dict[str, Any] = {"elicitation": {}}
YES = {"action": "accept", "content": {"answer": True}}
PLATINUM = {"card": "Platinum", "country": "US"}  # several cards are called so


async def wipe_all(call: LiveCall, confirm: bool = False) -> Words:
    """Wipe everything. Free."""
    if not confirm:
        raise ConfirmationRequired("Ask, then confirm.", "Wipe everything?")
    return Words(message="Wiped.", words=[], nothing=None)


@pytest.fixture(autouse=True)
def probe(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(USAGE_LOG, "flush", lambda: None)
    with patch.dict(TOOLS, {"add_card": CATALOGUE["add_card"]}):
        tool(area="search", tier=Tier.FREE, effect=Effect.REPLACES)(wipe_all)
        yield


class Session:
    """A client of a revision before 2026-07-28, byte by byte."""

    def __init__(
        self, world: World, caller: Caller, capabilities: dict[str, Any], revision: str = "2025-11-25"
    ) -> None:
        self.world, self.headers = world, bearer(world.token(caller)) | {"Accept": TWO_KINDS}
        client = {
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "c", "version": "1"},
        }
        response = self.post({"id": 0, "method": "initialize", "params": client})
        self.id = response.headers.get("mcp-session-id")
        self.headers |= {"MCP-Protocol-Version": revision} | ({"Mcp-Session-Id": self.id} if self.id else {})

    def post(self, message: dict[str, Any]) -> httpx.Response:
        return self.world.http.post(self.world.url, json={"jsonrpc": "2.0", **message}, headers=self.headers)

    @contextmanager
    def call(self, name: str, arguments: dict[str, Any], **params: Any) -> Iterator[Iterator[dict[str, Any]]]:
        """The messages of the answer as they come."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        params = {"name": name, "arguments": arguments, **params}
        with (
            httpx.Client(trust_env=False, timeout=90) as http,
            http.stream("POST", self.world.url, json=body | {"params": params}, headers=self.headers) as response,
        ):
            yield (json.loads(line.removeprefix("data:")) for line in response.iter_lines() if line[:1] in ("d", "{"))

    def answer(self, question: dict[str, Any], result: Any = None) -> int:
        return self.post({"id": question["id"], "result": result or YES}).status_code


def count_open(caller: Caller) -> int:
    return int(connect().zcard(key("questions", str(caller.account_id))))  # type: ignore[arg-type]


def count_listeners() -> int:
    return int(connect().pubsub_numsub(person_answers._name_channel())[0][1])  # type: ignore[index]


def outcomes() -> list[str]:
    return [note.outcome for note in list_notes() if note.tool == "wipe_all"]


def test_only_who_declares_forms_gets_a_session(world: World, people: People) -> None:
    assert Session(world, people.bob, FORMS).id
    assert Session(world, people.bob, {"elicitation": {"form": {}, "url": {}}}).id
    assert Session(world, people.bob, {"elicitation": {"url": {}}}).id is None
    assert Session(world, people.bob, {}).id is None


@pytest.mark.parametrize("session", ["forged", "foreign", "invented", "none"])
def test_a_session_that_is_not_the_callers_asks_nobody(world: World, people: People, session: str) -> None:
    client = Session(world, people.bob, FORMS)
    assert client.id
    ids = {"forged": client.id[:-1] + ("0" if client.id[-1] != "0" else "1"), "invented": "forms.a.b"}
    ids |= {"foreign": Session(world, people.alice, FORMS).id or "", "none": ""}
    client.headers["Mcp-Session-Id"] = ids[session]
    response = client.post({"id": 1, "method": "tools/call", "params": {"name": "wipe_all", "arguments": {}}})
    assert response.headers["content-type"] == "application/json"
    assert response.json()["result"]["structuredContent"]["status"] == "confirmation_required"


def test_a_call_that_asks_nothing_is_answered_in_one_piece(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    params = {"name": "wipe_all", "arguments": {"confirm": True}}
    response = client.post({"id": 1, "method": "tools/call", "params": params})
    assert response.headers["content-type"] == "application/json"
    assert response.json()["result"]["structuredContent"]["message"] == "Wiped."


def test_who_reads_no_streams_is_not_asked(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    client.headers["Accept"] = "application/json"
    response = client.post({"id": 1, "method": "tools/call", "params": {"name": "wipe_all", "arguments": {}}})
    assert response.json()["result"]["structuredContent"]["status"] == "confirmation_required"


def test_nothing_is_held_while_a_person_is_waited_for(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    with client.call("add_card", PLATINUM) as messages:
        question = next(messages)
        assert question["method"] == "elicitation/create"
        # The server looks after itself each second, for a moment; what a question held would stay until its answer.
        wait_for("no thread and no connection", lambda: limiter().borrowed_tokens == engine().pool.checkedout() == 0)
        assert client.answer(question, {"action": "accept", "content": {"answer": "us-amex-platinum"}}) == 202
        assert next(messages)["result"]["structuredContent"]["status"] == "ok"
    assert count_open(people.bob) == 0


@pytest.mark.parametrize(("revision", "field"), [("2025-11-25", "oneOf"), ("2025-06-18", "enumNames")])
def test_choices_are_written_as_the_revision_writes_them(
    world: World, people: People, revision: str, field: str
) -> None:
    with Session(world, people.bob, FORMS, revision).call("add_card", PLATINUM) as messages:
        form = next(messages)["params"]["requestedSchema"]
    assert form["properties"]["answer"].keys() - {"type", "title", "enum"} == {field}


def test_an_answer_of_another_account_or_a_second_one_is_refused(world: World, people: People) -> None:
    client, stranger = Session(world, people.bob, FORMS), Session(world, people.alice, FORMS)
    with client.call("wipe_all", {}) as messages:
        question = next(messages)
        assert stranger.answer(question) == 400
        assert client.answer({"id": "invented"}) == client.answer({"id": 7}) == 400
        assert client.answer(question) == 202
        assert client.answer(question) == 400
        assert next(messages)["result"]["structuredContent"]["message"] == "Wiped."
    assert outcomes() == ["ok"]


@pytest.mark.parametrize("answer", [{"error": {"code": -1, "message": "no"}}, {"result": {"action": "often"}}])
def test_an_error_or_nonsense_is_no_answer(world: World, people: People, answer: dict[str, Any]) -> None:
    client = Session(world, people.bob, FORMS)
    with client.call("wipe_all", {}) as messages:
        assert client.post({"id": next(messages)["id"], **answer}).status_code == 202
        assert next(messages)["result"]["structuredContent"]["message"] == "Ask, then confirm."


def test_an_answer_beyond_all_measure_is_refused(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    with client.call("wipe_all", {}) as messages:
        question = next(messages)
        assert client.answer(question, {"action": "accept", "content": {"answer": "x" * 20_000}}) == 400
        assert client.answer(question) == 202


def test_who_never_answers_is_not_waited_for_for_ever(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_stream, "QUESTION_SECONDS", 0.05)
    client = Session(world, people.bob, FORMS)
    with client.call("wipe_all", {}) as messages:
        question, cancelled, answer = messages
    assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    assert answer["result"]["structuredContent"]["message"] == "Ask, then confirm."
    assert client.answer(question) == 400
    assert count_open(people.bob) == 0


def test_a_stream_that_waits_is_kept_alive(world: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_stream, "PING_SECONDS", 0.02)
    client = Session(world, people.bob, FORMS)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wipe_all", "arguments": {}}}
    with (
        httpx.Client(trust_env=False, timeout=90) as http,
        http.stream("POST", world.url, json=body, headers=client.headers) as response,
    ):
        lines = response.iter_lines()
        assert next(line for line in lines if line.startswith(":")) == ": ping"


def test_a_client_that_goes_away_frees_its_question(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    with client.call("wipe_all", {}) as messages:
        question = next(messages)
        assert count_open(people.bob) == 1
    assert until(lambda: count_open(people.bob) == 0)
    assert until(lambda: outcomes() == ["cancelled"])
    assert client.answer(question) == 400


def test_few_questions_of_an_account_are_open_at_once(world: World, people: People) -> None:
    async def fill() -> None:
        for _ in range(MAX_OPEN):
            await open_question(people.bob.account_id)

    anyio.run(fill)
    for caller, message in ((people.bob, "confirmation_required"), (people.alice, None)):
        with Session(world, caller, FORMS).call("wipe_all", {}) as messages:
            assert next(messages).get("result", {}).get("structuredContent", {}).get("status") == message


def test_a_process_that_waits_for_many_asks_no_more(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person_answers, "MAX_WAITING", 0)
    with Session(world, people.bob, FORMS).call("wipe_all", {}) as messages:
        assert next(messages)["result"]["structuredContent"]["status"] == "confirmation_required"


def test_nobody_is_asked_while_redis_is_away(world: World, people: People) -> None:
    with (
        patch("mcp_server.transport.open_questions.call_redis", return_value=None),
        Session(world, people.bob, FORMS).call("wipe_all", {}) as messages,
    ):
        assert next(messages)["result"]["structuredContent"]["status"] == "confirmation_required"


def test_an_answer_reaches_the_process_that_asked(people: People, clean: None) -> None:
    asking, receiving = PersonAnswers(), PersonAnswers()

    async def relay() -> Any:
        async with anyio.create_task_group() as tasks:
            before = count_listeners()
            tasks.start_soon(asking.follow_others)
            with anyio.fail_after(8):
                while count_listeners() == before:
                    await anyio.sleep(0.01)
            question_id = await open_question(people.bob.account_id)
            assert question_id
            with asking.expect(question_id) as answer, anyio.fail_after(8):
                assert await receiving.take(people.bob.account_id, {"id": question_id, "result": YES})
                result = await answer.wait()
            tasks.cancel_scope.cancel()
        return result

    assert anyio.run(relay) == YES


def test_progress_is_told_on_the_same_stream(world: World, people: People) -> None:
    client = Session(world, people.bob, FORMS)
    with client.call("tell_progress", {}, _meta={"progressToken": "p"}) as messages:
        *parts, answer = messages
    assert [part["params"] for part in parts] == [
        {"progressToken": "p", "progress": 1, "total": 2, "message": "part 1"},
        {"progressToken": "p", "progress": 2, "total": 2, "message": "part 2"},
    ]
    assert answer["result"]["structuredContent"] == {"status": "ok"}
