"""Pages of rows: the rows of one page and the total; and several selects by name."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from shared.db.base import Base

Row = TypeVar("Row", bound=Base)
Rows = Select[*tuple[Any, ...]]


def count(session: Session, kind: type[Base], *fits: ColumnElement[bool]) -> int:
    return session.scalar(select_count(kind, *fits)) or 0


def select_count(kind: type[Base], *fits: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(kind).where(*fits)


def page_of(
    session: Session, kind: type[Row], fits: Iterable[ColumnElement[bool]], *order: Any, page: int, per_page: int
) -> tuple[list[Row], int]:
    """A page of rows and their total; a first page that is not full has them all and needs no count."""
    conditions = list(fits)
    query = select(kind).where(*conditions).order_by(*order).offset((page - 1) * per_page).limit(per_page)
    rows = list(session.scalars(query))
    return rows, len(rows) if page == 1 and len(rows) < per_page else count(session, kind, *conditions)


class CountedRows(NamedTuple):
    """A select of a page and the counts that go with it, made once."""

    page: Rows
    counts: Rows

    @classmethod
    def of(cls, rows: Rows, *counts: Select[int]) -> "CountedRows":
        """Adds each count as a column of the page: a further statement would double the time."""
        columns = [one.scalar_subquery() for one in counts]
        return cls(rows.add_columns(*columns), select(*columns))

    def read(self, session: Session, **values: Any) -> tuple[list[Any], list[int]]:
        """The rows, as tuples, and the counts; on a page without rows the counts are read separately."""
        behind = len(self.counts.selected_columns)
        rows = session.execute(self.page, values).all()
        if not rows:
            return [], list(session.execute(self.counts, values).one())
        return [row[:-behind] for row in rows], list(rows[0][-behind:])


def read_parts(session: Session, parts: Mapping[str, Rows], **values: Any) -> dict[str, list[Any]]:
    """The rows of each select: an entity or a value where it selects one thing, else a tuple of them."""
    answers = {name: session.execute(part, values) for name, part in parts.items()}
    return {name: list(rows.scalars() if len(rows.keys()) == 1 else rows) for name, rows in answers.items()}
