"""Arguments of tools: raw JSON values become checked keyword values, with the leniency that MCP hosts need."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from mcp_server.toolkit.argument_faults import MAX_FAULTS, describe_faults
from mcp_server.toolkit.argument_schema import Parameter, Schema, object_schema, read_parameters
from shared.errors import Invalid

_BOOLEANS = {"true": True, "false": False}
_NUMBERS = ("integer", "number")
_MAX_ENTRIES = 20_000  # of any list, whatever its schema says: each entry's faults would have to be found
_MAX_LEVELS = 64  # of lists and objects in each other, far below where Python stops a recursion


class Arguments:
    """The parameters of one tool: their JSON Schema, and the check that turns raw arguments into keyword values.

    `more`: parameters that are not the function's, because the gate acts on them.
    """

    def __init__(self, function: Callable[..., Any], more: Mapping[str, Parameter] | None = None) -> None:
        parameters, definitions = read_parameters(function)
        parameters |= more or {}
        self.schema = object_schema(parameters, definitions)
        self.required: list[str] = self.schema.get("required", [])
        self._optional = self.schema["properties"].keys() - set(self.required)
        fields: dict[str, Any] = {
            name: (Annotated[parameter.type, _lenient_reader(parameter.schema)], parameter.default)
            for name, parameter in parameters.items()
        }
        self.model: type[BaseModel] = create_model(
            f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid", defer_build=True), **fields
        )

    def check(self, raw_arguments: dict[str, Any]) -> dict[str, Any]:
        """Keyword values for the tool. An explicit null for an optional argument means absent. Raises Invalid."""
        present = {
            name: value
            for name, value in self._limit_unknown(raw_arguments).items()
            if value is not None or name not in self._optional
        }
        try:
            model = self.model.model_validate(present)
        except ValidationError as error:
            raise Invalid(*describe_faults(error, self.schema, present)) from None
        return dict(vars(model))

    def _limit_unknown(self, raw_arguments: dict[str, Any]) -> dict[str, Any]:
        """No more unknown names than will be named in the answer: each costs the check its time."""
        properties = self.schema["properties"]
        unknown = [name for name in raw_arguments if name not in properties]
        if len(unknown) <= MAX_FAULTS:
            return raw_arguments
        names = (*(name for name in raw_arguments if name in properties), *unknown[:MAX_FAULTS])
        return {name: raw_arguments[name] for name in names}


def _check_storable(value: Any, levels: int = _MAX_LEVELS) -> None:
    """The database takes every text but the null character and halves of surrogate pairs. Raises ValueError."""
    if levels == 0:
        raise ValueError("is nested too deeply")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for entry in value:
            _check_storable(entry, levels - 1)
    elif isinstance(value, str) and ("\0" in value or not _is_unicode(value)):
        raise ValueError("holds a character that cannot be stored")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _lenient_reader(node: Schema) -> BeforeValidator:
    """What hosts really send: lists as JSON text are read; a boolean is never a number, nor a word a boolean."""
    kind = node.get("type")
    number_list = node.get("items", {}).get("type") in _NUMBERS

    def read(value: Any) -> Any:
        if isinstance(value, bool) and kind in _NUMBERS:
            raise ValueError("is a boolean")
        if isinstance(value, str) and kind in ("array", "object"):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        if isinstance(value, list) and len(value) > _MAX_ENTRIES:
            raise ValueError("has too many entries")
        _check_storable(value)
        if number_list and isinstance(value, list) and any(isinstance(v, bool) for v in value):
            raise ValueError("holds a boolean")
        if kind == "boolean" and not isinstance(value, bool):
            if isinstance(value, str) and value in _BOOLEANS:
                return _BOOLEANS[value]
            raise ValueError("is not a boolean")
        return value

    return BeforeValidator(read)
