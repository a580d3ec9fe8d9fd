"""Sums of calls by spans of days, which maintenance makes, and of each day the accounts that called."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0046'
down_revision = '0045'
runs_with = '0044'

SPANS = {'tool_span_counts': ['tool', 'outcome'], 'tool_span_times': ['tool', 'milliseconds'], 'client_span_counts': ['client']}
KINDS: dict[str, sa.types.TypeEngine[Any]] = {'day': sa.Date(), 'days': sa.SmallInteger(), 'milliseconds': sa.Integer()}


def _create_spans() -> None:
    for table, more in SPANS.items():
        keys = ['day', 'days', *more]
        op.create_table(
            table,
            *(sa.Column(key, KINDS.get(key, sa.Text()), nullable=False) for key in keys),
            sa.Column('calls', sa.Integer(), nullable=False),
            sa.PrimaryKeyConstraint(*keys, name=op.f(f'pk_{table}')),
        )


def _create_daily_calls() -> None:
    op.create_table(
        'daily_calls',
        sa.Column('day', sa.Date(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ('calls', 'accounts', 'accounts_last')),
        sa.PrimaryKeyConstraint('day', name=op.f('pk_daily_calls')),
    )
    op.execute(
        """insert into daily_calls select day, sum(calls), sum(accounts), 0 from (
 select day, calls, 0 as accounts from tool_call_counts
 union all select period, 0, count(*) from usage_counters where meter = 'tool_calls' group by 1) as figures group by day"""
    )
    op.execute(
        """with last_days as (select last.period as day, count(*) as accounts from accounts, lateral (
  select period from usage_counters where meter = 'tool_calls' and account_id = accounts.id order by period desc limit 1)
  as last group by 1)
update daily_calls set accounts_last = last_days.accounts from last_days where last_days.day = daily_calls.day"""
    )


def upgrade() -> None:
    _create_spans()
    _create_daily_calls()
