"""/connect: a button, a command or a settings page for each assistant, and the page that waits for it."""

import base64
import json
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from auth_server.pages.connected_applications import list_connections
from auth_server.pages.member import Member
from auth_server.web.outcomes import FlowResult
from auth_server.web.rendering import render_page
from shared import clock
from shared.domain.tool_profiles import PROFILES
from shared.settings import settings

# The address that suits each host, and the limit that decides it, as last looked up in November 2026.
HOSTS = (
    ("Claude", "/mcp", "accepts 256 tools of a connector; Claude Code searches them itself"),
    ("ChatGPT", "/mcp", "states no limit; OpenAI's API accepts 128 tools, so /mcp/lean there"),
    ("Cursor", "/mcp", "reads names first; versions before 2026 warned above 40 tools, so /mcp/lean there"),
    ("VS Code", "/mcp/lean", "accepts 128 tools in a request"),
    ("JetBrains", "/mcp/lean", "its Copilot stops above 128 tools"),
    ("Windsurf", "/mcp/lean", "accepts 100 tools"),
    ("Goose", "/mcp/lean", "states no limit; a short list leaves room for the conversation"),
)
PATH, WAITING = "/connect", "/connect/waiting"
NAME = "award-travel"  # hosts store the server by this name
PROMPTS = (
    "What can I do here? Ask me which points and cards I have, and keep them.",
    "Which business class seats are open from London to Tokyo in March for two, with the points I have?",
    "Which of my points, vouchers and credits end soon, and what should I do first?",
)
JUST_NOW = timedelta(minutes=15)
_SECONDS, _LOOKS = 5, 60  # the page refreshes for five minutes, then waits for a click
_ADDRESSES = {name: (path, why) for name, path, why in HOSTS}


@dataclass(frozen=True)
class Connectable:
    """One assistant on the page. `link` installs or opens its settings; without one there are only the steps."""

    anchor: str
    name: str
    address: str
    steps: str
    link: str | None = None
    words: str = ""
    command: str = ""
    needs_https: bool = False  # it runs elsewhere and reaches only public addresses


def list_connectables() -> list[Connectable]:
    """Where only this computer reaches the service, the assistants that run on it come first."""
    assistants = [
        _describe_claude(),
        Connectable(
            "chatgpt",
            "ChatGPT",
            _find_address("ChatGPT"),
            "In Settings, Apps and Connectors: turn on developer mode, choose Create, paste the address, and choose"
            " OAuth.",
            "https://chatgpt.com/#settings/Connectors",
            "Open ChatGPT's connectors",
            needs_https=True,
        ),
        _describe_claude_code(),
        _describe_cursor(),
        _describe_vs_code(),
        Connectable(
            "another",
            "Another assistant",
            settings().web_url + "/mcp",
            "Give it this address. It opens a sign-in here.",
        ),
    ]
    return assistants if settings().secure else sorted(assistants, key=lambda one: one.needs_https)


def _find_address(host: str) -> str:
    return settings().web_url + _ADDRESSES[host][0]


def _describe_claude() -> Connectable:
    """The link from Anthropic's documentation of custom connectors, which opens the dialog filled in."""
    address = _find_address("Claude")
    name = quote(settings().service_name, safe="")
    link = "https://claude.ai/customize/connectors?modal=add-custom-connector"
    return Connectable(
        "claude",
        "Claude",
        address,
        "The button opens Claude with name and address filled in. By hand: Connectors, Add custom connector.",
        f"{link}&connectorName={name}&connectorUrl={quote(address, safe='')}",
        "Add to Claude",
        needs_https=True,
    )


def _describe_claude_code() -> Connectable:
    address = _find_address("Claude")
    return Connectable(
        "claude-code",
        "Claude Code",
        address,
        "Type the command in a terminal, then /mcp in Claude Code to sign in.",
        command=f"claude mcp add --transport http {NAME} {address}",
    )


def _describe_cursor() -> Connectable:
    address = _find_address("Cursor")
    config = base64.b64encode(json.dumps({"url": address}).encode()).decode()
    return Connectable(
        "cursor",
        "Cursor",
        address,
        "The button opens Cursor, which asks whether to install it.",
        f"cursor://anysphere.cursor-deeplink/mcp/install?name={NAME}&config={quote(config, safe='')}",
        "Add to Cursor",
    )


def _describe_vs_code() -> Connectable:
    address = _find_address("VS Code")
    config = json.dumps({"name": NAME, "type": "http", "url": address}, separators=(",", ":"))
    return Connectable(
        "vs-code",
        "VS Code",
        address,
        "The button opens VS Code, which asks whether to install it.",
        f"vscode:mcp/install?{quote(config, safe='')}",
        "Add to VS Code",
        command=f"code --add-mcp '{config}'",
    )


async def serve_hosts(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    context = {
        "assistants": list_connectables(),
        "hosts": [(name, settings().web_url + path, why) for name, path, why in HOSTS],
        "public": settings().secure,
        "mcp_url": settings().web_url + "/mcp",
        "profiles": list(PROFILES),
        "prompts": PROMPTS,
        "waiting": WAITING,
    }
    return render_page("connect.html", context)


def show_waiting(member: Member) -> FlowResult:
    """Refreshes automatically only for someone who chose that, for five minutes (WCAG 2.2.1)."""
    since = clock.now() - JUST_NOW
    fresh = [app for app in list_connections(member) if max(app.granted_at, app.last_used_at or since) > since]
    look = member.data.query_value("look") or "1"
    count = int(look) if look.isascii() and look.isdigit() and len(look) < 4 else 0
    looks = not fresh and 0 < count < _LOOKS
    page = member.show(
        "connect_waiting.html", fresh=fresh, looks=looks, seconds=_SECONDS, prompts=PROMPTS, path=WAITING
    )
    page.refresh = f"{_SECONDS}; url={WAITING}?look={count + 1}" if looks else None
    return page
