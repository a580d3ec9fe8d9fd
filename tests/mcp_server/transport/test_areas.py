"""The narrowed list: /mcp?areas=cards,search lists less and forbids nothing."""

import pytest

from mcp_server.toolkit.registry import TOOLS
from tests.mcp_server.conftest import World, bearer
from tests.mcp_server.transport.test_streamable_http import MODERN, asked, call
from tests.support.people import People

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def names(world: World, people: People, query: str, revision: str = "2025-06-18") -> list[str]:
    body, headers = asked("tools/list", revision)
    answer = world.http.post(f"{world.url}{query}", json=body, headers=bearer(world.token(people.alice)) | headers)
    assert answer.status_code == 200, answer.text
    return [tool["name"] for tool in answer.json()["result"]["tools"]]


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
def test_areas_narrow_the_list(world: World, people: People, revision: str) -> None:
    wanted = sorted(n for n, t in TOOLS.items() if t.area in ("cards", "search"))
    assert 0 < len(wanted) < len(TOOLS)
    for query in (
        "?areas=cards,search",
        "?areas=search,%20cards,",
        "?areas=cards&areas=search",
        "?x=1&areas=cards,search",
    ):
        assert names(world, people, query, revision) == wanted


@pytest.mark.spec("s4.2.list_complete")
@pytest.mark.parametrize("query", ["", "?", "?areas=", "?areas=,", "?other=1"])
def test_without_areas_the_list_is_whole(world: World, people: People, query: str) -> None:
    assert names(world, people, query) == sorted(TOOLS)


@pytest.mark.parametrize("query", ["?areas=nonsense", "?areas=cards,nonsense", "?areas=Cards", "?areas=%ff%00"])
def test_unknown_area_is_400_that_lists_the_known_ones(world: World, people: People, query: str) -> None:
    answer = world.http.post(f"{world.url}{query}", json=LIST, headers=bearer(world.token(people.alice)))
    assert answer.status_code == 400
    assert answer.json()["error"]["data"]["areas"] == ["admin", "cards", "search", "trips"]
    assert "cards" in answer.json()["error"]["message"]


def test_tools_of_other_areas_can_still_be_called(world: World, people: People) -> None:
    body = LIST | {"method": "tools/call", "params": call("say_words", text="x")}
    answer = world.http.post(f"{world.url}?areas=cards", json=body, headers=bearer(world.token(people.alice)))
    assert answer.json()["result"]["structuredContent"]["status"] == "ok"


def test_query_is_no_part_of_the_resource(world: World) -> None:
    answer = world.http.post(f"{world.url}?areas=cards", json=LIST)
    assert answer.status_code == 401
    assert 'oauth-protected-resource/mcp"' in answer.headers["www-authenticate"]


def test_without_a_token_unknown_areas_are_401_like_everything(world: World) -> None:
    assert world.http.post(f"{world.url}?areas=nonsense", json=LIST).status_code == 401
