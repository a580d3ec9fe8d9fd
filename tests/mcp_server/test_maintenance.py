"""Maintenance on the tool server: calls, REST, pages, mail by the hook, and the page of states."""

import json
from dataclasses import replace

import anyio
import pytest

from mcp_server.calls.dispatch import refuse_in_maintenance
from mcp_server.pages import status
from shared.errors import TemporarilyUnavailable
from shared.internal_api import PAGE_CALLS_PATH
from tests.mcp_server.conftest import World
from tests.support.maintenance import Maintain, maintain
from tests.support.people import People

__all__ = ["maintain"]
PERSON = {"accept": "text/html"}


def test_a_call_is_temporarily_unavailable_and_says_when_to_call_again(
    world: World, people: People, maintain: Maintain
) -> None:
    maintain("We move house.", minutes=10)
    for caller in (people.bob, people.ada):  # over MCP an administrator is one of all
        result = world.call(caller, "list_programs")
        data = result["structuredContent"]
        assert (result["isError"], data["status"], data["retry_after"]) == (True, "temporarily_unavailable", 600)
        assert data["message"].startswith("We move house. Expected until about")


def test_the_list_of_tools_and_the_documents_stay(world: World, people: People, maintain: Maintain) -> None:
    maintain()
    listing = world.post(people.bob, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert len(listing.json()["result"]["tools"]) > 0
    for path in ("/healthz", "/readyz", "/.well-known/oauth-protected-resource/mcp"):
        assert world.http.get(world.base + path).status_code == 200


def test_rest_the_hook_and_feeds_are_refused_with_a_problem_before_anything_is_read(
    world: World, maintain: Maintain
) -> None:
    maintain("We move house.")
    for method, path in (
        ("GET", "/api/v1/tools"),
        ("POST", "/api/v1/tools/list_programs"),
        ("POST", "/hooks/mail?to=a@b.test"),
        ("GET", "/feeds/x.ics"),
    ):
        answer = world.http.request(method, world.base + path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "60"), path
        assert (answer.json()["outcome"], answer.json()["detail"]) == ("temporarily_unavailable", "We move house.")


def test_a_person_reads_a_page(world: World, maintain: Maintain) -> None:
    maintain("We move <house>.")
    answer = world.http.get(f"{world.base}/tools", headers=PERSON | {"host": world.web_host})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert "We move &lt;house&gt;." in answer.text


def test_pages_of_an_administrator_are_answered_and_those_of_others_are_not(
    world: World, people: People, maintain: Maintain
) -> None:
    """Their calls come together to one address, which stays open, and each is judged by itself."""
    maintain()
    assert world.http.post(world.base + PAGE_CALLS_PATH, json={"calls": []}).status_code == 405  # it has no token
    refuse_in_maintenance(replace(people.ada, on_page=True))
    for caller in (people.ada, replace(people.bob, on_page=True)):
        with pytest.raises(TemporarilyUnavailable):
            refuse_in_maintenance(caller)


def test_the_page_of_states_says_so_first(world: World, maintain: Maintain) -> None:
    maintain("We move house.")
    page = status.StatusPage()
    document = json.loads(anyio.run(page._read).document)
    assert (document["state"], document["parts"][0]) == (
        "away",
        {"name": "Maintenance", "state": "away", "about": "We move house."},
    )
