"""Figures of calls are kept by day alone.

Programs of the release before write to the tables that go.
"""

from alembic import op

revision = '0050'
down_revision = '0049'
runs_with = None


def upgrade() -> None:
    for table in ('tool_span_counts', 'tool_span_times', 'client_span_counts', 'daily_calls'):
        op.drop_table(table)
