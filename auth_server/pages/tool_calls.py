"""Tools called for a person at the dashboard, over MCP with a short-lived token."""

import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx

from auth_server.oauth import first_party_tokens
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.http import client
from shared.internal_api import mcp_endpoint

log = logging.getLogger(__name__)
DASHBOARD = ("award-travel-dashboard", "Dashboard")
TOKEN_LIFE = timedelta(minutes=2)
TIMEOUT = httpx.Timeout(60, connect=2)


@dataclass
class ToolCall:
    """One call under a token of its own. `result` is None before the call, and when the tool server did not answer."""

    tool: str
    arguments: dict[str, Any]
    family_id: str
    token: str
    result: dict[str, Any] | None = None


def prepare(uow: UnitOfWork, account: Account, tool: str, **arguments: Any) -> ToolCall:
    family_id = f"dashboard:{secrets.token_hex(16)}"
    token = first_party_tokens.issue(uow, account, DASHBOARD, family_id, TOKEN_LIFE, read_only=False)
    return ToolCall(tool, arguments, family_id, token)


def finish(uow: UnitOfWork, call: ToolCall) -> None:
    """Revokes the token of the call."""
    uow.revoke_family(call.family_id, "errand_done")


async def call_tool(call: ToolCall) -> dict[str, Any] | None:
    """Calls the tool as any MCP client would; None when the tool server does not answer."""
    endpoint = mcp_endpoint(call.token)
    params = {"name": call.tool, "arguments": call.arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    try:
        async with client(timeout=TIMEOUT) as http:
            response = await http.post(endpoint.url, json=message, headers=endpoint.headers)
        result = response.json()["result"]["structuredContent"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        log.warning("tool call failed: %s", type(error).__name__)
        return None
    return result if isinstance(result, dict) else None
