"""FastMCP's client: fastmcp_client.py MCP_URL, with its own sign-in and callback server."""

import asyncio
import sys
from importlib.metadata import version

from fastmcp import Client
from fastmcp.client.auth import OAuth
from steps import CALLS, read_status, restart, tell, visit_to_the_end


class SignIn(OAuth):
    """As FastMCP's own, with another browser."""

    async def redirect_handler(self, authorization_url: str) -> None:
        self._visit = asyncio.create_task(asyncio.to_thread(visit_to_the_end, authorization_url))


async def main(url: str) -> None:
    heard, statuses = [], {}

    async def hear(*progress: object) -> None:
        heard.append(progress)

    async with Client(url, auth=SignIn(url, client_name="FastMCP"), progress_handler=hear) as client:
        tools = len(await client.list_tools())
        for step, (name, arguments, _) in CALLS.items():
            answer = await client.call_tool(name, arguments, raise_on_error=False)
            statuses[step] = read_status(answer.content[0].text)
        await asyncio.to_thread(restart)
        name, arguments, _ = CALLS["fact"]
        restarted = read_status((await client.call_tool(name, arguments)).content[0].text)
    tell(
        version=version("fastmcp"),
        tools=tools,
        calls=statuses,
        progress=len(heard),
        restarted=restarted,
        sign_in="OAuth",
    )


asyncio.run(main(sys.argv[1]))
