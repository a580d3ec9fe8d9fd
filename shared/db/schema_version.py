"""Which version the tables are at, and whether it fits this release, without Alembic, which loads all migrations.

A server checks this once, and would then keep the 10 MB of Alembic and all migrations.
"""

from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from shared.db.schema_window import read_window

MIGRATIONS = Path(__file__).parent / "migrations"


class Schema(NamedTuple):
    """Revisions. `oldest` is the oldest one whose release runs on the tables; None where there are no tables."""

    current: str | None
    expected: str
    oldest: str | None

    @property
    def is_newer(self) -> bool:
        return self.current is not None and self.current not in revisions() and not self.is_too_old

    @property
    def is_too_old(self) -> bool:
        """Whether the tables are older than the first release, whose migrations are gone."""
        return self.current is not None and self.current < revisions()[0]

    @property
    def is_usable(self) -> bool:
        """Whether this release can use them; newer tables if their migrations say so."""
        return self.current == self.expected or (self.is_newer and self.oldest in revisions())

    def describe_fault(self) -> str:
        if self.is_too_old:
            return (
                f"The tables are at version {self.current}, from before the first release, which begins at"
                f" {revisions()[0]}: bring them there with the code of that time, or begin with an empty database."
            )
        if self.is_newer:
            return (
                f"The tables are at version {self.current}, and this release knows versions up to {self.expected}:"
                " start the newer release, or restore a backup from before the upgrade."
            )
        return f"The tables are at version {self.current or 'none'}, and this release wants {self.expected}."


def revisions() -> list[str]:
    """Every version the tables ever had, oldest first: the number at the start of each migration's name."""
    return sorted(path.name.partition("_")[0] for path in MIGRATIONS.glob("versions/[0-9]*.py"))


def read_schema(url: str) -> Schema:
    """The database's version and the one this code needs."""
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        has_versions = sa.inspect(connection).has_table("alembic_version")
        version = "select version_num from alembic_version"
        current = connection.exec_driver_sql(version).scalar() if has_versions else None
        oldest = read_window(connection, current) if current else None
    return Schema(current, revisions()[-1], oldest)


def versions(url: str) -> tuple[str | None, str]:
    """The database's version, and the one this code needs."""
    schema = read_schema(url)
    return schema.current, schema.expected
