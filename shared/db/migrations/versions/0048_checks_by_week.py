"""Checks of route monitors in a partition for each week; those there are stay, in one partition of the past.

A worker of the release before finds the line of a run by a key that partitions cannot have, so it cannot write checks.
"""

import datetime as dt

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0048'
down_revision = '0047'
runs_with = None

WEEKS_AHEAD = 2
THIS_MONDAY = "cast(date_trunc('week', timezone('UTC', now())) as date)"


def _take_over(until: str) -> None:
    """Two million checks are locked for 1.5 s, in which their key is built and their bound is checked."""
    past = 'route_monitor_checks_past'
    op.execute(f'alter table route_monitor_checks rename to {past}')
    op.execute(
        f'alter table {past} alter id drop identity, drop constraint pk_route_monitor_checks,'
        ' drop constraint uq_route_monitor_checks_run_id'
    )
    op.execute(f'alter index ix_route_monitor_checks_newest rename to ix_{past}_newest')
    later = f"{past} where checked_at >= '{until}'"
    op.execute(f'create temporary table later_checks on commit drop as select * from {later}')
    op.execute(f'delete from {later}')
    key = f'add constraint pk_{past} primary key (checked_at, id)'
    op.execute(f"alter table {past} {key}, add constraint past check (checked_at < '{until}')")


def _create_table(next_id: int) -> None:
    op.create_table(
        'route_monitor_checks',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False, start=next_id), nullable=False),
        sa.Column('monitor_id', sa.BigInteger(), nullable=False),
        sa.Column('run_id', sa.BigInteger(), nullable=True),
        sa.Column('checked_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('outcome', sa.Text(), nullable=False),
        sa.Column('options_seen', sa.Integer(), nullable=False),
        sa.Column('new_matches', sa.Integer(), nullable=False),
        sa.Column('failed_sources', postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column('synthetic', sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ['monitor_id'], ['route_monitors.id'], name=op.f('fk_route_monitor_checks_monitor_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('checked_at', 'id', name=op.f('pk_route_monitor_checks')),
        postgresql_partition_by='RANGE (checked_at)',
    )
    op.create_index('ix_route_monitor_checks_newest', 'route_monitor_checks', ['monitor_id', 'checked_at'])


def upgrade() -> None:
    connection = op.get_bind()
    monday: dt.date = connection.exec_driver_sql(f'select {THIS_MONDAY}').scalar_one()
    mondays = [monday + dt.timedelta(weeks=number) for number in range(WEEKS_AHEAD + 2)]
    has_checks = connection.exec_driver_sql('select exists (select from route_monitor_checks)').scalar_one()
    next_id = connection.exec_driver_sql(
        'select last_value + cast(is_called as integer) from route_monitor_checks_id_seq'
    ).scalar_one()
    _take_over(f'{mondays[1]} 00:00+00')
    _create_table(next_id)
    if has_checks:
        bound = f"from (minvalue) to ('{mondays[1]} 00:00+00')"
        op.execute(f'alter table route_monitor_checks attach partition route_monitor_checks_past for values {bound}')
        op.execute('alter table route_monitor_checks_past drop constraint past')
        mondays = mondays[1:]
    else:
        op.execute('drop table route_monitor_checks_past')
    op.execute('create table route_monitor_checks_default partition of route_monitor_checks default')
    for start, end in zip(mondays, mondays[1:]):
        bound = f"from ('{start} 00:00+00') to ('{end} 00:00+00')"
        op.execute(f'create table route_monitor_checks_{start:%Y%m%d} partition of route_monitor_checks for values {bound}')
    op.execute('insert into route_monitor_checks select * from later_checks')
