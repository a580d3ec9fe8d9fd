"""Options of `award-travel call TOOL`, built from the JSON Schema of the tool."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text

Schema = dict[str, Any]
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def build_tool_parser(tool: dict[str, Any]) -> argparse.ArgumentParser:
    """Options not given are absent from what it returns, so that the tool's own defaults apply."""
    schema = tool["arguments"]
    parser = argparse.ArgumentParser(
        prog=f"award-travel call {tool['name']}",
        description=tool["description"],
        epilog="@FILE reads a text from a file, @- from stdin; a text that begins with @ is written with @@.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    for name, node in schema["properties"].items():
        flags = list(dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")))
        required = name in schema.get("required", ())
        parser.add_argument(*flags, dest=name, required=required, help=_help(node), **_parser_options(node))
    return parser


def json_types(node: Schema) -> list[str]:
    kind = node.get("type", "string")
    return [kind] if isinstance(kind, str) else list(kind)


def _parser_options(node: Schema) -> dict[str, Any]:
    """How the words after the option are read."""
    kind = json_types(node)
    if kind == ["boolean"]:
        return {"type": read_boolean, "nargs": "?", "const": True, "metavar": "true|false"}
    if kind == ["array"]:
        items = node.get("items", {})
        return {"type": build_reader(json_types(items)), "nargs": "*", "action": "extend", "metavar": _metavar(items)}
    return {"type": build_reader(kind, node.get("maxLength")), "metavar": _metavar(node)}


def _values(node: Schema) -> list[str]:
    """Each once: a number may be listed as a text too."""
    return list(dict.fromkeys(str(value) for value in node.get("enum", ()) if value != ""))


def _metavar(node: Schema) -> str:
    values = _values(node)
    return "|".join(values) if 0 < len(values) <= 6 else "|".join(json_types(node)).upper()


def _help(node: Schema) -> str:
    values = _values(node)
    sentences = [str(node.get("description", ""))]
    if len(values) > 6:
        sentences.append(f"One of {', '.join(values)}.")
    if "default" in node:
        sentences.append(f"Default: {node['default']}.")
    return " ".join(word for word in sentences if word).replace("%", "%%")


def read_boolean(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return _WORDS[text.lower()]


def build_reader(kind: list[str], max_length: int | None = None) -> Callable[[str], Any]:
    """A word as the narrowest of the kinds it fits; a text has at most so many characters."""

    def read(word: str) -> Any:
        if not word:
            return word  # it empties a field of any kind, and the service refuses it where it cannot
        for name in ("integer", "number", "boolean", "object", "array"):
            if name in kind and (value := _READERS[name](word)) is not None:
                return value
        if "string" in kind:
            return check_length(read_text(word), max_length)
        raise argparse.ArgumentTypeError(f"{word!r} is not {' or '.join(_TYPE_NAMES[name] for name in kind)}")

    return read


def check_length(text: str, max_length: int | None) -> str:
    if max_length is not None and len(text) > max_length:
        raise argparse.ArgumentTypeError(f"the text has {len(text):,} characters; at most {max_length:,} can be sent")
    return text


def read_text(word: str) -> str:
    """The word itself, or what @FILE holds in any of the usual encodings."""
    if not word.startswith("@") or word.startswith("@@"):
        return word.removeprefix("@") if word.startswith("@@") else word
    try:
        return decode_text(_read_bytes(word[1:]))
    except OSError as fault:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read: {fault.strerror}") from None
    except NoText as no:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read as text: it is {no}") from None


def _read_bytes(name: str) -> bytes:
    """The bytes, never more than one beyond what is taken."""
    if name == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _build_json_reader(kind: type) -> Callable[[str], Any]:
    def read(word: str) -> Any:
        try:
            value = json.loads(read_text(word))
        except ValueError:
            return None
        return value if isinstance(value, kind) and (kind is bool) == isinstance(value, bool) else None

    return read


def _read_number(word: str) -> int | float | None:
    try:
        value = json.loads(word)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": _build_json_reader(int),
    "number": _read_number,
    "boolean": _build_json_reader(bool),
    "object": _build_json_reader(dict),
    "array": _build_json_reader(list),
}
_TYPE_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a JSON object",
    "array": "a JSON list",
    "string": "text",
}
