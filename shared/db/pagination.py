"""Pages of rows: the rows of one page, and how many there are in all."""

from collections.abc import Iterable
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from shared.db.base import Base

Row = TypeVar("Row", bound=Base)


def count(session: Session, kind: type[Base], *fits: ColumnElement[bool]) -> int:
    return session.scalar(select_count(kind, *fits)) or 0


def select_count(kind: type[Base], *fits: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(kind).where(*fits)


def page_of(
    session: Session, kind: type[Row], fits: Iterable[ColumnElement[bool]], *order: Any, page: int, per_page: int
) -> tuple[list[Row], int]:
    """A first page that is not full holds all there are: they are not counted once more."""
    conditions = list(fits)
    query = select(kind).where(*conditions).order_by(*order).offset((page - 1) * per_page).limit(per_page)
    rows = list(session.scalars(query))
    return rows, len(rows) if page == 1 and len(rows) < per_page else count(session, kind, *conditions)
