"""Arguments of a tool on the command line: its JSON Schema goes in, a parser for its --options comes out."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parser_of(tool: dict[str, Any]) -> argparse.ArgumentParser:
    """Options not given are absent from what it returns, so that the tool's own defaults apply."""
    schema = tool["arguments"]
    made = argparse.ArgumentParser(
        prog=f"award-travel call {tool['name']}",
        description=tool["description"],
        epilog="@FILE reads a text from a file, @- from stdin; a text that begins with @ is written with @@.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    made.add_argument("--json", action="store_true", help="print the answer as JSON")
    for name, node in schema["properties"].items():
        flags = list(dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")))
        required = name in schema.get("required", ())
        made.add_argument(*flags, dest=name, required=required, help=_help(node), **_reading(node))
    return made


def kinds(node: Schema) -> list[str]:
    found = node.get("type", "string")
    return [found] if isinstance(found, str) else list(found)


def _reading(node: Schema) -> dict[str, Any]:
    """How the words after the option are read."""
    kind = kinds(node)
    if kind == ["boolean"]:
        return {"type": boolean, "nargs": "?", "const": True, "metavar": "true|false"}
    if kind == ["array"]:
        items = node.get("items", {})
        return {"type": one_of(kinds(items)), "nargs": "*", "action": "extend", "metavar": _metavar(items)}
    return {"type": one_of(kind), "metavar": _metavar(node)}


def _metavar(node: Schema) -> str:
    values = [str(value) for value in node.get("enum", ()) if value != ""]
    return "|".join(values) if 0 < len(values) <= 6 else "|".join(kinds(node)).upper()


def _help(node: Schema) -> str:
    values = [str(value) for value in node.get("enum", ()) if value != ""]
    told = [str(node.get("description", ""))]
    if len(values) > 6:
        told.append(f"One of {', '.join(values)}.")
    if "default" in node:
        told.append(f"Default: {node['default']}.")
    return " ".join(word for word in told if word).replace("%", "%%")


def boolean(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return _WORDS[text.lower()]


def one_of(kind: list[str]) -> Callable[[str], Any]:
    """A word as the narrowest of the kinds it fits."""

    def read(word: str) -> Any:
        for name in ("integer", "number", "boolean", "object", "array"):
            if name in kind and (value := _READERS[name](word)) is not None:
                return value
        if "string" in kind:
            return text(word)
        raise argparse.ArgumentTypeError(f"{word!r} is not {' or '.join(_SAID[name] for name in kind)}")

    return read


def text(word: str) -> str:
    """The word itself, or what @FILE holds."""
    if not word.startswith("@") or word.startswith("@@"):
        return word.removeprefix("@") if word.startswith("@@") else word
    try:
        return sys.stdin.read() if word == "@-" else Path(word[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read as text: {fault}") from None


def _json(kind: type) -> Callable[[str], Any]:
    def read(word: str) -> Any:
        try:
            value = json.loads(text(word))
        except ValueError:
            return None
        return value if isinstance(value, kind) and (kind is bool) == isinstance(value, bool) else None

    return read


def _number(word: str) -> int | float | None:
    try:
        value = json.loads(word)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": _json(int),
    "number": _number,
    "boolean": _json(bool),
    "object": _json(dict),
    "array": _json(list),
}
_SAID = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a JSON object",
    "array": "a JSON list",
    "string": "text",
}
