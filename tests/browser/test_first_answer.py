"""The whole way of a stranger: start page, sign-up, mail, first steps, an assistant that connects, its first answer."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import json
import socket
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from shared import clock
from tests.auth_server.in_process_browser import PASSWORD
from tests.auth_server.mailbox import Mails, link
from tests.browser.conftest import APPLICATION, serve
from tests.browser.judges import list_faults
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


class Memory:
    """The storage of an assistant that has never been here."""

    tokens: OAuthToken | None = None
    application: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.application

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.application = client_info


def open_and_judge(tab: Tab, title: str) -> None:
    """The page that was led to: it fits a phone, can be read, and loads nothing from elsewhere."""
    tab.wait(f"document.title.startsWith({json.dumps(title)})")
    assert list_faults(tab) == []


def allow(tab: Tab, address: str) -> dict[str, list[str]]:
    """What the person does whose assistant opens this address, and what the assistant gets back."""
    tab.go(address)
    open_and_judge(tab, "Allow access")
    assert "Test assistant" in tab.text()
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    return parse_qs(urlsplit(tab.run("location.href")).query)


async def ask_as_assistant(tab: Tab, address: str, callback: str) -> dict[str, Any]:
    """Connects with the official client, through the person's own browser, and asks one question."""
    returned: dict[str, list[str]] = {}

    async def redirect(authorize: str) -> None:
        returned.update(await anyio.to_thread.run_sync(allow, tab, authorize))

    async def receive() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=returned["code"][0], state=returned["state"][0], iss=returned["iss"][0])

    about = OAuthClientMetadata(client_name="Test assistant", redirect_uris=[callback])  # type: ignore[list-item]
    provider = OAuthClientProvider(address, about, Memory(), redirect, receive)
    day = (clock.today() + timedelta(days=60)).isoformat()
    journey = {"origin": "LHR", "destination": "JFK", "date": day, "cabin": "economy", "passengers": 2}
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        answer = await client.call_tool("search_all_airlines", journey)
        return dict(answer.structured_content or {})


def test_a_stranger_comes_to_the_first_answer(tab: Tab, world: World, mails: Mails) -> None:
    tab.look(390)
    tab.go(world.url + "/")
    open_and_judge(tab, "Award flights")
    tab.press("header a[href='/signup']")
    open_and_judge(tab, "Create")
    tab.fill("email", "new@example.test")
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    open_and_judge(tab, "Check")
    (mail,) = mails(1)
    tab.go(world.url + link(mail))
    open_and_judge(tab, "Confirm")
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    open_and_judge(tab, "Home")
    assert "0 of 3 done" in tab.text()
    tab.press("main a[href='/connect']")
    open_and_judge(tab, "Connect your assistant")
    address = tab.run("document.querySelector('.answer-line code').innerText")
    tab.press("a.primary[href='/connect/waiting']")
    open_and_judge(tab, "Waiting")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        application = serve(APPLICATION, listening)
        callback = f"http://127.0.0.1:{listening.getsockname()[1]}/callback"
        answer = anyio.run(ask_as_assistant, tab, address, callback)
        application.should_exit = True
    assert (answer["status"], answer["data_mode"]) == ("ok", "sandbox"), answer["message"]
    tab.go(world.url + "/connect/waiting")
    open_and_judge(tab, "Connected")
    assert "Test assistant" in tab.text()
    tab.press("a.primary[href='/dashboard']")
    open_and_judge(tab, "Home")
    assert "1 of 3 done" in tab.text()
    tab.press("header a.brand")
    open_and_judge(tab, "Award flights")
    assert "Your portfolio" in tab.text()
    assert "Sign up" not in tab.text()
