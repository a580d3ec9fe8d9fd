"""The rows accounts own, before and after a task, and what differs from what must stand."""

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import permutations
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa

import shared.db.migrations  # noqa: F401 - registers every table
from shared.db.base import Base, transaction
from shared.domain.short_ids import read_uuid

# Books of the service about its own work; every call writes there.
BOOKKEEPING = {"usage_counters", "tool_calls", "search_records", "deadline_watches"}
ANY = "*"  # stands for any value but none

Row = dict[str, Any]
State = dict[tuple[str, int], list[Row]]  # (table, account) -> its rows


class Place(NamedTuple):
    table: str
    account_id: int


def _owned_tables() -> list[sa.Table]:
    tables = Base.metadata.sorted_tables
    return [table for table in tables if "account_id" in table.c and table.name not in BOOKKEEPING]


def take_state() -> State:
    """Every row that belongs to an account."""
    state: State = {}
    with transaction() as session:
        for table in _owned_tables():
            for row in session.execute(sa.select(table).order_by(*table.primary_key.columns)).mappings():
                state.setdefault((table.name, row["account_id"]), []).append(dict(row))
    return state


def _as_written(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.time):
        return f"{value:%H:%M}"
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def _meets(row: Row, wanted: Row) -> bool:
    return all(_is_as_wanted(row[name], value) for name, value in wanted.items())


def _is_as_wanted(value: Any, wanted: Any) -> bool:
    if wanted == ANY:
        return value is not None
    if isinstance(value, UUID):  # answers show most ids in the short form
        return isinstance(wanted, str) and read_uuid(wanted) == value
    return bool(_as_written(value) == wanted)


def _meet_all(rows: list[Row], wanted: list[Row]) -> bool:
    if len(rows) != len(wanted):
        return False
    orders = permutations(rows)
    return any(all(_meets(*pair) for pair in zip(order, wanted, strict=True)) for order in orders)


def find_differences(before: State, after: State, wanted: Mapping[Place, list[Row]]) -> list[str]:
    """What is not as it must be: `wanted` lists all rows of some places; every other place is as before."""
    faults = []
    for place, rows in wanted.items():
        stored = after.get(place, [])
        if not _meet_all(stored, rows):
            columns = sorted({name for row in rows for name in row})
            shown = [{name: _as_written(row[name]) for name in columns} for row in stored]
            faults.append(f"{place.table} of account {place.account_id}: {shown} instead of {rows}")
    others = sorted((before.keys() | after.keys()) - wanted.keys())
    changed = [key for key in others if before.get(key, []) != after.get(key, [])]
    return faults + [f"{table} of account {owner} changed, which no one asked for" for table, owner in changed]


def _holds(text: str, words: str) -> bool:
    return any(way in text for way in words.casefold().split("|"))


def find_wrong_words(text: str, says: Iterable[str], never: Iterable[str]) -> list[str]:
    lower = text.casefold()
    missing = [f"does not say {words!r}: {text}" for words in says if not _holds(lower, words)]
    return missing + [f"says {words!r}: {text}" for words in never if words.casefold() in lower]


def find_values(after: State, wanted: Mapping[Place, list[Row]], name: str) -> list[Any]:
    """What "$name" may stand for: the values in its columns."""
    columns = {(place, c) for place, rows in wanted.items() for row in rows for c, v in row.items() if v == f"${name}"}
    values = {_as_written(row[column]) for place, column in columns for row in after.get(place, [])}
    return sorted(values - {None}, key=str)
