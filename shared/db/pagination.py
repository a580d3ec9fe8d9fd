"""Pages of rows: the rows of one page, and how many there are in all."""

from collections.abc import Iterable
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.db.base import Base

Row = TypeVar("Row", bound=Base)


def count(session: Session, kind: type[Base], *fits: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).select_from(kind).where(*fits)) or 0


def page_of(
    session: Session, kind: type[Row], fits: Iterable[ColumnElement[bool]], *order: Any, page: int, per_page: int
) -> tuple[list[Row], int]:
    conditions = list(fits)
    rows = select(kind).where(*conditions).order_by(*order).offset((page - 1) * per_page).limit(per_page)
    return list(session.scalars(rows)), count(session, kind, *conditions)
