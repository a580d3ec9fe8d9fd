"""What programs read before they connect, held against the published schemas and against the running server."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator

from mcp_server.pages import discovery
from mcp_server.ways_of_working.skills import build_bundle, build_skills
from shared.domain.mcp_addresses import ADDRESSES
from shared.settings import VERSION
from tests.mcp_server.conftest import World

SCHEMAS = Path(__file__).parent / "schemas"
PATHS = [*ADDRESSES, "/mcp/x/cards,trips"]


def read_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    return schema


@pytest.mark.parametrize("path", PATHS)
def test_each_address_has_a_card_that_keeps_to_the_schema(world: World, path: str) -> None:
    schema = read_schema("server-card.schema.json")
    for host in (world.base.removeprefix("http://"), world.web_host):
        answer = world.http.get(f"{world.base}{path}/server-card", headers={"Host": host})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/mcp-server-card+json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "public, max-age=3600"
        card = answer.json()
        Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/ServerCard"}).validate(card)
        assert card["version"] == VERSION
        assert [remote["url"] for remote in card["remotes"]] == [f"http://{host}{path}"]


def test_the_catalogue_leads_to_the_card_and_the_card_to_the_server(world: World) -> None:
    answer = world.http.get(f"{world.base}/.well-known/ai-catalog.json")
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    assert answer.json()["specVersion"] == "1.0"
    [entry] = answer.json()["entries"]
    assert entry["type"] == "application/mcp-server-card+json"
    assert entry["identifier"] == "urn:air:127.0.0.1:mcp:award-travel"
    card = world.http.get(entry["url"]).json()
    assert [remote["url"] for remote in card["remotes"]] == [world.url]
    assert world.http.post(world.url).status_code == 401  # a server stands there


def test_the_registrys_file_keeps_to_its_schema(world: World) -> None:
    document = world.http.get(f"{world.base}/mcp/server.json").json()
    Draft7Validator(read_schema("server.schema.json")).validate(document)
    assert document["$schema"] == read_schema("server.schema.json")["$id"]
    assert document["version"] == VERSION


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("https://travel.example.com", "com.example.travel"),
        ("http://127.0.0.1:8000", "localhost"),
        ("http://[::1]:8000", "localhost"),
        ("http://localhost:8000", "localhost"),
    ],
)
def test_the_name_is_the_operators_domain_turned_round(site: str, name: str) -> None:
    assert discovery._reverse_host(site) == name


def test_the_archive_holds_each_skill_and_is_always_the_same(world: World) -> None:
    answer = world.http.get(f"{world.base}/skills/award-travel.zip")
    assert answer.headers["content-type"] == "application/zip"
    build_bundle.cache_clear()
    assert answer.content == build_bundle()
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"{skill.name}/SKILL.md" for skill in build_skills().values()]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        for name in archive.namelist():
            head = yaml.safe_load(archive.read(name).decode().split("---\n")[1])
            assert head["name"] == name.split("/")[0]  # as the folder is called
            assert 0 < len(head["description"]) <= 1024
            assert len(head["compatibility"]) <= 500
    again = world.http.get(answer.url, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_who_reads_too_often_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "READS_PER_MINUTE", 0)
    answer = world.http.get(f"{world.base}/mcp/server-card")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


def test_an_address_that_is_none_has_no_card(world: World) -> None:
    assert world.http.get(f"{world.base}/mcp/x/nothing/server-card").status_code == 404
