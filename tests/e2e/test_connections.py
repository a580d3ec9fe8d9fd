"""An outside account is connected as a person does it: the tool's link, the web host's pages, the running programs."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.support.oauth_browser import post, tokens
from tests.support.service import PASSWORD, Service

pytestmark = pytest.mark.e2e
CALENDAR = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n"


def call(service: Service, got: dict[str, Any], name: str, **arguments: Any) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = post(service.mcp_url, json=body, headers={"Authorization": f"Bearer {got['access_token']}"})
    told: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return told


def sign_in(browser: httpx.Client, email: str, page: httpx.Response) -> httpx.Response:
    hidden = dict(re.findall(r'name="(csrf|return_to)" value="([^"]*)"', page.text))
    return browser.post("/signin", data=hidden | {"email": email, "password": PASSWORD})


@pytest.mark.spec("s4.4.connect_integration.url")
def test_a_person_signs_in_on_the_way_and_the_connection_is_theirs_alone(service: Service) -> None:
    email = service.person("connecting", "premium")
    got = tokens(service.mcp_url, email, PASSWORD)
    url = call(service, got, "connect_integration", provider="tripit")["authorize_url"]
    assert url.startswith(service.web_url)
    link = dict(parse_qsl(urlsplit(url).query))["link"]
    with httpx.Client(base_url=service.web_url, trust_env=False) as stranger:
        sign_in(stranger, service.person("strange"), stranger.get("/signin"))
        assert stranger.get(url).status_code == 403
    with httpx.Client(base_url=service.web_url, trust_env=False) as browser:
        first = browser.get(url)
        assert first.status_code == 303
        home = sign_in(browser, email, browser.get(first.headers["location"]))
        assert home.headers["location"].startswith("/integrations/tripit/connect?link=")
        page = browser.get(home.headers["location"])
        assert "Connect TripIt" in page.text
        assert browser.get(re.search(r'href="(/static/[^"]*)"', page.text)[1]).status_code == 200  # type: ignore[index]
        sent = {"link": link, "way": "paste", "pasted": CALENDAR}
        done = browser.post("/integrations/tripit/connect", data=sent, headers={"Origin": service.web_url})
        assert "is connected" in done.text
    listed = {i["provider"]: i["state"] for i in call(service, got, "list_integrations")["integrations"]}
    assert listed["tripit"] == "connected"
    assert call(service, got, "sync_integration", provider="tripit")["status"] == "ok"
