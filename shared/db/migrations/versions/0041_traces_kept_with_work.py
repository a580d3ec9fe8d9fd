"""The trace in which a schedule was set, a run was made or a message was written."""

import sqlalchemy as sa
from alembic import op

revision = '0041'
down_revision = '0040'
runs_with = '0040'


def upgrade() -> None:
    for table in ('schedules', 'job_runs', 'deliveries'):
        op.add_column(table, sa.Column('traceparent', sa.Text(), nullable=True))
