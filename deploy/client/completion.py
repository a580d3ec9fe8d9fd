"""Completion of the command line in bash, zsh and fish, from the parser and the tools as last listed; no network."""

import argparse
import json
from collections.abc import Iterable
from typing import Any

from deploy.local.home import login_folder

SCRIPTS = {
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


def run_completion(arguments: argparse.Namespace) -> None:
    print(SCRIPTS[arguments.shell])


def complete(words: list[str], parser: argparse.ArgumentParser) -> list[str]:
    """`words` are those after the program's name; the last one is being typed and may be empty."""
    *before, prefix = words or [""]
    return sorted(word for word in set(_list_candidates(before, prefix, parser)) if word.startswith(prefix))


def _list_candidates(before: list[str], prefix: str, parser: argparse.ArgumentParser) -> Iterable[str]:
    commands = _subparsers(parser)
    if not before:
        return commands
    if before[0] in ("call", "tools") and len(before) == 1 and not prefix.startswith("-"):
        return [tool["name"] for tool in _load_listed_tools()]
    if before[0] == "call" and len(before) > 1:
        return _complete_call(before[1], before[2:])
    if before[0] in commands and prefix.startswith("-"):
        return [flag for action in commands[before[0]]._actions for flag in action.option_strings]
    if before[0] in commands:
        return [str(c) for action in commands[before[0]]._actions for c in action.choices or ()]
    return []


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(choices or {})


def _complete_call(name: str, words: list[str]) -> Iterable[str]:
    """Values of the option before, where they are few; else the options not yet given."""
    tool = next((tool for tool in _load_listed_tools() if tool["name"] == name), None)
    if tool is None:
        return []
    properties = tool["arguments"]["properties"]
    last = properties.get(words[-1].removeprefix("--").replace("-", "_"), {}) if words else {}
    last = last.get("items", last)
    if last.get("type") == "boolean":
        return ["true", "false"]
    if values := [str(value) for value in last.get("enum", ()) if value != ""]:
        return values
    return [f for f in ["--json", *(f"--{p.replace('_', '-')}" for p in properties)] if f not in words]


def _load_listed_tools() -> list[dict[str, Any]]:
    """As of the last login or list."""
    try:
        tools: list[dict[str, Any]] = json.loads((login_folder() / "tools.json").read_text(encoding="utf-8"))["tools"]
    except (OSError, ValueError, KeyError):
        return []
    return tools
