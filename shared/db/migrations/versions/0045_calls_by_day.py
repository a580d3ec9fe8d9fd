"""Tool calls in a partition for each day; those there are stay where they are, in one partition of the past."""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = '0045'
down_revision = '0044'
runs_with = '0044'

DAYS_AHEAD = 7
TODAY = "cast(timezone('UTC', now()) as date)"


def _take_over(until: str) -> None:
    """2 million calls are locked for 1.3 s, in which their key is built and their bound is checked; the accounts are
    locked for the milliseconds after that, in which the foreign key is handed over."""
    op.execute('alter table tool_calls rename to tool_calls_past')
    op.execute('alter table tool_calls_past alter id drop identity, drop constraint pk_tool_calls')
    op.execute('alter index ix_tool_calls_account_at rename to ix_tool_calls_past_account_at')
    later = f"tool_calls_past where at >= '{until}'"
    op.execute(f'create temporary table later_calls on commit drop as select * from {later}')
    op.execute(f'delete from {later}')
    op.execute('drop index ix_tool_calls_at')
    key = 'add constraint pk_tool_calls_past primary key (at, id)'
    op.execute(f"alter table tool_calls_past {key}, add constraint past check (at < '{until}')")


def _create_table(next_id: int) -> None:
    op.create_table(
        'tool_calls',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False, start=next_id), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('client', sa.Text(), nullable=True),
        sa.Column('via', sa.Text(), nullable=False),
        sa.Column('tool', sa.Text(), nullable=False),
        sa.Column('outcome', sa.Text(), nullable=False),
        sa.Column('milliseconds', sa.Integer(), nullable=False),
        sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_tool_calls_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('at', 'id', name=op.f('pk_tool_calls')),
        postgresql_partition_by='RANGE (at)',
    )
    op.create_index('ix_tool_calls_account_at', 'tool_calls', ['account_id', 'at'])


def upgrade() -> None:
    connection = op.get_bind()
    today: dt.date = connection.exec_driver_sql(f'select {TODAY}').scalar_one()
    days = [today + dt.timedelta(days=number) for number in range(DAYS_AHEAD + 2)]
    has_calls = connection.exec_driver_sql('select exists (select from tool_calls)').scalar_one()
    next_id = connection.exec_driver_sql(
        'select last_value + cast(is_called as integer) from tool_calls_id_seq'
    ).scalar_one()
    _take_over(f'{days[1]} 00:00+00')
    _create_table(next_id)
    if has_calls:
        bound = f"from (minvalue) to ('{days[1]} 00:00+00')"
        op.execute(f'alter table tool_calls attach partition tool_calls_past for values {bound}')
        op.execute('alter table tool_calls_past drop constraint past')
        days = days[1:]
    else:
        op.execute('drop table tool_calls_past')
    op.execute('create table tool_calls_default partition of tool_calls default')
    for day, end in zip(days, days[1:]):
        bound = f"from ('{day} 00:00+00') to ('{end} 00:00+00')"
        op.execute(f'create table tool_calls_{day:%Y%m%d} partition of tool_calls for values {bound}')
    op.execute('insert into tool_calls select * from later_calls')
