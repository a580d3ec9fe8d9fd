"""Arguments of a tool on the command line: its JSON Schema goes in, a parser for its --options comes out."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.documents.text_decoding import MOST_BYTES, NoText, decode

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
    return {"type": one_of(kind, node.get("maxLength")), "metavar": _metavar(node)}


def _values(node: Schema) -> list[str]:
    """Each once: a number may be listed as a text too."""
    return list(dict.fromkeys(str(value) for value in node.get("enum", ()) if value != ""))


def _metavar(node: Schema) -> str:
    values = _values(node)
    return "|".join(values) if 0 < len(values) <= 6 else "|".join(kinds(node)).upper()


def _help(node: Schema) -> str:
    values = _values(node)
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


def one_of(kind: list[str], most: int | None = None) -> Callable[[str], Any]:
    """A word as the narrowest of the kinds it fits; a text has at most so many characters."""

    def read(word: str) -> Any:
        for name in ("integer", "number", "boolean", "object", "array"):
            if name in kind and (value := _READERS[name](word)) is not None:
                return value
        if "string" in kind:
            return _within(text(word), most)
        raise argparse.ArgumentTypeError(f"{word!r} is not {' or '.join(_SAID[name] for name in kind)}")

    return read


def _within(found: str, most: int | None) -> str:
    if most is not None and len(found) > most:
        raise argparse.ArgumentTypeError(f"the text has {len(found):,} characters; at most {most:,} can be sent")
    return found


def text(word: str) -> str:
    """The word itself, or what @FILE holds in any of the usual encodings."""
    if not word.startswith("@") or word.startswith("@@"):
        return word.removeprefix("@") if word.startswith("@@") else word
    try:
        return decode(_content(word[1:]))
    except OSError as fault:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read: {fault.strerror}") from None
    except NoText as no:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read as text: it is {no}") from None


def _content(name: str) -> bytes:
    """The bytes, never more than one beyond what is taken."""
    if name == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MOST_BYTES + 1)


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
