"""The migrations: update a database to the newest version of the tables, and list the steps."""

from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from shared.db.schema_version import MIGRATIONS, read_schema
from shared.db.schema_window import Step


class SchemaError(Exception):
    """This release does not fit the tables; the text says what to do."""


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def upgrade(url: str, to: str = "head") -> None:
    """Runs every missing migration; two starters wait for each other. Newer tables are not touched.

    Raises SchemaError if the tables are newer and do not fit this release, or are older than its first.
    """
    schema = read_schema(url)
    if schema.is_too_old or (schema.is_newer and not schema.is_usable):
        raise SchemaError(schema.describe_fault())
    if not schema.is_newer:
        command.upgrade(_config(url), to)


def walk_scripts() -> list[Script]:
    """The migrations of this release, the first one first."""
    return [*ScriptDirectory.from_config(_config("")).walk_revisions()][::-1]


def list_steps() -> list[Step]:
    return [Step(script.revision, getattr(script.module, "runs_with", None)) for script in walk_scripts()]
