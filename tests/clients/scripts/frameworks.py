"""Agent frameworks of the first SDK's time: frameworks.py NAME MCP_URL TOKEN. No model is called.

Each gives the tools as its agents would have them, and runs five as an agent would.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from steps import CALLS, LOCAL, read_status, restart, tell

Run = Callable[[str, dict[str, Any]], Awaitable[str]]


async def finish(package: str, tools: int, run: Run, **more: Any) -> None:
    statuses = {step: await run(name, arguments) for step, (name, arguments, _) in CALLS.items()}
    await asyncio.to_thread(restart)
    name, arguments, _ = CALLS["fact"]
    restarted = await run(name, arguments)
    tell(version=version(package), tools=tools, calls=statuses, restarted=restarted, sign_in="bearer", **more)


async def langchain(url: str, headers: dict[str, str]) -> None:
    from langchain_core.tools import ToolException
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"award": {"transport": "streamable_http", "url": url, "headers": headers}})
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def run(name: str, arguments: dict[str, Any]) -> str:
        try:
            told = await tools[name].ainvoke(arguments)
        except ToolException as error:
            told = str(error)
        return read_status(told if isinstance(told, str) else told[0]["text"])

    await finish("langchain-mcp-adapters", len(tools), run)


async def autogen(url: str, headers: dict[str, str]) -> None:
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools

    tools = {tool.name: tool for tool in await mcp_server_tools(StreamableHttpServerParams(url=url, headers=headers))}

    async def run(name: str, arguments: dict[str, Any]) -> str:
        try:
            told = await tools[name].run_json(arguments, CancellationToken())
        except Exception as error:
            return LOCAL if "Field required" in str(error) or "missing" in str(error) else read_status(str(error))
        return read_status(json.loads(tools[name].return_value_as_string(told))[0]["text"])

    await finish("autogen-ext", len(tools), run)


async def semantic_kernel(url: str, headers: dict[str, str]) -> None:
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin

    async with MCPStreamableHttpPlugin(name="award", url=url, headers=headers) as plugin:
        kernel = Kernel()
        kernel.add_plugin(plugin)
        tools = len((await plugin.session.list_tools()).tools)
        assert all(hasattr(plugin, tool.name) for tool in (await plugin.session.list_tools()).tools)

        async def run(name: str, arguments: dict[str, Any]) -> str:
            try:
                told = await getattr(plugin, name)(**arguments)
            except Exception as error:
                return read_status(str(error))
            return read_status(told[0].text if isinstance(told, list) else str(told))

        await finish("semantic-kernel", tools, run)


async def openai_agents(url: str, headers: dict[str, str]) -> None:
    from agents.mcp import MCPServerStreamableHttp, MCPUtil

    async with MCPServerStreamableHttp(params={"url": url, "headers": headers, "timeout": 60}) as server:
        listed = await server.list_tools()
        strict = [MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True) for tool in listed]

        async def run(name: str, arguments: dict[str, Any]) -> str:
            try:
                told = await server.call_tool(name, arguments)
            except Exception as error:
                return LOCAL if "required" in str(error).lower() else f"{type(error).__name__}: {error}"
            return read_status(told.content[0].text)

        kept = sum(tool.strict_json_schema for tool in strict)
        await finish("openai-agents", len(listed), run, strict=kept)


async def pydantic_ai(url: str, headers: dict[str, str]) -> None:
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(url, headers=headers, init_timeout=60, read_timeout=60) as server:
        tools = len(await server.list_tools())

        async def run(name: str, arguments: dict[str, Any]) -> str:
            try:
                told = await server.direct_call_tool(name, arguments)
            except Exception as error:
                return read_status(str(error))
            return str(told["status"]) if isinstance(told, dict) else read_status(str(told))

        await finish("pydantic-ai-slim", tools, run)


FRAMEWORKS = (langchain, autogen, semantic_kernel, openai_agents, pydantic_ai)


async def main(name: str, url: str, token: str) -> None:
    framework = {one.__name__: one for one in FRAMEWORKS}[name]
    await framework(url, {"Authorization": f"Bearer {token}"})


asyncio.run(main(*sys.argv[1:]))
