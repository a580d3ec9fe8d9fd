"""Many rows of one table at once: mappings go in, and are written by a statement whose text is the same for any number.

Hundreds of rows cost one parameter then: nothing is compiled for them, and the driver prepares the statement once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_json
from sqlalchemy.orm import Session

from shared.db.base import Base, ModeOwned


def write(
    session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]], then: str = "", **told: Any
) -> sa.Result[Any]:
    """All rows name the same columns and are written in their order; those of a data mode in the session's.

    `then` is what follows the rows in the statement: what a conflict does, what is returned.
    """
    columns = seen = ", ".join(sorted(rows[0]))
    if issubclass(table, ModeOwned):
        columns, seen = f"{columns}, synthetic", f"{seen}, :synthetic"
        told["synthetic"] = session.info["synthetic"]
    name = table.__tablename__
    text = f"""insert into {name} ({columns}) select {seen}
 from json_populate_recordset(null::{name}, cast(:rows as json)) {then}"""  # noqa: S608 - names of ours
    return session.execute(sa.text(text), told | {"rows": to_json(rows).decode()})
