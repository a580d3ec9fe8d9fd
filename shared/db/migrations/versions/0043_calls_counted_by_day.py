"""Numbers of tool calls by day, counted from the calls there are."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0043'
down_revision = '0042'
runs_with = '0042'

STEPS = [*range(16), *(part << doublings for doublings in range(1, 20) for part in range(8, 16))]
DAY = "cast(timezone('UTC', at) as date)"
# Table, what a call is counted by, and how that is read from the call.
COUNTS = {
    'tool_call_counts': {'day': DAY, 'tool': 'tool', 'outcome': 'outcome'},
    'tool_call_times': {
        'day': DAY,
        'tool': 'tool',
        'milliseconds': f'(array{STEPS})[width_bucket(greatest(milliseconds, 0), array{STEPS})]',
    },
    'client_call_counts': {'day': DAY, 'client': "coalesce(client, 'unknown')"},
}


def _build_counts(table: str) -> str:
    columns = ', '.join(f'{value} as {name}_key' for name, value in COUNTS[table].items())
    keys = ', '.join(f'{name}_key' for name in COUNTS[table])
    return f'select {columns}, cast(count(*) as integer) as calls from tool_calls where {{}} group by {keys}'


def _create_tables() -> None:
    kinds: dict[str, sa.types.TypeEngine[Any]] = {'day': sa.Date(), 'milliseconds': sa.Integer()}
    for table, keys in COUNTS.items():
        op.create_table(
            table,
            *(sa.Column(key, kinds.get(key, sa.Text()), nullable=False) for key in keys),
            sa.Column('calls', sa.Integer(), nullable=False),
            sa.PrimaryKeyConstraint(*keys, name=op.f(f'pk_{table}')),
        )


def _count_calls() -> None:
    """Day by day: 90 days of a million calls each would be sorted on disk otherwise."""
    connection = op.get_bind()
    first, last = connection.exec_driver_sql(f'select min({DAY}), max({DAY}) from tool_calls').one()
    days = connection.exec_driver_sql("select cast(generate_series(%s::date, %s::date, '1 day') as date)", (first, last))
    for day in days.scalars().all():
        fits = "at >= cast(%s as date) at time zone 'UTC' and at < (cast(%s as date) + 1) at time zone 'UTC'"
        for table in COUNTS:
            connection.exec_driver_sql(f'insert into {table} {_build_counts(table).format(fits)}', (day, day))


def upgrade() -> None:
    _create_tables()
    _count_calls()
    # Users of each day are counted from this index alone.
    op.drop_index('ix_usage_counters_period', 'usage_counters')
    op.create_index('ix_usage_counters_period', 'usage_counters', ['period', 'meter', 'account_id'])
