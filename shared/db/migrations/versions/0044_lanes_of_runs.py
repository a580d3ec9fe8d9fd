"""Runs that a person waits for go before those that fell due."""

import sqlalchemy as sa
from alembic import op

revision = '0044'
down_revision = '0043'
runs_with = '0043'


def upgrade() -> None:
    for table in ('schedules', 'job_runs'):
        op.add_column(table, sa.Column('lane', sa.SmallInteger(), server_default='1', nullable=False))
    op.create_index(
        'ix_schedules_awaited', 'schedules', ['next_due_at'], postgresql_where=sa.text('enabled and lane = 0')
    )
    op.drop_index('ix_job_runs_open', 'job_runs')
    op.create_index(
        'ix_job_runs_open',
        'job_runs',
        ['queue', 'lane', 'wake_at'],
        postgresql_where=sa.text("status in ('pending', 'running')"),
    )
