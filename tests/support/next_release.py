"""A made-up next release: all migrations of this one, and one more."""

import shutil
from pathlib import Path

import pytest

from shared.db import schema, schema_version

REVISION = f"{int(schema_version.revisions()[-1]) + 1:04}"
_MIGRATION = '''"""Sizes of shoes."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
runs_with = {runs_with!r}


def upgrade():
    op.add_column("accounts", sa.Column("shoe_size", sa.Integer(), nullable=True))
    op.execute("update deliveries set attempt = attempt")
'''


def install_next_release(monkeypatch: pytest.MonkeyPatch, folder: Path, runs_with: str | None) -> str:
    """From here on this process is that release; returns the version that this one made."""
    before = schema_version.revisions()[-1]
    copy = folder / "migrations"
    shutil.copytree(schema_version.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = _MIGRATION.format(revision=REVISION, before=before, runs_with=runs_with)
    (copy / "versions" / f"{REVISION}_sizes_of_shoes.py").write_text(text, encoding="utf-8")
    for module in (schema, schema_version):
        monkeypatch.setattr(module, "MIGRATIONS", copy)
    return before
