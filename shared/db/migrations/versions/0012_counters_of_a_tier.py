"""Counters of a tier: what it asks for beside its main counter is kept with the status."""

from alembic import op
revision = '0012'
down_revision = '0011'


def upgrade() -> None:
    op.execute("alter table loyalty_statuses add column other_progress jsonb default '{}' not null")
