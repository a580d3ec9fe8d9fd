"""Completion of the command line in bash, zsh and fish, from the parser and the tools as last listed; no network."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.shell_integration import shellcode

from deploy.local.home import login_folder


def run_completion(arguments: argparse.Namespace) -> None:
    print(shellcode(["award-travel"], shell=arguments.shell))


def complete(parser: argparse.ArgumentParser) -> None:
    """Tells the shell, which asks through environment variables, what may come next, and ends the program."""
    _ToolFinder()(parser, always_complete_options=False, exit_method=sys.exit, default_completer=_ToolNames())


class _ToolNames(FilesCompleter):
    """Completes names of tools where one is expected, files elsewhere."""

    def __call__(self, prefix: str, **given: Any) -> list[str]:
        if (given["parsed_args"].command, given["action"].dest) in (("call", "tool"), ("tools", "text")):
            return sorted(tool["name"] for tool in _load_listed_tools())
        return super().__call__(prefix, **given)


class _ToolFinder(CompletionFinder):
    """Completes after a tool's name by the tool's arguments, which the parser does not know."""

    def collect_completions(
        self, active_parsers: list[argparse.ArgumentParser], parsed_args: argparse.Namespace, cword_prefix: str
    ) -> list[str]:
        """Completions, for argcomplete to filter and quote for the shell."""
        if getattr(parsed_args, "command", "") == "call" and getattr(parsed_args, "tool", None):
            words = _list_call_words(parsed_args.tool, parsed_args.arguments or [])
            return sorted(word for word in words if word.startswith(cword_prefix))
        return super().collect_completions(active_parsers, parsed_args, cword_prefix)


def _list_call_words(name: str, words: list[str]) -> Iterable[str]:
    """The values of the preceding option, if few; else the options not yet given."""
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
    """The tools as of the last login or list."""
    try:
        tools: list[dict[str, Any]] = json.loads((login_folder() / "tools.json").read_text(encoding="utf-8"))["tools"]
    except (OSError, ValueError, KeyError):
        return []
    return tools
