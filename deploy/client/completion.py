"""Completion of the command line: the words typed so far go in, what may come next goes out; needs no network."""

import argparse
import json
from collections.abc import Iterable
from typing import Any

from deploy.local.home import login_folder

_SCRIPTS = {
    "bash": """\
_award_travel() {
  local IFS=$'\\n'
  COMPREPLY=($(award-travel complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _award_travel award-travel""",
    "zsh": """\
#compdef award-travel
_award_travel() {
  local -a found
  found=("${(@f)$(award-travel complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -- $found || _files
}
compdef _award_travel award-travel""",
    "fish": """\
complete -c award-travel -a '(award-travel complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'""",
}


def script(shell: str) -> str:
    return _SCRIPTS[shell]


def complete(words: list[str], parser: argparse.ArgumentParser) -> list[str]:
    """`words` are those after the program's name; the last one is being typed and may be empty."""
    *before, begun = words or [""]
    return sorted(word for word in set(_next(before, begun, parser)) if word.startswith(begun))


def _next(before: list[str], begun: str, parser: argparse.ArgumentParser) -> Iterable[str]:
    commands = _commands(parser)
    if not before:
        return commands
    if before[0] in ("call", "tools") and len(before) == 1 and not begun.startswith("-"):
        return [tool["name"] for tool in _known_tools()]
    if before[0] == "call" and len(before) > 1:
        return _of_call(before[1], before[2:])
    if before[0] in commands and begun.startswith("-"):
        return [flag for action in commands[before[0]]._actions for flag in action.option_strings]
    if before[0] in commands:
        return [str(c) for action in commands[before[0]]._actions for c in action.choices or ()]
    return []


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(choices or {})


def _of_call(name: str, given: list[str]) -> Iterable[str]:
    """Values of the option before, where they are few; else the options not yet given."""
    tool = next((tool for tool in _known_tools() if tool["name"] == name), None)
    if tool is None:
        return []
    properties = tool["arguments"]["properties"]
    last = properties.get(given[-1].removeprefix("--").replace("-", "_"), {}) if given else {}
    last = last.get("items", last)
    if last.get("type") == "boolean":
        return ["true", "false"]
    if values := [str(value) for value in last.get("enum", ()) if value != ""]:
        return values
    return [f for f in ["--json", *(f"--{p.replace('_', '-')}" for p in properties)] if f not in given]


def _known_tools() -> list[dict[str, Any]]:
    """As of the last login or list."""
    try:
        tools: list[dict[str, Any]] = json.loads((login_folder() / "tools.json").read_text(encoding="utf-8"))["tools"]
    except (OSError, ValueError, KeyError):
        return []
    return tools
