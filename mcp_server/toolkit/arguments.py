"""Arguments of tools: a function's parameters become a strict model, a plain JSON Schema and clear faults."""

import difflib
import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from mcp_server.toolkit.sandbox_rows import describe_marks
from shared.errors import Fault, Invalid

Schema = dict[str, Any]
_WORDS = {"true": True, "false": False}
_MOST_ENTRIES = 20_000  # of any list, whatever its schema says: what is wrong with each would have to be found


class Plain(GenerateJsonSchema):
    """No generated titles: they repeat the parameter's name and cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def model_schema(self, schema: Any) -> Schema:
        return describe_marks(super().model_schema(schema))

    def dataclass_schema(self, schema: Any) -> Schema:
        return describe_marks(super().dataclass_schema(schema))


def _flatten(node: Schema) -> Schema:
    """Optional means absent, not null; a choice of simple types is a list of types; hosts reject other unions."""
    arms = node.get("anyOf")
    if arms:
        arms = [a for a in arms if a.get("type") != "null"]
        rest = {k: v for k, v in node.items() if k != "anyOf" and (k, v) != ("default", None)}
        if len(arms) == 1:
            node = {**arms[0], **rest}
        elif all(isinstance(a.get("type"), str) for a in arms):
            node = {k: v for a in arms for k, v in a.items()} | rest | {"type": [a["type"] for a in arms]}
    if node.get("default", ...) is None:
        node = {k: v for k, v in node.items() if k != "default"}
    if "items" in node:
        node = {**node, "items": _flatten(node["items"])}
    return node


def _types(node: Schema) -> set[str]:
    kind = node.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def _unstorable(value: Any) -> bool:
    """The database takes every character but the null character."""
    if isinstance(value, dict):
        return any(_unstorable(k) or _unstorable(v) for k, v in value.items())
    if isinstance(value, list):
        return any(map(_unstorable, value))
    return isinstance(value, str) and "\0" in value


def _reader(node: Schema) -> BeforeValidator:
    """What hosts really send: lists as JSON text are read; a boolean is never a number, nor a word a boolean."""
    kinds = _types(node)
    numbers = bool(kinds & {"integer", "number"}) or any(type(v) is int for v in node.get("enum", ()))
    number_list = bool(_types(node.get("items", {})) & {"integer", "number"})

    def read(value: Any) -> Any:
        if isinstance(value, bool) and numbers:
            raise ValueError("is a boolean")
        if isinstance(value, list) and len(value) > _MOST_ENTRIES:
            raise ValueError("has too many entries")
        if _unstorable(value):
            raise ValueError("holds a character that cannot be stored")
        if isinstance(value, str) and kinds & {"array", "object"}:
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return value
        if number_list and isinstance(value, list) and any(isinstance(v, bool) for v in value):
            raise ValueError("holds a boolean")
        if kinds == {"boolean"} and not isinstance(value, bool):
            if isinstance(value, str) and value in _WORDS:
                return _WORDS[value]
            raise ValueError("is not a boolean")
        return value

    return BeforeValidator(read)


class Arguments:
    """The parameters of one tool: their JSON Schema, and the check that turns arguments into keyword values."""

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = get_type_hints(function, include_extras=True)
        fields: dict[str, Any] = {}
        properties: Schema = {}
        definitions: Schema = {}
        self.required: list[str] = []
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            optional = parameter.default is not inspect.Parameter.empty
            default = parameter.default if optional else ...
            kind: Any = Annotated[hints[name], _with_default(default)]
            full = TypeAdapter(kind).json_schema(schema_generator=Plain)
            definitions |= full.pop("$defs", {})
            node = _flatten(full)
            if optional and default is not None:
                node["default"] = full.get("default", default)
            if not optional:
                self.required.append(name)
            properties[name] = node
            fields[name] = (Annotated[hints[name], _reader(node)], default)
        self.model: type[BaseModel] = create_model(
            f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields
        )
        self.schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if self.required:
            self.schema["required"] = self.required
        if definitions:
            self.schema["$defs"] = definitions

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """Keyword values for the tool. An explicit null for an optional argument means absent. Raises Invalid."""
        optional = self.schema["properties"].keys() - set(self.required)
        sent = {k: v for k, v in self._bounded(given).items() if v is not None or k not in optional}
        try:
            model = self.model.model_validate(sent)
        except ValidationError as error:
            raise Invalid(*self._faults(error, sent)) from None
        return {name: getattr(model, name) for name in type(model).model_fields}

    def _bounded(self, given: dict[str, Any]) -> dict[str, Any]:
        """Of names nobody knows no more than will be told: each costs the check its time."""
        known = self.schema["properties"]
        unknown = [name for name in given if name not in known]
        if len(unknown) <= _MOST_FAULTS:
            return given
        return {name: given[name] for name in (*(n for n in given if n in known), *unknown[:_MOST_FAULTS])}

    def _faults(self, error: ValidationError, sent: dict[str, Any]) -> list[Fault]:
        faults: dict[str, Fault] = {}
        for e in error.errors(include_url=False, include_context=True):
            name = str(e["loc"][0]) if e["loc"] else "arguments"
            if name in faults:
                continue
            node = self.schema["properties"].get(name)
            if node is None:
                faults[name] = Fault(_shown(name), _PROBLEMS["extra_forbidden"], self._known())
                continue
            where = name + _inside(e["loc"][1:], sent.get(name))
            kind = "missing" if sent.get(name) is None else e["type"]
            if kind == "too_long" and "string" in _types(node):
                kind = "string_too_long"
            words = _problem(kind, str(e.get("ctx", {}).get("error", "")))
            faults[name] = Fault(where, words, expectation(node, sent.get(name)))
        return list(faults.values())[:_MOST_FAULTS]

    def _known(self) -> str:
        names = ", ".join(self.schema["properties"])
        return f"one of the parameters {names}" if names else "no arguments"


def _with_default(default: Any) -> FieldInfo:
    return FieldInfo() if default is ... else FieldInfo(default=default)


_MOST_FAULTS = 20


def _shown(name: str) -> str:
    """A stranger's parameter name as it may be repeated: short and printable."""
    return "".join(c if c.isprintable() else "?" for c in name[:60])


def _inside(loc: tuple[int | str, ...], value: Any) -> str:
    """Which entry of a list or of a map is at fault; names of arms of a union, which are in `loc` too, are left out."""
    words = ""
    for part in loc:
        if isinstance(part, int):
            words += f"[{part}]"
        elif isinstance(value, dict) and part in value:
            words += f".{_shown(part)}"
    return words


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


def _problem(kind: str, own_words: str) -> str:
    if kind == "value_error" and own_words:
        return own_words
    return _PROBLEMS.get(kind, "is not of the expected kind")


_FORMS = {
    r"^\d{4}-\d{2}-\d{2}$": "a date YYYY-MM-DD that exists",
    r"^(\d{4}-\d{2}-\d{2})?$": "a date YYYY-MM-DD that exists, or an empty string",
    r"^\d{4}-\d{2}$": "a month YYYY-MM",
    r"^\d{2}:\d{2}$": "a time of day HH:MM",
    r"^[A-Z]{3}$": "three capital letters such as LHR",
    r"^[A-Za-z]{3}$": "three letters such as LHR or USD",
    r"^([A-Za-z]{2})?$": "a two-letter country code, or an empty string",
    r"^[A-Z0-9]{2}$": "two capitals or digits such as BA",
    r"^[A-Za-z]{2}$": "two letters such as GB",
    r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$": "a UUID, made once by you",
    r"^\+[1-9]\d{6,14}$": "a number such as +14155550100",
    r"^[A-Za-z0-9]{2,3} ?\d{1,4}[A-Za-z]?$": "an airline's code and a number, such as BA117",
    "^https://": "an address that begins with https://",
}
_KINDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def _range(node: Schema, low: str, high: str) -> str:
    if low in node and high in node:
        return f" from {node[low]} to {node[high]}"
    if low in node:
        return f" from {node[low]}"
    return f" up to {node[high]}" if high in node else ""


def expectation(node: Schema, value: Any = None) -> str:
    """A parameter's schema in words; of a long list of values the nearest three to what was sent."""
    if "enum" in node or "const" in node:
        values = list(dict.fromkeys(str(v) or "''" for v in node.get("enum", [node.get("const")])))
        if len(values) <= 20:
            return f"one of {', '.join(values)}"
        nearest = difflib.get_close_matches(str(value)[:80].lower(), values, 3, 0.4)
        hint = f"; nearest: {', '.join(nearest)}" if nearest else f", such as {values[0]}"
        return f"one of {len(values)} values{hint}"
    kinds = sorted(_types(node))
    if "array" in kinds:
        most = f"at most {node['maxItems']}, " if "maxItems" in node else ""
        return f"a list ({most}each {expectation(node['items'])})" if "items" in node else "a list"
    if "pattern" in node:
        return _FORMS.get(node["pattern"], "text of another form")
    if len(kinds) == 2 and kinds[1] == "string":
        return f"{_KINDS[kinds[0]]}{_range(node, 'minimum', 'maximum')}, or an empty string"
    if kinds == ["object"] and (inner := node.get("additionalProperties")):
        return f"an object (each value {expectation(inner)})" if inner is not True else "an object"
    words = " or ".join(_KINDS.get(k, "an object") for k in kinds) or "another kind of value"
    lengths = _range(node, "minLength", "maxLength")
    return words + _range(node, "minimum", "maximum") + (f", {lengths.strip()} characters" if lengths else "")
