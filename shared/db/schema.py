"""The schema's version: bring a database to the newest one, and tell whether this release runs on what is there."""

from pathlib import Path
from typing import NamedTuple

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import NullPool, create_engine

import shared.db.migrations
from shared.db.schema_window import Step, read_window


class SchemaError(Exception):
    """This release does not run on the tables; the text says what to do."""


class Schema(NamedTuple):
    """Revisions. `oldest` is the oldest one whose release runs on the tables; None where there are no tables."""

    current: str | None
    expected: str | None
    oldest: str | None

    @property
    def is_newer(self) -> bool:
        return self.current is not None and self.current not in revisions()

    @property
    def is_usable(self) -> bool:
        """Newer tables are usable while their migrations say that a release as old as this one runs on them."""
        return self.current == self.expected or (self.is_newer and self.oldest in revisions())

    def describe_fault(self) -> str:
        if self.is_newer:
            return (
                f"The tables are at version {self.current}, and this release knows versions up to {self.expected}:"
                " start the newer release, or restore a backup from before the upgrade."
            )
        return f"The tables are at version {self.current or 'none'}, and this release wants {self.expected}."


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(shared.db.migrations.__file__).parent))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def upgrade(url: str, to: str = "head") -> None:
    """Runs every missing migration; two starters wait for each other. Newer tables stay as they are.

    Raises SchemaError where the tables are newer and this release does not run on them.
    """
    schema = read_schema(url)
    if schema.is_newer and not schema.is_usable:
        raise SchemaError(schema.describe_fault())
    if not schema.is_newer:
        command.upgrade(_config(url), to)


def revisions() -> list[str]:
    """Every version the tables ever had, the first one first."""
    return [script.revision for script in walk_scripts()]


def walk_scripts() -> list[Script]:
    """The migrations of this release, the first one first."""
    return [*ScriptDirectory.from_config(_config("")).walk_revisions()][::-1]


def list_steps() -> list[Step]:
    return [Step(script.revision, getattr(script.module, "runs_with", None)) for script in walk_scripts()]


def read_schema(url: str) -> Schema:
    """What the database has and what this code wants."""
    with create_engine(url, poolclass=NullPool).connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        oldest = read_window(connection, current) if current else None
    return Schema(current, ScriptDirectory.from_config(_config(url)).get_current_head(), oldest)


def versions(url: str) -> tuple[str | None, str | None]:
    """The version the database has, and the one this code wants."""
    schema = read_schema(url)
    return schema.current, schema.expected
