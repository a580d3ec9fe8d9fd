"""Export of an account: every row that belongs to it, in every table, without secrets."""

import re
from typing import Any

from sqlalchemy import ColumnElement, Table, select
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - registers every table
from shared import clock
from shared.db.accounts import Account
from shared.db.base import Base

# Useless to the person and useful to a thief of the copy. `facts` of a message contain what its link derives from.
_SECRET = re.compile(r"hash|secret|sealed|token|password|nonce|csrf|challenge|^facts$|^ending$|^traceparent$")
_ACCOUNTS = Account.__table__


def export_account(db: Session, account_id: int) -> dict[str, Any]:
    """Rows by table, of both data modes: the session's guards do not apply to tables."""
    tables: dict[str, Any] = {"exported_at": clock.now()}
    for table, owned in _list_owned_tables(account_id).items():
        columns = [column for column in table.columns if not _SECRET.search(column.name)]
        rows = db.execute(select(*columns).where(owned).order_by(*table.primary_key.columns)).mappings()
        tables[table.name] = [dict(row) for row in rows]
    return tables


def _list_owned_tables(account_id: int) -> dict[Table, ColumnElement[bool]]:
    """Each table whose rows belong to an account, directly or through another table, and which are this one's."""
    conditions: dict[Table, ColumnElement[bool]] = {}
    for table in Base.metadata.sorted_tables:
        if (owned := _find_owner_condition(table, account_id, conditions)) is not None:
            conditions[table] = owned
    return conditions


def _find_owner_condition(
    table: Table, account_id: int, conditions: dict[Table, ColumnElement[bool]]
) -> ColumnElement[bool] | None:
    """A table that refers to the account is judged by that alone: its other keys may lead to someone else's rows."""
    if table is _ACCOUNTS:
        return table.c.id == account_id
    keys = [key for key in table.foreign_keys if key.column.table is not table]
    for key in keys:
        if key.column.table is _ACCOUNTS:
            return key.parent == account_id
    for key in keys:
        if key.column.table in conditions:
            return key.parent.in_(select(key.column).where(conditions[key.column.table]))
    return None
