"""Bulk inserts: many rows of one table in one statement, whose text does not depend on their number.

Hundreds of rows are then one parameter: nothing is compiled, and the driver prepares the statement once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_json
from sqlalchemy.orm import Session

from shared.db.base import Base, ModeOwned


def write(
    session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]], then: str = "", **params: Any
) -> sa.Result[Any]:
    """Writes rows, all with the same columns, in their order; rows with a data mode get the session's.

    `then` is the end of the statement: on conflict, returning.
    """
    moded = issubclass(table, ModeOwned)
    if moded:
        params["synthetic"] = session.info["synthetic"]
    text = _build_insert(table.__tablename__, tuple(sorted(rows[0])), moded, then)
    return session.execute(text, params | {"rows": to_json(rows).decode()})


@lru_cache(maxsize=64)
def _build_insert(name: str, columns: tuple[str, ...], moded: bool, then: str) -> sa.TextClause:
    columns_written, columns_read = ", ".join(columns), ", ".join(columns)
    if moded:
        columns_written, columns_read = f"{columns_written}, synthetic", f"{columns_read}, :synthetic"
    return sa.text(
        f"""insert into {name} ({columns_written}) select {columns_read}
 from json_populate_recordset(null::{name}, cast(:rows as json)) {then}"""  # noqa: S608 - names of ours
    )
