"""The reference of the tools: every tool of the registry is on it, and its examples are calls the server takes."""

import gzip
import html
import json
import re
import shlex

import pytest

from deploy.client.commands import build_tool_parser
from mcp_server.toolkit.registry import TOOLS
from shared.domain.plans import Plan, Tier
from shared.domain.tool_profiles import AREAS
from tests.mcp_server.conftest import World

MAX_BYTES = 29_999  # of one page, uncompressed: below 30 kB


def read(world: World, path: str) -> str:
    answer = world.http.get(f"{world.base}{path}", headers={"Host": world.web_host})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert len(answer.content) <= MAX_BYTES
    return answer.text


def test_the_list_leads_to_every_tool(world: World) -> None:
    page = read(world, "/tools")
    assert page.count('<li><a href="/tools/') == len(TOOLS)
    for tool in TOOLS.values():
        assert f'href="/tools/{tool.area}#{tool.name}"' in page
        assert f"<p>{html.escape(tool.title, quote=False)}</p>" in page


def test_a_word_finds_the_tools_that_are_meant_and_is_shown_as_text(world: World) -> None:
    found = read(world, "/tools?q=nothing+find")
    assert re.findall(r'<li><a href="/tools/\w+#(\w+)"', found) == ["find_nothing"]
    odd = read(world, "/tools?q=%3Cb%3E%22")
    assert ('<b>"' in odd, f"0 of {len(TOOLS)} fit" in odd) == (False, True)


@pytest.mark.parametrize("area", AREAS)
def test_each_tool_has_its_plan_its_arguments_and_calls_that_are_taken(world: World, area: str) -> None:
    page = read(world, f"/tools/{area}")
    assert re.findall(r'<section class="card" id="(\w+)">', page) == sorted(
        name for name, tool in TOOLS.items() if tool.area == area
    )
    for name, part in re.findall(r'<section class="card" id="(\w+)">(.*?)</section>', page, re.S):
        tool = TOOLS[name]
        assert f'<span class="tag">{tool.tier.label}</span>' in part
        assert re.findall(r"<dt><code>(\w+)</code> <b>required", part) == list(tool.arguments.required)
        assert set(re.findall(r"<dt><code>(\w+)</code>", part)) == set(tool.arguments.schema["properties"])
        mcp, rest, command = (html.unescape(text) for text in re.findall(r"<pre>(.*?)</pre>", part, re.S))
        call = json.loads(mcp)
        assert call["name"] == name
        words = shlex.split(rest)
        assert json.loads(words[words.index("-d") + 1]) == call["arguments"]
        assert words[-1] == f"http://{world.web_host}/api/v1/tools/{name}"
        assert ("Authorization: Bearer $KEY" in words) != tool.anonymous
        summary = {"name": name, "description": "", "arguments": tool.arguments.schema}
        program, verb, called, *given = shlex.split(command)
        assert (program, verb, called) == ("award-travel", "call", name)
        assert vars(build_tool_parser(summary).parse_args(given)) == call["arguments"]


def test_every_tool_stands_below_the_plan_that_adds_it(world: World) -> None:
    page = read(world, "/tools/by-plan")
    parts = re.findall(r'<section class="card" id="(\w+)".*?>(.*?)</section>', page, re.S)
    needed = {tool.tier.needs.slug for tool in TOOLS.values() if tool.tier is not Tier.ADMIN}
    expected = [plan.slug for plan in Plan if plan.slug in needed]
    assert [anchor for anchor, _ in parts] == [*expected, "administrators"]
    listed = {name: anchor for anchor, part in parts for name in re.findall(r'href="/tools/\w+#(\w+)"', part)}
    assert listed == {
        tool.name: "administrators" if tool.tier is Tier.ADMIN else tool.tier.needs.slug for tool in TOOLS.values()
    }


def test_an_area_that_is_none_is_not_there(world: World) -> None:
    assert world.http.get(f"{world.base}/tools/nothing", headers={"Host": world.web_host}).status_code == 404


def test_the_reference_is_compressed_kept_and_not_sent_twice(world: World) -> None:
    url, host = f"{world.base}/tools", {"Host": world.web_host}
    with world.http.stream("GET", url, headers=host | {"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert "public" in answer.headers["cache-control"]
    assert f">All {len(TOOLS)} tools</h2>".encode() in gzip.decompress(raw)
    again = world.http.get(url, headers=host | {"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_tools_own_host_leads_to_the_site(world: World) -> None:
    """The style sheet stands there alone."""
    for path in ("/tools", "/tools/cards", "/tools/by-plan"):
        answer = world.http.get(f"{world.base}{path}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, f"http://{world.web_host}{path}")
