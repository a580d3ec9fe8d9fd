"""Whether each key that a watch of award seats looks at matched at the last check that answered for it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db import bulk
from shared.db.base import Base


def list_key_rows(
    table: type[Base], watch_id: int, states: Mapping[str, bool], answered_at: datetime
) -> list[dict[str, Any]]:
    """Rows of `MonitorKey` or `FlightAlertKey`, for the keys whose state is another than before."""
    owner = _name_owner(table)
    return [
        {owner: watch_id, "key": key, "matched": matched, "answered_at": answered_at} for key, matched in states.items()
    ]


def list_known_keys(session: Session, table: type[Base], watch_ids: Sequence[int]) -> Mapping[int, Sequence[Any]]:
    """Key and state of every row, by watch."""
    rows = defaultdict(list)
    for row in session.execute(_select_keys(table), {"ids": list(watch_ids)}):
        rows[row.watch_id].append(row)
    return rows


@cache
def _select_keys(table: type[Base]) -> sa.Select[Any]:
    columns = table.__table__.c
    owner, ids = columns[_name_owner(table)], sa.bindparam("ids", type_=sa.ARRAY(sa.BigInteger))
    return sa.select(owner.label("watch_id"), columns.key, columns.matched).where(owner == sa.any_(ids))


def store_key_rows(session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]]) -> None:
    """Of any number of watches; the other keys keep their state."""
    if rows:
        newest = "do update set matched = excluded.matched, answered_at = excluded.answered_at"
        bulk.write(session, table, rows, f"on conflict ({_name_owner(table)}, key) {newest}")


def forget_keys(session: Session, table: type[Base], watch_id: int) -> None:
    """So that whatever matches next counts as new."""
    owner = table.__table__.c[_name_owner(table)]
    session.execute(sa.delete(table).where(owner == watch_id))


@cache
def _name_owner(table: type[Base]) -> str:
    return str(sa.inspect(table).primary_key[0].name)
