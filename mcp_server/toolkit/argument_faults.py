"""Faults of arguments in words: which argument, what is wrong with it, and what is expected."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from mcp_server.toolkit.argument_schema import Schema
from shared.domain import names
from shared.errors import Fault, describe_uncovered
from shared.reference.load import reference

MAX_FAULTS = 20  # named in one answer
_MAX_NAME = 80


class WrongValue(ValueError):
    """Raised by a parameter's check that names what it expects, because its schema cannot.

    `place` is where the entry is in a list.
    """

    def __init__(self, problem: str, expected: str, place: str = "") -> None:
        super().__init__(problem)
        self.expected, self.place = expected, place


def describe_faults(error: ValidationError, schema: Schema, arguments: dict[str, Any]) -> list[Fault]:
    """One fault for each argument that pydantic refused."""
    faults: dict[str, Fault] = {}
    for e in error.errors(include_url=False, include_context=True):
        name = str(e["loc"][0]) if e["loc"] else "arguments"
        if name in faults:
            continue
        node = schema["properties"].get(name)
        if node is None:
            faults[name] = Fault(_printable(name), _PROBLEMS["extra_forbidden"], _parameter_names(schema))
            continue
        kind = "missing" if arguments.get(name) is None else e["type"]
        if kind == "too_long" and node.get("type") == "string":
            kind = "string_too_long"
        refusal = e.get("ctx", {}).get("error", "")
        where = name + _printable(getattr(refusal, "place", "")) + _locate(e["loc"][1:], arguments.get(name))
        expected = getattr(refusal, "expected", None) or describe_expected(node, arguments.get(name))
        problem = _describe_problem(kind, str(refusal))
        if kind == "literal_error" and (names := _find_known_names(e["input"], e["ctx"]["expected"])):
            problem = f"is {' and '.join(names)}, which {describe_uncovered(names)}"
        faults[name] = Fault(where, problem, expected)
    return list(faults.values())[:MAX_FAULTS]


def _find_known_names(value: Any, choices: str) -> Sequence[str]:
    """Known things with this name that are not among the choices of programmes or airlines; a bare refusal would say
    they are unknown. `choices` are in quotes, as pydantic writes them.
    """
    facts, values = reference(), re.findall("'([^']*)'", choices)
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_NAME:
        return ()
    if all(code in facts.carriers for code in values):
        return [facts.airlines[code].name for code in facts.find_airlines(value) if code not in values]
    if not all(facts.find_programs(choice) for choice in values):
        return ()
    meant = facts.find_programs(value)
    return [facts.programs[slug].name for slug in meant if slug not in values] or facts.find_outside_names(value)


def _parameter_names(schema: Schema) -> str:
    names = ", ".join(schema["properties"])
    return f"one of the parameters {names}" if names else "no arguments"


def _printable(name: str) -> str:
    """A name the client made up, short and printable, so that it can be repeated in the answer."""
    return "".join(c if c.isprintable() else "?" for c in name[:60])


def _locate(loc: tuple[int | str, ...], value: Any) -> str:
    """The path to the entry of a list or of a map; `loc` also names arms of unions, which are left out."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif isinstance(value, dict) and part in value:
            path += f".{_printable(part)}"
    return path


_PROBLEMS = {
    "missing": "is required",
    "extra_forbidden": "is not a parameter of this tool",
    "too_long": "has too many entries",
    "too_short": "has too few entries",
    "string_too_long": "is too long",
    "string_too_short": "is too short",
    "string_pattern_mismatch": "does not have the expected form",
    "literal_error": "is not one of the values",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
}


def _describe_problem(kind: str, own_words: str) -> str:
    if kind == "value_error" and own_words:
        return own_words
    return _PROBLEMS.get(kind, "is not of the expected kind")


_FORMS = {  # by format or pattern
    "date": "a date YYYY-MM-DD that exists",
    "uuid": "a UUID, made once by you",
    r"^\d{4}-\d{2}$": "a month YYYY-MM",
    r"^\d{2}:\d{2}$": "a time of day HH:MM",
    r"^[A-Z]{3}$": "three capital letters such as LHR",
    r"^[A-Za-z]{3}$": "three letters such as LHR or USD",
    r"^([A-Za-z]{2})?$": "a two-letter country code, or an empty string",
    r"^[A-Z0-9]{2}$": "two capitals or digits such as BA",
    r"^[A-Za-z]{2}$": "two letters such as GB",
    r"^\+[1-9]\d{6,14}$": "a number such as +14155550100",
    r"^[A-Za-z0-9]{2,3} ?\d{1,4}[A-Za-z]?$": "an airline's code and a number, such as BA117",
    "^https://": "an address that begins with https://",
}
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def _range(node: Schema, low: str, high: str) -> str:
    if low in node and high in node:
        return f" from {node[low]} to {node[high]}"
    if low in node:
        return f" from {node[low]}"
    return f" up to {node[high]}" if high in node else ""


def describe_expected(node: Schema, value: Any = None) -> str:
    """A parameter's schema in words; for a long list of values, the three nearest to the one sent."""
    if "enum" in node or "const" in node:
        values = node.get("enum", [node.get("const")])
        if len(values) <= 20:
            return f"one of {', '.join(values)}"
        spelled = {names.normalize_name(v): v for v in values}
        text = str(value)[:80]
        holding = names.find_meanings(text, {form: (v,) for form, v in spelled.items()})
        alike = [spelled[form] for form in names.find_nearest(text, spelled)]
        nearest = list(dict.fromkeys((*(holding if len(holding) <= 3 else ()), *alike)))[:3]
        hint = f"; nearest: {', '.join(nearest)}" if nearest else f", such as {values[0]}"
        return f"one of {len(values)} values{hint}"
    kind = node.get("type", "")
    if kind == "array":
        most = f"at most {node['maxItems']}, " if "maxItems" in node else ""
        return f"a list ({most}each {describe_expected(node['items'])})" if "items" in node else "a list"
    if form := node.get("format") or node.get("pattern"):
        return _FORMS.get(form, "text of another form")
    if kind == "object" and (named := node.get("properties")):
        return f"an object with {', '.join(named)}"
    if kind == "object" and (inner := node.get("additionalProperties")):
        return f"an object (each value {describe_expected(inner)})" if inner is not True else "an object"
    words = _KINDS.get(kind, "another kind of value")
    lengths = _range(node, "minLength", "maxLength")
    return words + _range(node, "minimum", "maximum") + (f", {lengths.strip()} characters" if lengths else "")
