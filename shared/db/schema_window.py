"""The compatibility window of the schema: which earlier releases run on it, remembered with the database."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa

WORDS = " runs with "  # between the revision of the tables and the oldest revision whose release runs on them


class Step(NamedTuple):
    """One migration. `runs_with` is the oldest earlier revision whose release runs on its tables, if any does."""

    revision: str
    runs_with: str | None


def find_oldest(steps: Iterable[Step]) -> str:
    """The oldest revision whose release runs on the tables after all `steps`, the first migration first.

    A later step never widens the window. Raises ValueError for a mark that names no earlier step.
    """
    order: list[str] = []
    oldest = 0
    for step in steps:
        if step.runs_with is None:
            oldest = len(order)
        elif step.runs_with in order:
            oldest = max(oldest, order.index(step.runs_with))
        else:
            raise ValueError(f"migration {step.revision} runs with {step.runs_with}, which is no earlier revision")
        order.append(step.revision)
    return order[oldest]


def write_window(connection: sa.Connection, steps: Sequence[Step]) -> None:
    """Stores it in a comment, so that it commits with the migration and changes no rows."""
    words = f"{steps[-1].revision}{WORDS}{find_oldest(steps)}"
    literal = sa.literal(words).compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    connection.exec_driver_sql(f"comment on table alembic_version is {literal}")


def read_window(connection: sa.Connection, revision: str) -> str:
    """The oldest revision whose release runs on the tables; `revision` itself without a comment on it."""
    words = connection.exec_driver_sql("select obj_description(to_regclass('alembic_version'), 'pg_class')").scalar()
    written, _, oldest = (words or "").partition(WORDS)
    return oldest if written == revision and oldest else revision
