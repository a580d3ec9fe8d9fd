"""The one decorator that turns a function into a tool, and the list of all tools."""

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from mcp_server.toolkit.argument_faults import MAX_FAULTS, describe_faults
from mcp_server.toolkit.argument_schema import (
    PLACE,
    REPLACEABLE,
    UNASSUMED,
    Parameter,
    Schema,
    condense,
    has_mark,
    object_schema,
    read_parameters,
)
from mcp_server.toolkit.json_bodies import MAX_VALUES, exceeds_values
from mcp_server.toolkit.results import Result
from shared.domain.display_names import to_one_line
from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.domain.plans import Tier
from shared.domain.preferences import SETTINGS
from shared.errors import Invalid

# Arguments of tools: raw JSON values become checked keyword values, as leniently as MCP hosts need.

_BOOLEANS = {"true": True, "false": False}
_NUMBERS = ("integer", "number")
_MAX_CHARACTERS = 10_000  # of a text whose schema allows no longer one: readers of it look at each sign
_LEAST_OF_MANY_LINES = 1000  # characters a text may have that is written in lines, such as notes
# What n8n sends with the arguments of a model; the person there cannot take it away.
_OF_THE_HOST = frozenset({"sessionId", "action", "chatInput", "toolCallId"})
_RECORD = "booking_id"
_MAX_LEVELS = 64  # of lists and objects in each other, far below where Python stops a recursion


class Arguments:
    """The parameters of one tool: their JSON Schema, and the check that turns raw arguments into keyword values.

    `more`: parameters that the gate handles, not the function.
    """

    def __init__(self, function: Callable[..., Any], more: Mapping[str, Parameter] | None = None) -> None:
        parameters, definitions = read_parameters(function)
        parameters |= more or {}
        self.schema = object_schema(parameters, definitions)
        self.listed = condense(self.schema)  # what hosts see of it
        self.required: list[str] = self.schema.get("required", [])
        self.places = [name for name, parameter in parameters.items() if has_mark(parameter.type, PLACE)]
        self._replaceable = [name for name, p in parameters.items() if has_mark(p.type, REPLACEABLE)]
        self._optional = self.schema["properties"].keys() - set(self.required)
        self.settings = {  # the profile setting that fills each of these when a call leaves it out
            name: SETTINGS[name]
            for name, parameter in parameters.items()
            if name in SETTINGS and name in self._optional and not has_mark(parameter.type, UNASSUMED)
        }
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
        present = dict.fromkeys(self._replaceable, "") | present
        try:
            model = self.model.model_validate(present)
        except ValidationError as error:
            raise Invalid(*describe_faults(error, self.schema, present)) from None
        return dict(vars(model))

    def fill(self, raw_arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Missing arguments from these profile settings; values unknown to the tool are skipped.

        A call that names a booking takes other missing values from it.
        """
        if raw_arguments.get(_RECORD) is not None:
            return {}
        nodes, filled = self.schema["properties"], {}
        for name, setting in self.settings.items():
            value, node = settings.get(setting), nodes[name]
            if value is None or raw_arguments.get(name) is not None:
                continue
            if value in node.get("enum", (value,)) and not ("maximum" in node and value > node["maximum"]):
                filled[name] = value
        return filled

    def _limit_unknown(self, raw_arguments: dict[str, Any]) -> dict[str, Any]:
        """Keeps no more unknown names than the answer will name: each costs the check its time."""
        properties = self.schema["properties"]
        unknown = [name for name in raw_arguments if name not in properties]
        if not unknown:
            return raw_arguments
        named = [name for name in unknown if name not in _OF_THE_HOST][:MAX_FAULTS]
        return {name: raw_arguments[name] for name in (*(n for n in raw_arguments if n in properties), *named)}


def _check_storable(value: Any, most_characters: int, levels: int = _MAX_LEVELS) -> None:
    """The database takes every text but the null character and halves of surrogate pairs. Raises ValueError."""
    if levels == 0:
        raise ValueError("is nested too deeply")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for entry in value:
            _check_storable(entry, most_characters, levels - 1)
    elif isinstance(value, str) and len(value) > most_characters:
        raise ValueError("is too long")
    elif isinstance(value, str) and ("\0" in value or not _is_unicode(value)):
        raise ValueError("holds a character that cannot be stored")


def _find_longest(node: Any) -> int:
    """Characters of the longest text that a schema allows somewhere in it; 0 where it names no length."""
    if isinstance(node, dict):
        if node.get("additionalProperties") is True:
            return sys.maxsize  # the arguments of another tool, which checks them itself
        return max(map(_find_longest, node.values()), default=0) if (most := node.get("maxLength")) is None else most
    return max(map(_find_longest, node), default=0) if isinstance(node, list) else 0


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fold_short_texts(value: Any, node: Schema) -> Any:
    """Puts names and other short texts on one line; leaves texts with a pattern or choices unchanged."""
    if isinstance(value, list):
        return [_fold_short_texts(entry, node.get("items", {})) for entry in value]
    if isinstance(value, dict):
        return {
            name: _fold_short_texts(entry, node.get("properties", {}).get(name, {})) for name, entry in value.items()
        }
    if not isinstance(value, str) or node.get("type") != "string" or node.keys() & {"pattern", "enum", "format"}:
        return value
    return to_one_line(value) if node.get("maxLength", 0) < _LEAST_OF_MANY_LINES else value


def _lenient_reader(node: Schema) -> BeforeValidator:
    """Reads what hosts really send: lists as JSON text, and numbers as people write them.

    A boolean is never a number, nor a word a boolean.
    """
    kind = node.get("type")
    inner = node.get("items") or node.get("additionalProperties") or {}
    inner_kind = inner.get("type") if isinstance(inner, dict) else None
    most_characters = max(_MAX_CHARACTERS, _find_longest(node))

    def read(value: Any) -> Any:
        if isinstance(value, bool) and kind in _NUMBERS:
            raise ValueError("is a boolean")
        if isinstance(value, str) and kind in ("array", "object"):
            if exceeds_values(value.encode(errors="replace")):
                raise ValueError("has too many entries")
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        if isinstance(value, list) and len(value) > MAX_VALUES:
            raise ValueError("has too many entries")
        _check_storable(value, most_characters)
        if kind in _NUMBERS:
            value = read_number(value, is_whole=kind == "integer")
        elif inner_kind in _NUMBERS:
            value = _read_entries(value, is_whole=inner_kind == "integer")
        if kind == "boolean" and not isinstance(value, bool):
            if isinstance(value, str) and value in _BOOLEANS:
                return _BOOLEANS[value]
            raise ValueError("is not a boolean")
        return _fold_short_texts(value, node)

    return BeforeValidator(read)


def _read_entries(value: Any, *, is_whole: bool) -> Any:
    """The numbers of a list or a map."""
    if not isinstance(value, (list, dict)):
        return value
    entries = {at: value[at] for at in (value if isinstance(value, dict) else range(len(value)))}
    for at, entry in entries.items():
        if isinstance(entry, bool):
            raise ValueError("holds a boolean")
        try:
            entries[at] = read_number(entry, is_whole=is_whole)
        except UnreadNumber as fault:
            fault.place = f".{at}" if isinstance(value, dict) else f"[{at}]"
            raise
    return entries if isinstance(value, dict) else list(entries.values())


__all__ = ["TOOLS", "Effect", "Tier", "Tool", "tool"]

F = TypeVar("F", bound=Callable[..., Any])
Meter = Literal["none", "search"]
Detail = Literal["compact", "full"]
Static = bool | Literal["mostly"]
_DETAIL = Parameter(Detail | None, None, {"type": "string", "enum": list(get_args(Detail))})


class Effect(Enum):
    """A call's effect on what the user can see: read-only, destructive, idempotent."""

    READS = (True, False, True)
    ADDS = (False, False, False)
    FILES = (False, False, True)
    CHANGES = (False, True, True)
    REPLACES = (False, True, False)


_CHANGE = (Effect.CHANGES, Effect.REPLACES)


@dataclass(frozen=True)
class Tool:
    """One tool: its function, and data for the gate, the list, REST and the documents."""

    function: Callable[..., Any]
    name: str
    title: str  # what a person reads before allowing a call: a verb and its object
    area: str
    tier: Tier
    effect: Effect
    open_world: bool
    live: bool
    meter: Meter
    anonymous: bool
    needs: str | None
    trial: Callable[[int], bool] | None
    description: str
    arguments: Arguments = field(repr=False)
    states_facts: bool = False
    screen: str | None = None
    keeps_files: bool = False
    # Arguments, day and facts make its answer in under a millisecond: it runs on the event loop and reads no rows.
    # "mostly": it needs rows for some arguments, and then starts again on a thread. To go there takes 0.1 ms.
    static: Static = False

    @property
    def plain_name(self) -> str:
        """The name as words, for sentences about the feature: a title is an imperative and fits none."""
        return self.name.replace("_", " ").capitalize()

    @cached_property
    def returns(self) -> type[Result]:
        result: type[Result] = get_type_hints(self.function)["return"]
        return result

    @cached_property
    def cites(self) -> bool:
        """Whether its results include facts of the reference data, with the fields of `Sourced`."""
        return '"unaudited"' in json.dumps(self.returns.model_json_schema())

    @property
    def condenses(self) -> bool:
        """Whether it takes `detail` and answers compactly unless asked for everything."""
        return "detail" in self.arguments.schema["properties"]

    @property
    def knows_person(self) -> bool:
        """Whether settings of the profile fill arguments that are left out, and airlines are the person's.

        A change leaves alone what a call leaves out. A static tool states facts of every cabin and reads no rows.
        """
        return bool(self.arguments.settings) and not self.static and self.effect not in _CHANGE

    @property
    def takes_reports(self) -> bool:
        """Whether its answers link to the page for reporting wrong facts."""
        return self.cites or self.states_facts

    @property
    def reads(self) -> bool:
        """Whether a call changes nothing that the user can see."""
        return self.effect.value[0]

    @property
    def hints(self) -> dict[str, bool]:
        reads, destroys, repeats = self.effect.value
        return {
            "readOnlyHint": reads,
            "destructiveHint": destroys,
            "idempotentHint": repeats,
            "openWorldHint": self.open_world,
        }


TOOLS: dict[str, Tool] = {}


def build_arguments(function: Callable[..., Any], *, condenses: bool) -> Arguments:
    """Builds the arguments of the signature, and `detail` if the gate makes its answers compact."""
    return Arguments(function, {"detail": _DETAIL} if condenses else None)


def _fold(text: str) -> str:
    """Puts each paragraph on one line: line breaks and empty lines cost a model bytes."""
    return "\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def tool(
    area: str,
    tier: Tier,
    effect: Effect,
    title: str | None = None,
    *,
    live: bool = False,
    open_world: bool = False,
    meter: Meter = "none",
    anonymous: bool = False,
    needs: str | None = None,
    trial: Callable[[int], bool] | None = None,
    states_facts: bool = False,
    screen: str | None = None,
    catalogue: dict[str, Tool] = TOOLS,
    condenses: bool = False,
    static: Static = False,
    keeps_files: bool = False,
) -> Callable[[F], F]:
    """Registers a function as a tool. `def` tools take a Call, `async def` tools (they wait for sources) a LiveCall.

    `trial` says whether an account below the tier may use the tool for a while, by its id. `states_facts`: its results
    state reviewed facts without the fields of `Sourced`. `screen`: the file of `mcp_server/screens` that draws them.
    `condenses`: it takes `detail`, for the gate. `catalogue` is another one for tools that are no part of it.
    `keeps_files`: it stores a file, or has mail stored, which accounts of no person may not have.
    What people say who need it, which `find_tools` looks at and not at the title, stands in `tool_words.toml`.
    The docstring is the description and ends with the tier's label; parameters and schema come from the signature.
    """

    def register(function: F) -> F:
        name = function.__name__
        if name in catalogue:
            raise ValueError(f"two tools named {name}")
        catalogue[name] = Tool(
            function=function,
            name=name,
            title=title or name.replace("_", " ").capitalize(),
            description=_fold(inspect.getdoc(function) or ""),
            arguments=build_arguments(function, condenses=condenses),
            area=area,
            tier=tier,
            effect=effect,
            open_world=open_world,
            live=live or inspect.iscoroutinefunction(function),
            meter=meter,
            anonymous=anonymous,
            needs=needs,
            trial=trial,
            states_facts=states_facts,
            screen=screen,
            static=static,
            keeps_files=keeps_files,
        )
        return function

    return register


# The parameter ?areas=cards,search: the areas of the catalogue to list for a client.


class UnknownArea(Exception):
    """A name is not an area; `areas` lists all."""

    def __init__(self, areas: list[str]) -> None:
        super().__init__(f"Unknown area; the areas are {', '.join(areas)}.")
        self.areas = areas


def parse_areas(query_string: bytes) -> frozenset[str]:
    """The areas named; empty for all. Other parameters are ignored. Raises UnknownArea."""
    if not query_string:
        return frozenset()
    values = [value for name, value in parse_qsl(query_string.decode("latin-1")) if name == "areas"]
    names = frozenset(name.strip() for value in values for name in value.split(",") if name.strip())
    areas = sorted({tool.area for tool in TOOLS.values()})
    if names - set(areas):
        raise UnknownArea(areas)
    return names
