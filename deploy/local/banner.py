"""What `up` tells a person: the running set-up goes in; progress lines and one short banner come out."""

import contextlib
import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.local.demo_account import DEMO
from deploy.local.home import Home, default_home
from deploy.local.processes import Say

if TYPE_CHECKING:
    from deploy.local.supervisor import Stack


def speaker() -> Say:
    """Lines with the seconds since the start; a closed terminal does not end the service."""
    began = time.monotonic()

    def say(text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(f"[{time.monotonic() - began:5.1f} s] {text}", flush=True)

    return say


def command_line() -> str:
    """How this very installation's command is called from any folder."""
    script = Path(sys.executable).with_name("award-travel")
    words = [str(script)] if script.exists() else [sys.executable, "-m", "deploy.cli"]
    return shlex.join(words)


def _at(home: Home) -> str:
    return "" if home.path == default_home() else f" --home {shlex.quote(str(home.path))}"


def _mail() -> str:
    from shared.settings import settings

    s = settings()
    if s.mail_backend == "outbox":
        return f"written as files to {s.outbox_dir}; none leaves this machine"
    return f"sent by SMTP through {s.smtp_host}:{s.smtp_port}"


def _data() -> str:
    from shared.settings import settings

    s = settings()
    if s.data_mode == "sandbox":
        return "sandbox: availability and prices are invented and labelled so"
    return f"live: {', '.join(s.live_backends) or 'no backend configured'}"


def _demo_lines(password: str | None) -> list[str]:
    known = f"password {password}" if password else "its password was changed"
    return [f"Demo account   {DEMO}   {known}   (Pro plan, administrator)"]


def _curl(stack: "Stack", *, with_demo: bool) -> str:
    account, source = (DEMO, shlex.quote(str(stack.home.demo_password))) if with_demo else ("EMAIL", "PASSWORD_FILE")
    token = f"{command_line()} token {account} --password-stdin{_at(stack.home)} < {source}"
    body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    return (
        f'curl -s {stack.mcp_url} -H "Authorization: Bearer $({token})" '
        f"-H 'Content-Type: application/json' -d '{body}'"
    )


def banner(stack: "Stack", password: str | None, *, with_demo: bool) -> str:
    cursor = json.dumps({"mcpServers": {"award-travel": {"url": stack.mcp_url}}})
    lines = [
        "",
        "Award Travel is running.",
        "",
        f"Web            {stack.web_url}",
        f"MCP            {stack.mcp_url}   (also {stack.web_url}/mcp)",
        f"State          {stack.home.path}",
        f"Data           {_data()}",
        f"Mail           {_mail()}",
        f"Mail in        127.0.0.1:{stack.smtp}   (SMTP; forwarded confirmations, for addresses of get_booking_inbox)",
        *(_demo_lines(password) if with_demo else []),
        "",
        "Claude Code    claude mcp add --transport http award-travel " + stack.mcp_url,
        "Cursor         " + cursor + "   in ~/.cursor/mcp.json",
        "curl           " + _curl(stack, with_demo=with_demo),
        "Try it here    " + f"{command_line()} try{_at(stack.home)}",
        "",
        "Ctrl-C stops everything.",
    ]
    return "\n".join(lines)
