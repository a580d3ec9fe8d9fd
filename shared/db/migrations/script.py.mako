"""${message}."""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
runs_with = None  # the oldest earlier revision whose release runs on these tables (expand, later contract), or None


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
