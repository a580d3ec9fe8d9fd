"""The report of a synchronisation: its changes and conflicts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

MAX_LISTED = 50  # changes, and as many conflicts


@dataclass(frozen=True)
class Change:
    kind: str
    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True)
class Conflict:
    """A row that was not changed. The reason is one of our own words."""

    kind: str
    id: str
    reason: str


@dataclass
class SyncReport:
    balances: int = 0
    statuses: int = 0
    bookings: int = 0
    trips: int = 0
    rows_pushed: int = 0
    bookings_pushed: int = 0
    changes: list[Change] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    def change(self, kind: str, id: object, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> None:
        self.changes.append(Change(kind, str(id), to_jsonable_python(before), to_jsonable_python(after)))

    def conflict(self, kind: str, id: object, reason: str) -> None:
        self.conflicts.append(Conflict(kind, str(id), reason))
