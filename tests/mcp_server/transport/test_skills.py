"""Skills over the wire (SEP-2640): declared, listed with digests of what is really read, the same for every caller."""

import hashlib
from typing import Any

import anyio
import pytest
import yaml

from mcp_server.ways_of_working.skills import build_skills
from mcp_server.ways_of_working.texts import read_ways_of_working
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_prompts import ask
from tests.mcp_server.transport.test_sdk_server import MODES, Mode, client
from tests.support.people import People

PATHS = ["", "/readonly", "/lean", "/x/traveller", "/x/cards,trips", "?areas=cards"]


@pytest.mark.parametrize("path", PATHS)
def test_each_file_is_read_as_its_entry_says(world: World, people: People, path: str) -> None:
    listed = ask(world, people.alice, "skills/list", {}, path)["result"]
    assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (300_000, "public", "complete")
    assert [entry["frontmatter"]["name"] for entry in listed["skills"]] == list(read_ways_of_working())
    for entry in listed["skills"]:
        [content] = ask(world, people.alice, "resources/read", {"uri": entry["uri"]}, path)["result"]["contents"]
        assert content["mimeType"] == "text/markdown"
        [file] = entry["resources"]
        octets = content["text"].encode()
        assert file == {
            "uri": entry["uri"],
            "digest": f"sha256:{hashlib.sha256(octets).hexdigest()}",
            "size": len(octets),
        }
        before, head, text = content["text"].split("---\n", 2)
        assert before == ""
        assert yaml.safe_load(head) == entry["frontmatter"]  # hosts refuse a skill where the two differ
        name = entry["frontmatter"]["name"]
        assert entry["uri"] == f"skill://{name}/SKILL.md"
        assert text.strip() == read_ways_of_working()[name].text.strip()
        assert ask(world, people.alice, "skills/get", {"uri": entry["uri"]}, path)["result"]["skill"] == entry


@pytest.mark.parametrize("mode", MODES)
def test_official_client_learns_of_the_extension_and_finds_the_resources(
    world: World, people: People, mode: Mode
) -> None:
    token = world.token(people.alice)

    async def session() -> tuple[Any, Any]:
        async with client(world, token, mode) as connected:
            return connected.server_capabilities, await connected.list_resources()

    capabilities, listed = anyio.run(session)
    assert set(build_skills()) <= {str(resource.uri) for resource in listed.resources}
    if mode == "auto":
        assert capabilities.extensions["io.modelcontextprotocol/skills"] == {}
        assert capabilities.resources is not None


def test_the_handshake_of_older_revisions_declares_it_too(world: World, people: People) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    declared = ask(world, people.alice, "initialize", params)["result"]["capabilities"]["extensions"]
    assert declared["io.modelcontextprotocol/skills"] == {}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/get", {"uri": "skill://no-such/SKILL.md"}),
        ("skills/get", {}),
        ("skills/list", {"cursor": "2"}),
        ("resources/read", {"uri": "skill://no-such/SKILL.md"}),
        ("resources/read", {"uri": "skill://weekly-deals/../../etc/passwd"}),
    ],
)
def test_what_is_not_served_is_an_invalid_parameter(
    world: World, people: People, method: str, params: dict[str, Any]
) -> None:
    assert ask(world, people.alice, method, params)["error"]["code"] == -32602
