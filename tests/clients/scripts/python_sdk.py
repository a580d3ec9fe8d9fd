"""The Python SDK, of either major version: python_sdk.py MCP_URL, with its own sign-in."""

import sys
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from steps import CALLS, read_status, restart, tell, visit

IS_ONE = version("mcp").startswith("1.")


class Storage:
    """Tokens and client in memory."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Person:
    """Who is sent to the sign-in pages and comes back with a code."""

    landed = ""

    async def go(self, address: str) -> None:
        self.landed = await anyio.to_thread.run_sync(visit, address)

    async def come_back(self) -> Any:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.landed).query).items()}
        if IS_ONE:
            return query["code"], query.get("state")
        from mcp.client.auth import AuthorizationCodeResult

        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


def build_auth(url: str, storage: Storage) -> OAuthClientProvider:
    person = Person()
    about = OAuthClientMetadata(
        client_name="Python SDK",
        redirect_uris=["http://127.0.0.1:9/callback"],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(url, about, storage, person.go, person.come_back)


async def connect(stack: AsyncExitStack, url: str, storage: Storage) -> ClientSession:
    from mcp.client.streamable_http import streamable_http_client

    if IS_ONE:
        import httpx
    else:
        import httpx2 as httpx
    web = await stack.enter_async_context(
        httpx.AsyncClient(auth=build_auth(url, storage), timeout=60, follow_redirects=True)
    )
    streams = await stack.enter_async_context(streamable_http_client(url, http_client=web))
    session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
    await session.initialize()
    return session


async def main(url: str) -> None:
    storage, heard, statuses = Storage(), [], {}

    async def hear(*progress: Any) -> None:
        heard.append(progress)

    async with AsyncExitStack() as stack:
        session = await connect(stack, url, storage)
        tools = len((await session.list_tools()).tools)
        for step, (name, arguments, _) in CALLS.items():
            answer = await session.call_tool(name, arguments, progress_callback=hear)
            assert len([block for block in answer.content if block.type == "text"]) == 1
            statuses[step] = read_status(answer.content[0].text)
        await anyio.to_thread.run_sync(restart)
        name, arguments, _ = CALLS["fact"]
        restarted = read_status((await session.call_tool(name, arguments)).content[0].text)
    spoiled = storage.tokens.refresh_token
    storage.tokens = storage.tokens.model_copy(update={"access_token": "awt_at_gone", "expires_in": -10})
    async with AsyncExitStack() as stack:
        session = await connect(stack, url, storage)
        again = len((await session.list_tools()).tools)
    refreshed = again == tools and storage.tokens.refresh_token != spoiled
    tell(
        version=version("mcp"),
        tools=tools,
        calls=statuses,
        progress=len(heard),
        restarted=restarted,
        refreshed=refreshed,
        sign_in="OAuth",
    )


anyio.run(main, sys.argv[1])
