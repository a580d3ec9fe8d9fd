"""Return shapes of the contract compared with result types: lists the fields a type lacks."""

import dataclasses
import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from mcp_server.toolkit.results import NoDataWord

Shape = dict[str, Any]  # field -> what is inside it; a leaf is a string: its kind, or the name of a record
_TOKENS = re.compile(r"[{},:]|[^{},:]+")
_LOOSE = re.compile(r"\[(?={)|(?<=})\]|\[\]|\|null|\|no_data")


def parse(text: str) -> Shape | str:
    """`[{name, steps[{to}], state: open|done}]|null` as a tree; lists and what may stand instead are left out."""
    tokens = iter(_TOKENS.findall(_LOOSE.sub("", text)))
    first = next(tokens, "")
    return _fields(tokens) if first == "{" else first.strip()


def _fields(tokens: Iterator[str]) -> Shape:
    fields: Shape = {}
    name = ""
    for token in tokens:
        if token == "}":
            return fields
        if token == "{":
            fields[name] = _fields(tokens)
        elif token == ":":
            value = next(tokens)
            fields[name] = _fields(tokens) if value.strip() == "{" else value.strip()
        elif word := re.match(r"\s*([\w.|]+)", token):
            *others, name = word[1].split("|")  # `balance|route: Route`: two fields, the type is the last one's
            fields |= {other: "" for other in (*others, name) if other not in fields}
    return fields


def members(kind: Any) -> Iterator[Any]:
    """What a type may be, without None, Annotated, lists and the keys of maps: `list[X] | None` is X."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from members(get_args(kind)[0])
    elif origin in (list, tuple, Union, UnionType):
        for arm in get_args(kind):
            yield from members(arm)
    elif kind is not type(None) and kind is not Ellipsis:
        yield kind


def fields_of(kind: Any) -> dict[str, Any] | None:
    """The fields of a record type; None when it is not one."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    if dataclasses.is_dataclass(kind):
        return get_type_hints(kind)
    return None


def missing(shape: Shape | str, kind: Any, records: dict[str, str], where: str) -> Iterator[str]:
    """The paths of the shape that no member of the type has. In a map with free keys only the values are compared."""
    tree = parse(records.get(shape, "")) if isinstance(shape, str) else shape
    if isinstance(tree, str) or list(members(kind)) == [NoDataWord]:  # nothing here has that fact yet
        return
    for member in members(kind):
        if get_origin(member) is dict:
            for name, inside in tree.items():
                yield from missing(inside, get_args(member)[1], records, f"{where}.{name}")
            return
    known: dict[str, list[Any]] = {}
    for member in members(kind):
        for name, annotation in (fields_of(member) or {}).items():
            known.setdefault(name, []).append(annotation)
    for name, inside in tree.items():
        if name not in known:
            yield f"{where}.{name}"
        for annotation in known.get(name, ()):
            yield from missing(inside, annotation, records, f"{where}.{name}")
