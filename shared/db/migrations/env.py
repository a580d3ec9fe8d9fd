"""Alembic's entry: connects with the URL it is given and runs the versions under one advisory lock."""

from alembic import context
from sqlalchemy import NullPool, create_engine, text

import shared.db.migrations  # noqa: F401 - registers every table
from shared.db.base import Base

LOCK = 7_203_114  # any two starters wait for each other

engine = create_engine(context.config.get_main_option("sqlalchemy.url") or "", poolclass=NullPool)
with engine.connect() as connection:
    connection.execute(text("select pg_advisory_lock(:n)"), {"n": LOCK})
    connection.commit()
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()
