"""Alembic's entry: connects with the URL it is given and runs the versions under one advisory lock."""

from typing import Any

from alembic import context
from sqlalchemy import NullPool, create_engine, text

import shared.db.migrations  # noqa: F401 - registers every table
from shared.db.base import Base
from shared.db.pooling import NO_TIMEOUTS
from shared.db.schema_window import Step, write_window

LOCK = 7_203_114  # any two starters wait for each other


def _remember_window(ctx: Any, step: Any, heads: Any, run_args: Any) -> None:  # noqa: ARG001 - as Alembic calls it
    """In the transaction of the migration itself."""
    scripts = [*context.script.iterate_revisions(step.up_revision_id, "base")][::-1]
    write_window(ctx.connection, [Step(s.revision, getattr(s.module, "runs_with", None)) for s in scripts])


engine = create_engine(
    context.config.get_main_option("sqlalchemy.url") or "",
    poolclass=NullPool,
    connect_args={"options": NO_TIMEOUTS},  # the role may have some, for programs behind a pooler
)
with engine.connect() as connection:
    connection.execute(text("select pg_advisory_lock(:n)"), {"n": LOCK})
    connection.commit()
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_server_default=True,
        on_version_apply=_remember_window,
    )
    with context.begin_transaction():
        context.run_migrations()
