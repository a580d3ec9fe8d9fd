"""Addresses of the tool server opened in a browser: people get a page with a next step, programs what they got."""

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from auth_server.pages.discovery import PASSED_PAGES
from deploy.local.banner import list_connections
from deploy.local.home import Home
from deploy.local.stack import Stack
from mcp_server.pages import calendar_feed, shared_documents
from shared.domain.mcp_addresses import ADDRESSES
from shared.limits import Verdict
from tests.mcp_server.rest import conftest as both_hosts
from tests.mcp_server.rest.conftest import World
from tests.support.people import everybody

# The web host passes these paths on, so the fixtures of both hosts are used here.
running, world = both_hosts.running, both_hosts.world
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
MONTH = {"origin": "LAX", "destination": "HND", "airline": "NH", "month": "March"}
DEAD = {"/feeds/0.ics": 404, "/shared/" + "0" * 40: 404, "/tools/nothing": 404, "/skills/nothing": 404}


def read_heading(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "<script" not in answer.text
    assert answer.headers["x-robots-tag"].startswith("noindex")
    return re.findall(r"<h1>([^<]*)</h1>", answer.text)[0]


def list_links(answer: httpx.Response) -> list[str]:
    return re.findall(r'<a class="button[^"]*" href="([^"]*)"', answer.text)


@pytest.mark.parametrize("path", [*ADDRESSES, "/mcp/", "/mcp/x/cards,trips"])
def test_a_person_at_the_tool_endpoint_reads_what_it_is_for(world: World, path: str) -> None:
    page, program = world.get(path, headers=BROWSER), world.get(path)
    assert read_heading(page) == "This address is for your assistant"
    assert f'<code class="copy">{world.url}{path.rstrip("/")}</code>' in page.text
    assert list_links(page) == ["/connect", "/tools"]
    for answer in (page, program):
        assert answer.status_code == 401
        assert "resource_metadata=" in answer.headers["www-authenticate"]
        assert answer.headers["cache-control"] == "no-store"
    assert program.json()["error"] == "invalid_token"


@pytest.mark.parametrize("more", [{"Authorization": "Bearer x"}, {"Accept": "text/event-stream"}, {"Accept": "*/*"}])
def test_clients_are_answered_as_before_whatever_else_they_accept(world: World, more: dict[str, str]) -> None:
    answer = world.get("/mcp", headers=BROWSER | more)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/json")
    assert world.http.post(f"{world.url}/mcp", headers=BROWSER).headers["content-type"] == "application/json"


def test_an_address_that_is_none_says_which_there_are(world: World) -> None:
    page, program = (world.get("/mcp/x/nothing", headers=headers) for headers in (BROWSER, {}))
    assert (page.status_code, program.status_code) == (404, 404)
    assert read_heading(page) == "No such address"
    assert "Profiles: traveller" in page.text
    assert "Profiles: traveller" in program.json()["error"]["message"]


@pytest.mark.parametrize(("path", "status"), DEAD.items())
def test_a_dead_link_is_a_page_for_people(world: World, path: str, status: int) -> None:
    page = world.get(path, headers=BROWSER)
    assert page.status_code == status
    assert read_heading(page) != ""
    assert list_links(page)
    assert "no-store" in page.headers["cache-control"]
    if path.startswith(("/feeds/", "/shared/")):
        assert page.headers["referrer-policy"] == "no-referrer"
        assert path not in page.text


def test_a_calendar_program_reads_a_problem_at_a_dead_link(world: World) -> None:
    answer = world.get("/feeds/0.ics", headers={"Accept": "text/calendar, */*"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("path", ["/api/v1/tools/nothing", "/.well-known/openapi.yaml/x"])
def test_what_is_for_programs_alone_stays_json_in_a_browser(world: World, path: str) -> None:
    assert world.get(path, headers=BROWSER).headers["content-type"] == "application/problem+json"


def test_who_asks_too_often_reads_when_to_come_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendar_feed, "hit", lambda *_: Verdict(allowed=False, count=9, retry_after=9))
    monkeypatch.setattr(shared_documents, "PER_MINUTE", 0)
    for path in ("/feeds/0.ics", "/shared/0"):
        page = world.get(path, headers=BROWSER)
        assert (page.status_code, read_heading(page)) == (429, "Too many requests")
        assert int(page.headers["retry-after"]) > 0


@pytest.mark.parametrize("path", ["/", "/mcp", "/mcp/lean", "/feeds/0.ics", "/shared/0", "/nothing"])
def test_people_read_on_the_site_where_its_style_is(world: World, path: str) -> None:
    own_host = world.mcp_url.removesuffix("/mcp")
    answer = world.http.get(own_host + path, headers=BROWSER)
    assert (answer.status_code, answer.headers["location"]) == (303, world.url + path)
    page = world.http.get(own_host + path, headers=BROWSER, follow_redirects=True)
    assert page.status_code == {"/": 200, "/mcp": 401, "/mcp/lean": 401}.get(path, 404)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


def test_programs_read_the_same_on_both_hosts(world: World) -> None:
    own_host = world.mcp_url.removesuffix("/mcp")
    for path, status in (("/", 404), ("/mcp", 401), ("/feeds/0.ics", 404), ("/nothing", 404)):
        answer = world.http.get(own_host + path)
        assert answer.status_code == status
        assert "json" in answer.headers["content-type"]
    assert world.http.get(f"{own_host}/healthz", headers=BROWSER).json()["status"] == "Online"


def test_a_crash_is_a_page_for_people(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(calendar_feed, "hit", fail)
    page = world.get("/feeds/0.ics", headers=BROWSER)
    assert (page.status_code, read_heading(page)) == (500, "Something went wrong here")
    assert "secret" not in page.text


def test_people_are_told_one_address_everywhere(world: World, tmp_path: Path) -> None:
    """The start page, the page of hosts, and the end of the start in a terminal."""
    stack = SimpleNamespace(web_url=world.url, home=Home(tmp_path))
    terminal = "\n".join(text for _, text in list_connections(cast("Stack", stack)))
    for text in (world.get("/").text, world.get("/connect").text, terminal):
        assert f"{world.url}/mcp" in text
        assert world.mcp_url not in text


@pytest.mark.parametrize("path", [*PASSED_PAGES, "/status"])
def test_a_public_page_of_the_tool_server_says_what_it_is(world: World, path: str) -> None:
    page = world.get(path, headers=BROWSER).text
    meta = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    assert 40 <= len(meta["description"]) <= 160
    assert meta["og:title"] in re.findall(r"<title>([^<]*)</title>", page)[0]
    assert f'<link rel="canonical" href="{world.url}{path}">' in page
    assert '<html lang="en">' in page


def test_the_example_of_a_problem_is_what_a_call_gets(world: World) -> None:
    example = re.findall(r"<pre><code>(.*?)</code></pre>", world.get("/problems").text, re.S)[0]
    head, _, body = html.unescape(example).partition("\n\n")
    answer = world.call(world.key(everybody().paula), "search_monthly_availability", MONTH)
    assert head.startswith(f"HTTP/1.1 {answer.status_code}\n")
    assert f"Content-Type: {answer.headers['content-type']}" in head
    expected = json.loads(body)
    assert {name: answer.json()[name] for name in expected} == expected
