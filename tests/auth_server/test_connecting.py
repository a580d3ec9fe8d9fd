"""Connecting by a button: what each link carries, what is left out on this computer, and the page that waits."""

import base64
import html
import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from auth_server.pages.connecting import PROMPTS
from shared.domain.mcp_addresses import find_address
from tests.auth_server.in_process_browser import Browser


def list_links(page: str) -> dict[str, str]:
    found = re.findall(r'<a class="button" href="([^"]+)" rel="noreferrer">([^<]+)</a>', page)
    return {html.unescape(words): html.unescape(link) for link, words in found}


def test_editors_are_given_their_address_by_their_own_links(stranger: Browser) -> None:
    links = list_links(stranger.get("/connect").text)
    assert list(links) == ["Add to Cursor", "Add to VS Code"]  # the others cannot reach this computer
    cursor = urlsplit(links["Add to Cursor"])
    assert (cursor.scheme, cursor.netloc, cursor.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    query = parse_qs(cursor.query)
    assert query["name"] == ["award-travel"]
    assert json.loads(base64.b64decode(query["config"][0])) == {"url": "http://127.0.0.1:8000/mcp"}
    start, _, config = links["Add to VS Code"].partition("?")
    assert start == "vscode:mcp/install"
    assert json.loads(unquote(config)) == {
        "name": "award-travel",
        "type": "http",
        "url": "http://127.0.0.1:8000/mcp/lean",
    }


def test_assistants_on_the_web_are_offered_at_a_public_address(stranger: Browser, configure: Any) -> None:
    assert "need it at a public https address" in stranger.get("/connect").text
    configure(WEB_URL="https://travel.example", SERVICE_NAME="Miles & More")
    page = stranger.get("/connect").text
    assert "need it at a public https address" not in page
    links = list_links(page)
    query = parse_qs(urlsplit(links["Add to Claude"]).query)
    assert query["connectorUrl"] == ["https://travel.example/mcp"]
    assert query["connectorName"] == ["Miles & More"]
    assert links["Open ChatGPT's connectors"].startswith("https://chatgpt.com/")


def test_commands_addresses_and_first_questions_can_be_copied(stranger: Browser) -> None:
    page = html.unescape(stranger.get("/connect").text)
    assert "claude mcp add --transport http award-travel http://127.0.0.1:8000/mcp<" in page
    for address in re.findall(r'<code class="copy">http://127.0.0.1:8000(/[^<]*)</code>', page):
        assert find_address(address) is not None
    for prompt in PROMPTS:
        assert f'<code class="copy">{prompt}</code>' in page


def test_waiting_is_for_people_who_signed_in_and_leads_back(ann: Browser) -> None:
    asked = ann.get("/connect/waiting")
    assert asked.headers["location"] == "/signin?return_to=/connect/waiting"
    assert ann.sign_in(return_to="/connect/waiting").headers["location"] == "/connect/waiting"


def test_the_page_looks_again_until_the_assistant_is_there(ann: Browser, later: Any) -> None:
    ann.sign_in()
    page = ann.get("/connect/waiting")
    assert page.headers["refresh"] == "5; url=/connect/waiting?look=2"
    assert "No assistant has connected yet" in page.text
    assert 'http-equiv="refresh"' not in page.text
    ann.code(ann.register())
    page = ann.get("/connect/waiting?look=7")
    assert "refresh" not in page.headers
    assert "is connected" in " ".join(page.text.split())
    assert PROMPTS[0] in page.text
    later(timedelta(minutes=16))
    assert "refresh" in ann.get("/connect/waiting").headers  # that one was connected before


@pytest.mark.parametrize("look", ["0", "60", "999", "x", "-1", "1" * 50])
def test_it_stops_when_told_and_after_five_minutes(ann: Browser, look: str) -> None:
    ann.sign_in()
    page = ann.get(f"/connect/waiting?look={look}")
    assert page.status_code == 200
    assert "refresh" not in page.headers
    assert "Look again every 5 seconds" in page.text
