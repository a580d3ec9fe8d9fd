"""What tests do to the database server."""

import os

import psycopg


def end_connections() -> None:
    """As a restart of the server does, of all that this process holds."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
