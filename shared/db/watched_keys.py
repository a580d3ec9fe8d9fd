"""Whether each key of a watch of award seats matched at the last check that answered for it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db import bulk
from shared.db.base import Base


def list_known_keys(session: Session, table: type[Base], watch_id: int) -> Sequence[Any]:
    """Key and state of every row of a watch."""
    columns = table.__table__.c
    owner = columns[_name_owner(table)]
    return session.execute(sa.select(columns.key, columns.matched).where(owner == watch_id)).all()


def store_states(
    session: Session, table: type[Base], watch_id: int, states: Mapping[str, bool], answered_at: datetime
) -> None:
    """The states of keys of `MonitorKey` or `FlightAlertKey`; the other keys keep theirs."""
    owner = _name_owner(table)
    rows = [
        {owner: watch_id, "key": key, "matched": matched, "answered_at": answered_at} for key, matched in states.items()
    ]
    if rows:
        newest = "do update set matched = excluded.matched, answered_at = excluded.answered_at"
        bulk.write(session, table, rows, f"on conflict ({owner}, key) {newest}")


def forget_keys(session: Session, table: type[Base], watch_id: int) -> None:
    """Deletes the states, so that the next match counts as new."""
    owner = table.__table__.c[_name_owner(table)]
    session.execute(sa.delete(table).where(owner == watch_id))


@cache
def _name_owner(table: type[Base]) -> str:
    return str(sa.inspect(table).primary_key[0].name)
