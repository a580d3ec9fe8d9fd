"""The narrower addresses of the tool endpoint: what /mcp/readonly lists and runs, and which tokens are good where."""

from typing import Any

import httpx
import pytest

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from tests.mcp_server.conftest import World, bearer
from tests.mcp_server.transport.test_streamable_http import MODERN, asked
from tests.support.people import People

READONLY = "/readonly"
METADATA = "/.well-known/oauth-protected-resource/mcp/readonly"


def post(world: World, token: str, path: str = READONLY, body: Any = None, **headers: str) -> httpx.Response:
    list_tools, _ = asked("tools/list", "2025-06-18")
    return world.http.post(world.url + path, json=body or list_tools, headers=bearer(token) | headers)


def call(world: World, token: str, name: str, path: str = READONLY, /, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    answer = post(world, token, path, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return content


def narrow(world: World, caller: Caller, host: str = "") -> str:
    return world.token(caller, aud=(host or world.url.removesuffix("/mcp")) + "/mcp/readonly", read_only=True)


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
@pytest.mark.parametrize("path", [READONLY, READONLY + "/", READONLY + "?areas=search"])
def test_the_address_lists_the_tools_that_read(world: World, people: People, path: str, revision: str) -> None:
    body, headers = asked("tools/list", revision)
    answer = post(world, world.token(people.alice), path, body, **headers)
    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    reading = [name for name in sorted(TOOLS) if TOOLS[name].reads]
    assert 0 < len(reading) < len(TOOLS)
    assert names == [name for name in reading if "areas" not in path or TOOLS[name].area == "search"]


def test_the_whole_address_goes_on_listing_everything_to_those_who_may_only_read(world: World, people: People) -> None:
    answer = post(world, world.token(people.alice, read_only=True), "")
    assert len(answer.json()["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("token_for", ["whole", "narrow"])
def test_the_address_runs_what_reads_and_refuses_what_writes(world: World, people: People, token_for: str) -> None:
    token = narrow(world, people.alice) if token_for == "narrow" else world.token(people.alice)
    assert call(world, token, "say_words", text="a")["status"] == "ok"
    refused = call(world, token, "add_trip", name="Kyoto")
    assert refused["status"] == "invalid"
    assert "add_trip changes data, and this application may only read" in refused["message"]
    assert "Reading only" in refused["message"]


@pytest.mark.spec("s5.2.scope_covers_writes")
def test_a_token_of_the_whole_address_still_writes_there(world: World, people: People) -> None:
    token = world.token(people.alice)
    assert call(world, token, "add_trip", name="Kyoto")["status"] == "invalid"
    assert call(world, token, "add_trip", "", name="Kyoto")["status"] == "ok"


@pytest.mark.spec("s5.7.challenge")
def test_a_narrow_token_is_refused_at_the_whole_address(world: World, people: People) -> None:
    for aud in (f"{world.url}/readonly", f"http://{world.web_host}/mcp/readonly"):
        token = world.token(people.alice, aud=aud)
        for host in (world.base.removeprefix("http://"), world.web_host):
            assert post(world, token, READONLY, host=host).status_code == 200
            refused = post(world, token, "", host=host)
            assert refused.status_code == 401
            assert (
                f'resource_metadata="http://{host}/.well-known/oauth-protected-resource/mcp"'
                in (refused.headers["www-authenticate"])
            )


def test_one_good_audience_of_several_is_enough(world: World, people: People) -> None:
    token = world.token(people.alice, aud=["https://else.example/mcp", f"{world.url}/readonly"])
    assert [post(world, token, path).status_code for path in (READONLY, "")] == [200, 401]


@pytest.mark.parametrize(
    "aud", ["/readonly/", "/readonly/x", "/READONLY", "/x/none", "/x/vouchers,cards", "//readonly"]
)
def test_an_audience_that_is_no_address_of_ours_is_good_nowhere(world: World, people: People, aud: str) -> None:
    token = world.token(people.alice, aud=world.url + aud)
    assert [post(world, token, path).status_code for path in (READONLY, "")] == [401, 401]


def test_the_challenge_leads_to_metadata_whose_resource_is_the_address(world: World) -> None:
    for host in (world.base.removeprefix("http://"), world.web_host):
        refused = world.http.post(world.url + READONLY, json={}, headers={"Host": host})
        assert refused.status_code == 401
        assert f'resource_metadata="http://{host}{METADATA}"' in refused.headers["www-authenticate"]
        document = world.http.get(world.base + METADATA, headers={"Host": host}).json()
        assert document["resource"] == f"http://{host}/mcp/readonly"
        assert document["scopes_supported"] == ["mcp:read"]


@pytest.mark.parametrize(
    "path", ["/mcp/leaner", "/mcp/readonly/x", "/mcp/x/card", "/mcp/x/search,trips,alerts", "/mcpreadonly"]
)
def test_other_paths_below_the_endpoint_are_not_found(world: World, people: People, path: str) -> None:
    assert world.http.post(world.base + path, json={}, headers=bearer(world.token(people.alice))).status_code == 404
    assert world.http.get(f"{world.base}/.well-known/oauth-protected-resource{path}").status_code == 404


PARTS = ["/x/traveller", "/x/search,cards"]


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
def test_a_part_lists_its_tools_and_no_others(world: World, people: People, revision: str) -> None:
    body, headers = asked("tools/list", revision)
    answer = post(world, world.token(people.alice), "/x/search,cards", body, **headers)
    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    assert names == sorted(name for name in TOOLS if TOOLS[name].area in ("cards", "search"))


def test_a_part_runs_its_tools_and_no_others(world: World, people: People) -> None:
    for token in (world.token(people.alice), world.token(people.alice, aud=f"{world.url}/x/cards,search")):
        assert call(world, token, "say_words", "/x/search,cards", text="a")["status"] == "ok"
        refused = call(world, token, "add_trip", "/x/search,cards", name="Kyoto")
        assert refused["status"] == "invalid"
        assert "add_trip is not offered at /mcp/x/cards,search, which has the 23 tools of the" in refused["message"]
        assert f"connect the application to {world.url}." in refused["message"]
        nearest = call(world, token, "add_tripp", "/x/search,cards")
        assert "add_trip," not in nearest["message"]


def test_administration_at_a_part_needs_an_administrator(world: World, people: People) -> None:
    assert call(world, world.token(people.alice), "admin_look", "/x/admin")["status"] == "admin_only"
    assert call(world, world.token(people.ada, administer=True), "admin_look", "/x/admin")["status"] == "ok"


@pytest.mark.parametrize("path", PARTS)
def test_each_part_has_metadata_and_a_challenge_of_its_own(world: World, path: str) -> None:
    for host in (world.base.removeprefix("http://"), world.web_host):
        refused = world.http.post(world.url + path, json={}, headers={"Host": host})
        metadata = f"/.well-known/oauth-protected-resource/mcp{path}"
        assert f'resource_metadata="http://{host}{metadata}"' in refused.headers["www-authenticate"]
        document = world.http.get(world.base + metadata, headers={"Host": host}).json()
        assert document["resource"] == f"http://{host}/mcp{path}"  # as it was asked, whatever its normal form


def test_a_token_of_a_part_is_refused_at_the_whole_and_at_other_parts(world: World, people: People) -> None:
    token = world.token(people.alice, aud=f"{world.url}/x/cards,search")
    good = {path: post(world, token, path).status_code for path in ("", READONLY, *PARTS, "/x/cards")}
    assert [path for path, status in good.items() if status == 200] == ["/x/search,cards"]
    assert set(good.values()) == {200, 401}


def test_what_is_no_part_is_answered_with_what_is_one(world: World, people: People) -> None:
    path = "/x/search,trips,alerts"
    answer = post(world, world.token(people.alice), path)
    assert "/mcp/x/search,trips fits." in answer.json()["error"]["message"]
    document = world.http.get(f"{world.base}/.well-known/oauth-protected-resource/mcp{path}").json()
    assert "/mcp/x/search,trips fits." in document["error_description"]


@pytest.mark.spec("s5.9.admin_decides")
def test_administrators_administer_through_what_they_allowed_to(world: World, people: People) -> None:
    silent = world.token(people.ada, administer=False)
    refused = call(world, silent, "admin_look", "")
    assert refused["status"] == "admin_only"
    assert "Also administer this service" in refused["message"]
    assert call(world, world.token(people.ada, administer=True), "admin_look", "")["status"] == "ok"
    assert call(world, world.token(people.bob, administer=True), "admin_look", "")["status"] == "admin_only"
