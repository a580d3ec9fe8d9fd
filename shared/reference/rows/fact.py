"""Fields of every fact: its sources, their dates, its audit day and its confidence."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, TypeVar, dataclass_transform

from shared.domain import offers

R = TypeVar("R")
FILES: dict[str, type] = {}  # the row type of each file
KEYS: dict[str, tuple[str, ...]] = {}  # of a file: the columns that name a row, unique, and the sort order of its rows
NAMES: dict[str, tuple[str, ...]] = {}  # of a file without a key: the columns that name a row; else all its own do
DATED: dict[str, tuple[str, ...]] = {}  # the subject of a dated fact: rows with the same values never overlap in time


@dataclass_transform(frozen_default=True)
def rows_of(file: str, *, key: str = "", names: str = "", about: str = "") -> Callable[[type[R]], type[R]]:
    """The frozen row type of one file, with the columns of its key or names and, for a dated fact, of its subject."""

    def register(row: type[R]) -> type[R]:
        if key:
            KEYS[file] = tuple(key.split())
        if names:
            NAMES[file] = tuple(names.split())
        if about:
            DATED[file] = tuple(about.split())
        FILES[file] = dataclass(frozen=True, slots=True)(row)
        return FILES[file]

    return register


def build_from(kind: type[R], row: Any, /, **own: Any) -> R:
    """Fills missing fields from the row's fields of that name; others keep their default."""
    names = {field.name for field in fields(kind)} - own.keys()  # type: ignore[arg-type]
    return kind(**own, **{name: getattr(row, name) for name in names if hasattr(row, name)})


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact's source, its date, our last confirmation, and its confidence.

    `as_of` is the day of the page that was read; `audited_on` the day someone confirmed the value: in a primary page,
    or with two publishers.
    """

    source_url: str
    second_source_url: str | None
    as_of: str | None
    audited_on: date | None
    confidence: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Dated(Fact):
    """A fact valid from a day to a day, both included. None: from the start, or until further notice."""

    valid_from: date | None
    valid_to: date | None

    @property
    def known_from(self) -> date | None:
        """The first day it is known to be valid; None: from the start."""
        return self.valid_from

    def is_valid(self, on: date) -> bool:
        first = self.known_from
        return (first is None or first <= on) and (self.valid_to is None or on <= self.valid_to)


@dataclass(frozen=True, slots=True)
class OfferRow(Dated):
    """A temporary offer. A first day that no source gives is empty, never the day of a list."""

    @property
    def known_from(self) -> date | None:
        return offers.find_known_start(self)
