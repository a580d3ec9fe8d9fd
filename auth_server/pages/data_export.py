"""A copy of an account: its id goes in; every row that hangs on it, in whatever table, comes out without secrets."""

import re
from typing import Any

from sqlalchemy import ColumnElement, Table, select
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - registers every table
from shared import clock
from shared.db.accounts import Account
from shared.db.base import Base

# Of no use to the person, and of use to a thief of the copy. `facts` of a message hold what its link follows from.
_SECRET = re.compile(r"hash|secret|sealed|token|password|nonce|csrf|challenge|^facts$|^ending$")
_ACCOUNTS = Account.__table__


def everything(db: Session, account_id: int) -> dict[str, Any]:
    """Rows by table, of both data modes: the session's guards do not apply to tables."""
    found: dict[str, Any] = {"exported_at": clock.now()}
    for table, mine in _reachable(account_id).items():
        columns = [column for column in table.columns if not _SECRET.search(column.name)]
        rows = db.execute(select(*columns).where(mine).order_by(*table.primary_key.columns)).mappings()
        found[table.name] = [dict(row) for row in rows]
    return found


def _reachable(account_id: int) -> dict[Table, ColumnElement[bool]]:
    """Each table whose rows belong to an account, directly or through another table, and which are this one's."""
    found: dict[Table, ColumnElement[bool]] = {}
    for table in Base.metadata.sorted_tables:
        if (mine := _owned(table, account_id, found)) is not None:
            found[table] = mine
    return found


def _owned(table: Table, account_id: int, known: dict[Table, ColumnElement[bool]]) -> ColumnElement[bool] | None:
    """A table that names the account goes by that alone: what else it names may be somebody else's."""
    if table is _ACCOUNTS:
        return table.c.id == account_id
    keys = [key for key in table.foreign_keys if key.column.table is not table]
    for key in keys:
        if key.column.table is _ACCOUNTS:
            return key.parent == account_id
    for key in keys:
        if key.column.table in known:
            return key.parent.in_(select(key.column).where(known[key.column.table]))
    return None
