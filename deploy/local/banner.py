"""What `award-travel up` prints: progress lines, then one short banner with addresses and lines to paste."""

import contextlib
import json
import shlex
import sys
import time
from pathlib import Path

from deploy.local.demo_account import DEMO
from deploy.local.home import Home, default_home
from deploy.local.processes import Say
from deploy.local.stack import Stack


def progress_printer() -> Say:
    """Lines with the seconds since the start; a closed terminal does not end the service."""
    started_at = time.monotonic()

    def say(text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(f"[{time.monotonic() - started_at:5.1f} s] {text}", flush=True)

    return say


def command_line() -> str:
    """How this very installation's command is called from any folder."""
    script = Path(sys.executable).with_name("award-travel")
    words = [str(script)] if script.exists() else [sys.executable, "-m", "deploy.cli"]
    return shlex.join(words)


def _home_option(home: Home) -> str:
    return "" if home.path == default_home() else f" --home {shlex.quote(str(home.path))}"


def _describe_mail() -> str:
    from shared.settings import settings

    s = settings()
    if s.mail_backend == "outbox":
        return f"written as files to {s.outbox_dir}; none leaves this machine"
    return f"sent by SMTP through {s.smtp_host}:{s.smtp_port}"


def _describe_data() -> str:
    from shared.settings import settings

    s = settings()
    if s.data_mode == "sandbox":
        return "sandbox: availability and prices are invented and labelled so"
    return f"live: {', '.join(s.live_backends) or 'no backend configured'}"


def _demo_lines(password: str | None) -> list[str]:
    password_note = f"password {password}" if password else "its password was changed"
    return [f"Demo account   {DEMO}   {password_note}   (Pro plan, administrator)"]


def _curl_line(stack: Stack, *, with_demo: bool) -> str:
    account, source = (DEMO, shlex.quote(str(stack.home.demo_password))) if with_demo else ("EMAIL", "PASSWORD_FILE")
    token = f"{command_line()} token {account} --password-stdin{_home_option(stack.home)} < {source}"
    body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    return (
        f'curl -s {stack.mcp_url} -H "Authorization: Bearer $({token})" '
        f"-H 'Content-Type: application/json' -d '{body}'"
    )


def banner(stack: Stack, password: str | None, *, with_demo: bool) -> str:
    cursor = json.dumps({"mcpServers": {"award-travel": {"url": stack.mcp_url}}})
    lines = [
        "",
        "Award Travel is running.",
        "",
        f"Web            {stack.web_url}",
        f"MCP            {stack.mcp_url}   (also {stack.web_url}/mcp)",
        f"State          {stack.home.path}",
        f"Data           {_describe_data()}",
        f"Mail           {_describe_mail()}",
        f"Mail in        127.0.0.1:{stack.smtp}   (SMTP; forwarded confirmations, for addresses of get_booking_inbox)",
        *(_demo_lines(password) if with_demo else []),
        "",
        "Claude Code    claude mcp add --transport http award-travel " + stack.mcp_url,
        "Cursor         " + cursor + "   in ~/.cursor/mcp.json",
        "curl           " + _curl_line(stack, with_demo=with_demo),
        "Try it here    " + f"{command_line()} try{_home_option(stack.home)}",
        "",
        "Ctrl-C stops everything.",
    ]
    return "\n".join(lines)
