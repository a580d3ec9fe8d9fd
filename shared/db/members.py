"""Members of a household: whose a balance, status, card or booking is. The empty name is the account holder."""

from typing import Annotated

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session, mapped_column

HOLDER = ""
member = Annotated[str, mapped_column(server_default=HOLDER)]


def find_spelling(session: Session, name: str | None, *columns: InstrumentedAttribute[str]) -> str:
    """The spelling already in these columns, the first one first, else the name as sent; HOLDER without one."""
    text = " ".join((name or "").split())
    if not text:
        return HOLDER
    ranked = (
        sa.select(column.label("name"), sa.literal(rank).label("rank")).where(sa.func.lower(column) == text.lower())
        for rank, column in enumerate(columns)
    )
    spellings = sa.union_all(*ranked).subquery()
    return session.scalars(sa.select(spellings.c.name).order_by(spellings.c.rank).limit(1)).first() or text
