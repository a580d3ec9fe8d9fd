"""Answers between processes as JSON: our own values and the records that hold them, and nothing that could run.

The process that answers has read what a stranger sent. A fault in a library may have made it theirs, and pickle would
let it call whatever it likes in the program that asked.
"""

import base64
import json
import re
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any

_PLAIN = (str, int, float, bool, type(None))
_ROOM = "shared."  # an answer has no records of other packages
_TO_TEXT: dict[type, tuple[str, Callable[[Any], str]]] = {
    Decimal: ("decimal", str),
    date: ("date", date.isoformat),
    datetime: ("datetime", datetime.isoformat),
    time: ("time", time.isoformat),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode()),
}
_FROM_TEXT: dict[str, Callable[[Any], Any]] = {
    "pattern": lambda content: re.compile(*content),
    "decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
    "bytes": base64.b64decode,
}
_TO_LIST: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
_FROM_LIST: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, re.error)


class NotPlain(Exception):
    """A value that no answer may have, or a text that is no answer."""


def write_answer(value: Any) -> bytes:
    """Raises NotPlain."""
    return json.dumps(_Writer().write(value), separators=(",", ":")).encode()


def read_answer(text: bytes) -> Any:
    """Raises NotPlain."""
    try:
        return _Reader().read(json.loads(text))
    except _FAULTS as fault:
        raise NotPlain(type(fault).__name__) from None


class _Writer:
    """Lists stay lists; other values become objects of one name. A repeated record is written once."""

    def __init__(self) -> None:
        self.records: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no identity is given to another record

    def write(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is list:
            return [self.write(entry) for entry in value]
        if kind in _TO_TEXT:
            name, to_text = _TO_TEXT[kind]
            return {name: to_text(value)}
        if kind in _TO_LIST:
            return {_TO_LIST[kind]: [self.write(entry) for entry in value]}
        if kind is dict:
            return {"dict": [[self.write(key), self.write(entry)] for key, entry in value.items()]}
        if isinstance(value, re.Pattern):  # of rules, which come back with what they found
            return {"pattern": [value.pattern, value.flags]}
        if isinstance(value, Enum):
            return {"choice": [_name(kind), value.name]}
        number = self.records.get(id(value))
        return self._write_record(kind, value) if number is None else {"again": number}

    def _write_record(self, kind: type, value: Any) -> Any:
        if isinstance(value, tuple):
            written = {"named": [_name(kind), *map(self.write, value)]}
            self._remember(value)
            return written
        if not is_dataclass(kind):
            raise NotPlain(kind.__name__)
        self._remember(value)  # before its parts, which may lead back to it
        return {"record": [_name(kind), *(self.write(getattr(value, field.name)) for field in fields(kind))]}

    def _remember(self, value: Any) -> None:
        self.records[id(value)] = len(self.kept)
        self.kept.append(value)


class _Reader:
    def __init__(self) -> None:
        self.records: list[Any] = []
        self.kinds: dict[str, tuple[Any, list[str]]] = {}

    def read(self, node: Any) -> Any:
        if type(node) in _PLAIN:
            return node
        if isinstance(node, list):
            return [self.read(entry) for entry in node]
        ((name, content),) = node.items()
        if name in _FROM_TEXT:
            return _FROM_TEXT[name](content)
        if name in _FROM_LIST:
            return _FROM_LIST[name]([self.read(entry) for entry in content])
        if name == "dict":
            return {self.read(key): self.read(entry) for key, entry in content}
        if name == "again":
            return self.records[content]
        if name == "choice":
            return _find(content[0], Enum)[content[1]]
        if name == "named":
            return self._read_named(*content)
        if name == "record":
            return self._read_record(*content)
        raise NotPlain(name)

    def _read_named(self, name: str, *content: Any) -> Any:
        if name not in self.kinds:
            self.kinds[name] = (_find(name, tuple), [])
        record = tuple.__new__(self.kinds[name][0], [e if type(e) in _PLAIN else self.read(e) for e in content])
        self.records.append(record)
        return record

    def _read_record(self, name: str, *content: Any) -> Any:
        """Fills it without running code of its class, whose checks ran when it was written."""
        if name not in self.kinds:
            named_class = _find(name, object)
            if not is_dataclass(named_class):
                raise NotPlain(name)
            self.kinds[name] = (named_class, [field.name for field in fields(named_class)])
        kind, names = self.kinds[name]
        record = kind.__new__(kind)
        self.records.append(record)
        for field, entry in zip(names, content, strict=True):
            object.__setattr__(record, field, self.read(entry))
        return record


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _find(name: str, base: type) -> Any:
    """A class of ours in a module that is loaded already: nothing is imported because an answer says so."""
    module, _, attribute = name.partition(":")
    kind = vars(sys.modules[module])[attribute] if module.startswith(_ROOM) else None
    if not isinstance(kind, type) or not issubclass(kind, base):
        raise NotPlain(name)
    return kind
