"""The end of a start of `award-travel up`: one screen with the next step, addresses and commands to copy."""

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from deploy.local.home import DEMO, Home, default_home
from deploy.local.stack import Stack
from deploy.service_name import read_service_name
from deploy.terminal import open_console, print_styled

CODE, QUIET = "cyan", "dim"


def command_line() -> str:
    """The command of this installation as typed from here: short if its folder is below this one."""
    script = Path(sys.executable).with_name("award-travel")
    if not script.exists():
        return shlex.join([sys.executable, "-m", "deploy.cli"])
    near = script.is_relative_to(Path.cwd())
    return shlex.quote(str(script.relative_to(Path.cwd()) if near else script))


def home_option(home: Home) -> str:
    return "" if home.path == default_home() else f" --home {shlex.quote(str(home.path))}"


def _shorten(path: Path) -> str:
    """Writes ~ for the person's own folder, as a shell reads it."""
    with contextlib.suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


def _describe_mail(home: Home) -> str:
    from shared.settings import settings

    s = settings()
    if s.mail_backend == "outbox":
        folder = "outbox there" if s.outbox_dir == home.outbox else str(s.outbox_dir)
        return f"files in {folder}; none leaves this machine"
    return f"sent by SMTP through {s.smtp_host}:{s.smtp_port}"


def _describe_data() -> str:
    from shared.settings import settings

    s = settings()
    if s.data_mode == "sandbox":
        return "sandbox: availability and prices are invented, and labelled so"
    return f"live: {', '.join(s.live_backends) or 'no source configured'}"


def _list_next_step(stack: Stack, password: str | None, *, with_demo: bool) -> Iterator[str]:
    if not with_demo:
        yield f"Next: open {stack.web_url} and sign up or sign in."
        return
    yield f"Next: open {stack.web_url} and sign in as {DEMO}"
    yield f"      with the password {password} (Pro plan)." if password else "      with the password you chose."


def list_connections(stack: Stack) -> Iterator[tuple[str, str]]:
    """Lines to paste, by place; each fits 80 columns."""
    url, command, home = f"{stack.web_url}/mcp", command_line(), home_option(stack.home)
    yield "Claude Code", f"claude mcp add --transport http award-travel {url}"
    yield "Cursor, in ~/.cursor/mcp.json", json.dumps({"mcpServers": {"award-travel": {"url": url}}})
    yield "Others", f"{url}"
    yield "This terminal", f"{command} try{home}"
    yield "A bearer token for curl", f"{command} token{home}"


def print_banner(stack: Stack, password: str | None, *, with_demo: bool, console: Console | None = None) -> None:
    """Prints it; a closed terminal does not end the service."""
    console = console or open_console()
    with contextlib.suppress(OSError, ValueError):
        console.print(f"\n{read_service_name()} is running.\n", style="bold green", highlight=False)
        for line in _list_next_step(stack, password, with_demo=with_demo):
            print_styled(console, (line, "bold"))
        print_styled(console, "\nConnect an assistant:")
        for name, text in list_connections(stack):
            short = len(name) + len(text) + 18 < 80 and len(name) < 14
            print_styled(console, f"  {name:<14}" if short else f"  {name}\n    ", (text, CODE))
        console.print()
        facts = {
            "Data": _describe_data(),
            "Folder": _shorten(stack.home.path),
            "Mails out": _describe_mail(stack.home),
            "Mails in": f"127.0.0.1:{stack.smtp} (SMTP, for forwarded confirmations)",
        }
        for name, text in facts.items():
            print_styled(console, (f"{name:<11}", QUIET), text)
        print_styled(console, "\nCtrl-C stops everything; nothing is lost.")
