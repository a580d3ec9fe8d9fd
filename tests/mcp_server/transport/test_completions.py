"""Completion of prompt arguments over the wire: known places and programmes, own trips only, bounded."""

from typing import Any

import anyio
import pytest
from mcp_types import PromptReference

from mcp_server.transport import sdk_server
from shared.db.base import transaction
from shared.db.trips import Trip
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_prompts import ask
from tests.mcp_server.transport.test_sdk_server import MODES, Mode, client
from tests.support.people import People


def complete(world: World, caller: Any, prompt: str, argument: str, value: str, path: str = "") -> dict[str, Any]:
    params = {"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": argument, "value": value}}
    return ask(world, caller, "completion/complete", params, path)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ["", "/readonly", "/x/traveller"])
def test_official_client_completes_an_airport_at_every_address(
    world: World, people: People, mode: Mode, path: str
) -> None:
    token = world.token(people.bob)

    async def session() -> Any:
        async with client(world, token, mode, path) as connected:
            ref = PromptReference(type="ref/prompt", name="family-trip")
            return await connected.complete(ref, {"name": "origin", "value": "heathr"})

    completion = anyio.run(session).completion
    assert completion.values == ["LHR (London Heathrow Airport, London, GB)"]
    assert (completion.total, completion.has_more) == (1, False)


def test_programmes_complete_by_any_word_of_their_name(world: World, people: People) -> None:
    answer = complete(world, people.bob, "use-a-transfer-bonus", "target_program", "hyatt")
    assert answer["result"]["completion"]["values"] == ["World of Hyatt"]


def test_trips_are_the_callers_own_and_active(world: World, people: People) -> None:
    with transaction(people.alice.account_id) as session:
        session.add_all([Trip(name="Kyoto in spring"), Trip(name="Osaka and Kyoto"), Trip(name="Rome")])
    answer = complete(world, people.alice, "before-departure", "trip", "kyo")["result"]["completion"]
    assert [value.partition(" (trip ")[0] for value in answer["values"]] == ["Osaka and Kyoto", "Kyoto in spring"]
    assert len(complete(world, people.alice, "before-departure", "trip", "")["result"]["completion"]["values"]) == 3
    assert complete(world, people.charlie, "before-departure", "trip", "")["result"]["completion"]["values"] == []


def test_a_completion_is_bounded(world: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    many = complete(world, people.bob, "family-trip", "origin", "s")["result"]["completion"]
    assert len(many["values"]) == sdk_server.MAX_VALUES < many["total"]
    assert many["hasMore"] is True
    long = complete(world, people.bob, "family-trip", "origin", "s" * 101)["result"]["completion"]
    assert long == {"values": [], "total": 0, "hasMore": False}
    free = complete(world, people.bob, "family-trip", "dates", "Ju")["result"]["completion"]
    assert free["values"] == []
    monkeypatch.setattr(sdk_server, "PER_MINUTE", 0)
    refused = complete(world, people.bob, "family-trip", "origin", "s")["error"]
    assert "Try again in" in refused["message"]


@pytest.mark.parametrize(("prompt", "argument"), [("no-such", "origin"), ("family-trip", "nothing")])
def test_what_no_prompt_takes_is_refused(world: World, people: People, prompt: str, argument: str) -> None:
    error = complete(world, people.bob, prompt, argument, "a")["error"]
    assert (error["code"], "prompts/list" in error["message"]) == (-32602, True)


def test_a_template_completes_nothing(world: World, people: People) -> None:
    params = {"ref": {"type": "ref/resource", "uri": "ui://x/{y}"}, "argument": {"name": "y", "value": "a"}}
    assert ask(world, people.bob, "completion/complete", params)["error"]["code"] == -32602
