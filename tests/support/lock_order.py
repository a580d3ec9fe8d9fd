"""Whoever locks an account and other rows in one transaction locks the account first, or two such calls can block
each other for good. Watched in the tests that use the fixture."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

_LOCKS = re.compile(r"\bfor (?:no key update|update|key share|share)\b(?: of (\w+))?", re.IGNORECASE)
_OF_WORKERS = ("job_runs", "schedules")  # which a worker holds before it reads whose they are
_FIRST_TABLE = re.compile(r"\bfrom (\w+)", re.IGNORECASE)


@pytest.fixture
def account_is_locked_first() -> Iterator[None]:
    faults: set[str] = set()

    def begin(connection: sa.Connection) -> None:
        connection.info["locked"] = []

    def note(connection: sa.Connection, cursor: Any, statement: str, *_: Any) -> None:
        lock, locked = _LOCKS.search(statement), connection.info.setdefault("locked", [])
        if lock is None or cursor.rowcount == 0 or "accounts" in locked:
            return
        table = lock[1] or _FIRST_TABLE.search(statement)[1]  # type: ignore[index]
        if table in _OF_WORKERS:
            return
        if table != "accounts" and not lock[1] and " join accounts " in statement.lower():
            faults.add(f"{table} is locked before its account")  # rows are locked in the order of the tables
        if table == "accounts" and locked:
            faults.add(f"the account is locked after {locked}")
        locked.append(table)

    sa.event.listen(sa.Engine, "begin", begin)
    sa.event.listen(sa.Engine, "after_cursor_execute", note)
    yield
    sa.event.remove(sa.Engine, "after_cursor_execute", note)
    sa.event.remove(sa.Engine, "begin", begin)
    assert faults == set()
