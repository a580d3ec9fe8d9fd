"""JSON Schema of a tool's parameters, in the plain form that MCP hosts accept."""

import inspect
import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from mcp_server.toolkit.sandbox_rows import describe_marks

Schema = dict[str, Any]


class Plain(GenerateJsonSchema):
    """Generates schemas without titles, which repeat the parameter's name and cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def model_schema(self, schema: Any) -> Schema:
        return describe_marks(super().model_schema(schema))

    def dataclass_schema(self, schema: Any) -> Schema:
        return describe_marks(super().dataclass_schema(schema))


class Place:
    """Marks a parameter that takes a city for its airports, so that the answer names them."""


PLACE = Place()


class Unassumed:
    """Marks a parameter that the profile never fills: left out, it means something else."""


UNASSUMED = Unassumed()


class Replaceable:
    """Marks a required text that another parameter can stand for: left out, the tool reads it as empty text."""


REPLACEABLE = Replaceable()


class Parameter(NamedTuple):
    """One parameter of a tool: its type, its default (`...` when it is required) and its schema."""

    type: Any
    default: Any
    schema: Schema


def read_parameters(function: Callable[..., Any]) -> tuple[dict[str, Parameter], Schema]:
    """The parameters of a tool after its first one, the call; and the definitions their schemas refer to."""
    hints = get_type_hints(function, include_extras=True)
    parameters: dict[str, Parameter] = {}
    definitions: Schema = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        describe = _describe if isinstance(default, Hashable) else _describe.__wrapped__  # a list has no hash
        schema, needed = describe(hints[name], default)
        definitions |= needed
        parameters[name] = Parameter(hints[name], default, schema)
    return parameters, definitions


@lru_cache(maxsize=1024, typed=True)
def _describe(hint: Any, default: Any) -> tuple[Schema, Schema]:
    """The schema of a parameter and what it refers to. 684 parameters are of 308 kinds: 0.15 s of a start."""
    annotated: Any = Annotated[hint, FieldInfo() if default is ... else FieldInfo(default=default)]
    full = TypeAdapter(annotated).json_schema(schema_generator=Plain)
    definitions = full.pop("$defs", {})
    schema = _flatten(full)
    if default not in (..., None):
        schema["default"] = full.get("default", default)
    return schema, definitions


def has_mark(kind: Any, mark: object) -> bool:
    """Whether the annotations of a type include a mark."""
    return kind is mark or any(has_mark(part, mark) for part in get_args(kind))


def object_schema(parameters: dict[str, Parameter], definitions: Schema) -> Schema:
    """The schema of all arguments together."""
    properties = {name: parameter.schema for name, parameter in parameters.items()}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [name for name, parameter in parameters.items() if parameter.default is ...]:
        schema["required"] = required
    if definitions:
        schema["$defs"] = definitions
    return schema


def _flatten(node: Schema) -> Schema:
    """Drops null from optional parameters and the empty choice that clears: hosts reject both."""
    arms = node.get("anyOf")
    if arms:
        arms = [a for a in arms if a.get("type") != "null"]
        rest = {k: v for k, v in node.items() if k != "anyOf" and (k, v) != ("default", None)}
        if len(arms) == 1:
            node = {**arms[0], **rest}
    if "" in node.get("enum", ()):
        node = {**node, "enum": [value for value in node["enum"] if value]}
    if node.get("default", ...) is None:
        node = {k: v for k, v in node.items() if k != "default"}
    if "items" in node:
        node = {**node, "items": _flatten(node["items"])}
    # A fragment of one sentence needs no full stop: 170 of them are read in every conversation.
    if re.fullmatch(r"[^.;:!?]+\.", node.get("description", "")):
        node = {**node, "description": node["description"][:-1]}
    return node


# The same schema in fewer bytes, because models read it in every conversation, and hosts' searches index it.

_SIZES = {"minLength", "maxLength", "minItems", "maxItems"}
_OWN_LIST = re.compile(r"From list_\w+")
_ISO_CODES = {"^[A-Za-z]{3}$", "^[A-Za-z]{2}$", "^([A-Za-z]{2})?$"}  # for parameters named after them
_LONG_CHOICE = 20  # values
_LONG_DEFAULT = 20  # characters
_FAR = 1000  # no one reaches a higher bound


def condense(schema: Schema) -> Schema:
    """The schema of all arguments without details a caller need not know before a call.

    A call is still checked against the whole schema, and a refusal names what it expects.
    """
    properties = {name: _condense(node, schema["properties"]) for name, node in schema["properties"].items()}
    return {**schema, "properties": properties}


def _condense(node: Schema, siblings: Schema) -> Schema:
    """Condenses one parameter."""
    out = {key: value for key, value in node.items() if key not in _SIZES}
    if node.get("minimum", 2) <= 1:  # no one asks for page 0 or negative points
        del out["minimum"]
    if node.get("maximum", 0) > _FAR:
        del out["maximum"]
    if node.get("pattern") in _ISO_CODES:
        del out["pattern"]
    if "default" in node and isinstance(node["default"], (int, float)) and node["default"] is not True:
        del out["default"]  # the answer shows how many rows and days it has
    if len(str(node.get("default", ""))) > _LONG_DEFAULT:
        del out["default"]
    if _OWN_LIST.fullmatch(node.get("description", "")):  # an id is named after its list, which says that it gives it
        del out["description"]
    if "description" in out and len(node.get("enum", ())) > _LONG_CHOICE:  # it says where the values come from
        del out["enum"]
    if "items" in node:
        out["items"] = _condense(node["items"], siblings)
        if siblings.keys() >= set(node["items"].get("enum", ("",))):  # names of the parameters next to it
            del out["items"]["enum"]
    return out
