"""The schema's version: bring a database to the newest one, and tell whether it is there."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine

import shared.db.migrations


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(shared.db.migrations.__file__).parent))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def upgrade(url: str, to: str = "head") -> None:
    """Runs every missing migration; two starters wait for each other."""
    command.upgrade(_config(url), to)


def revisions() -> list[str]:
    """Every version the tables ever had, the first one first."""
    return [script.revision for script in ScriptDirectory.from_config(_config("")).walk_revisions()][::-1]


def versions(url: str) -> tuple[str | None, str | None]:
    """The version the database has, and the one this code wants."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        have = MigrationContext.configure(connection).get_current_revision()
    return have, ScriptDirectory.from_config(_config(url)).get_current_head()
