"""The page `award-travel --help`: commands by who needs them, examples, and where more is written."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from deploy.service_name import read_service_name

GUIDE = Path(__file__).parent / "docs" / "index.md"  # a part of the package, unlike README
GROUPS = {
    "For operators: the service": (
        *("up", "open", "doctor", "migrate", "upgrade", "maintenance", "reset-sandbox"),
        *("backup", "restore", "keys", "providers", "example"),
    ),
    "For operators: accounts": ("user", "client", "invite", "invites", "jobs", "mail", "trail"),
    "For operators: facts": ("audit", "fact", "facts"),
    "For users": ("login", "tools", "call", "try", "token", "completion"),
}
EXAMPLES = {
    "award-travel up": "start everything",
    "award-travel open": "see it in the browser",
    "award-travel try": "connect as an assistant",
    "award-travel login --url http://127.0.0.1:8000 --key": "once, with your API key",
    "award-travel tools balance": "find tools by words",
    "award-travel call list_points_balances": "call one of them",
}


class GroupedHelpParser(argparse.ArgumentParser):
    """The parser of the whole command line; those of its commands keep the usual help."""

    def format_help(self) -> str:
        return "\n".join(_list_lines(self, colour=_has_colour()))


def _has_colour() -> bool:
    """The usual signs, asked here by hand: help answers before any package is loaded."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _list_commands(parser: argparse.ArgumentParser) -> dict[str, str]:
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {choice.dest: choice.help or "" for action in actions for choice in action._choices_actions}


def _list_lines(parser: argparse.ArgumentParser, *, colour: bool) -> Iterator[str]:
    bold, plain = ("\x1b[1m", "\x1b[0m") if colour else ("", "")
    texts = _list_commands(parser)
    yield f"{read_service_name()} answers questions about points and miles.\n\nUsage: {parser.usage}"
    for title, names in GROUPS.items():
        yield f"\n{bold}{title}{plain}"
        yield from (f"  {name:<15}{texts[name]}" for name in names)
    yield f"\n{bold}Examples{plain}"
    yield from (f"  {command:<52}  {text}" for command, text in EXAMPLES.items())
    yield f"\n{bold}More{plain}\n  award-travel COMMAND --help   the options of a command"
    yield "  award-travel --version        the version of this program"
    yield f"  {GUIDE.as_uri()}"
    yield ""
