"""Thousands of accounts, each with rows like those of one person, written in a few statements."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.base import AccountOwned, Base
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - the walk below sees every table


def crowd(session: Session, like: int, accounts: int, copies: dict[str, int], otherwise: int = 0) -> None:
    """Copies every row of the account `like` so often, by table, and deals the copies out to new accounts."""
    session.execute(sa.text("set local statement_timeout = 0"))
    first = session.scalar(sa.text("select max(id) + 1 from accounts"))
    session.execute(
        sa.text(
            "insert into accounts (public_id, email) select 'c' || n, n || '@c.test' from generate_series(1, :n) n"
        ),
        {"n": accounts},
    )
    session.execute(sa.text("set local session_replication_role = replica"))  # foreign keys are right by themselves
    for table in Base.metadata.sorted_tables:
        number = copies.get(table.name, otherwise)
        if number and table.name in _OWNED:
            asked = {"like": like, "copies": number, "first": first, "accounts": accounts}
            session.execute(sa.text(_copying(table)), asked)
    session.commit()
    with session.get_bind().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:  # type: ignore[union-attr]
        connection.execute(sa.text("set statement_timeout = 0"))
        connection.execute(sa.text("vacuum analyze"))
        connection.execute(sa.text("reset statement_timeout"))


_OWNED = {
    m.class_.__tablename__
    for m in Base.registry.mappers
    if issubclass(m.class_, AccountOwned) and m.class_.__tablename__ != "accounts"
}


def _copying(table: sa.Table) -> str:
    columns = {c.name: _copied(table, c) for c in table.columns if c.identity is None and not _made_by_itself(c)}
    columns["account_id"] = ":first + n % :accounts"
    return (
        f"insert into {table.name} ({', '.join(columns)}) select {', '.join(columns.values())}"
        f" from generate_series(1, :copies) n, {table.name} t where t.account_id = :like on conflict do nothing"
    )


def _made_by_itself(column: sa.Column[Any]) -> bool:
    return column.primary_key and column.server_default is not None


def _copied(table: sa.Table, column: sa.Column[Any]) -> str:
    """The same value, but its own day, no link to a row of the first account, and keys that stay unique."""
    if column.foreign_keys:
        number = isinstance(column.type, sa.Integer)
        return "null" if column.nullable else f"t.{column.name} + n" if number else f"t.{column.name}"
    if isinstance(column.type, sa.Date):
        return f"t.{column.name} + n % 300"
    if isinstance(column.type, sa.String) and column in _unique(table):
        return f"t.{column.name} || n"
    return f"t.{column.name}"


def _unique(table: sa.Table) -> set[sa.Column[Any]]:
    """Columns of keys that do not begin with whose row it is."""
    keys = [c for c in table.constraints if isinstance(c, sa.UniqueConstraint | sa.PrimaryKeyConstraint)]
    keyed = [list(key.columns) for key in keys] + [list(index.columns) for index in table.indexes if index.unique]
    return {column for columns in keyed if "account_id" not in {c.name for c in columns} for column in columns}
