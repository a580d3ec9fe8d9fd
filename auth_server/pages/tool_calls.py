"""Tools called for a person at the dashboard: a person, a tool and arguments go in, the answer comes out."""

import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx

from auth_server.oauth import first_party_tokens
from auth_server.oauth.server import Server
from shared.db.accounts import Account
from shared.http import client
from shared.settings import settings

log = logging.getLogger(__name__)
DASHBOARD = ("award-travel-dashboard", "Dashboard")
LIFE = timedelta(minutes=2)
TIMEOUT = httpx.Timeout(60, connect=2)


@dataclass
class ToolCall:
    """One call under a token of its own. `answer` is None until it is made, and when nobody answered."""

    tool: str
    arguments: dict[str, Any]
    family_id: str
    token: str
    answer: dict[str, Any] | None = None


def prepare(server: Server, account: Account, tool: str, **arguments: Any) -> ToolCall:
    family_id = f"dashboard:{secrets.token_hex(16)}"
    token = first_party_tokens.issue(server, account, DASHBOARD, family_id, LIFE, read_only=False)
    return ToolCall(tool, arguments, family_id, token)


def finish(server: Server, errand: ToolCall) -> None:
    """The token dies with its errand."""
    server.revoke_family(errand.family_id, "errand_done")


async def call_tool(errand: ToolCall) -> dict[str, Any] | None:
    """Asks the tool server as any application would; None when it does not answer."""
    ours = settings().mcp_upstream_url  # the operator's own address, which may be a private one
    headers = {"Authorization": f"Bearer {errand.token}", "Host": urlsplit(settings().mcp_url).netloc}
    params = {"name": errand.tool, "arguments": errand.arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    try:
        async with client(timeout=TIMEOUT) as http:
            answer = await http.post(f"{ours}/mcp" if ours else settings().mcp_url, json=message, headers=headers)
        found = answer.json()["result"]["structuredContent"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        log.warning("the tool server did not do an errand: %s", type(error).__name__)
        return None
    return found if isinstance(found, dict) else None
