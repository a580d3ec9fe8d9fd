"""Customers of a payment service, and the events it sent."""

import sqlalchemy as sa
from alembic import op

revision = '0042'
down_revision = '0041'
runs_with = '0041'


def upgrade() -> None:
    plans = "('free', 'premium', 'pro', 'enterprise')"
    moment = sa.DateTime(timezone=True)
    op.create_table(
        'billing_customers',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=True),
        sa.Column('door', sa.Text(), nullable=False),
        sa.Column('customer_id', sa.Text(), nullable=False),
        sa.Column('subscription_id', sa.Text(), nullable=True),
        sa.Column('item_id', sa.Text(), nullable=True),
        sa.Column('status', sa.Text(), nullable=True),
        sa.Column('price', sa.Text(), nullable=True),
        sa.Column('paid_plan', sa.Text(), nullable=True),
        sa.Column('unpaid_plan', sa.Text(), nullable=True),
        sa.Column('period_ends_at', moment, nullable=True),
        sa.Column('cancels_at', moment, nullable=True),
        sa.Column('trial_ends_at', moment, nullable=True),
        sa.Column('late_since', moment, nullable=True),
        sa.Column('has_subscribed', sa.Boolean(), server_default=sa.text('false'), nullable=False),
        sa.Column('revision', sa.Integer(), server_default='0', nullable=False),
        sa.Column('failures', sa.Integer(), server_default='0', nullable=False),
        sa.Column('check_at', moment, nullable=True),
        sa.Column('checked_at', moment, nullable=True),
        sa.Column('created_at', moment, server_default=sa.text('now()'), nullable=False),
        sa.CheckConstraint(f'paid_plan in {plans}', name=op.f('ck_billing_customers_paid_plan')),
        sa.CheckConstraint(f'unpaid_plan in {plans}', name=op.f('ck_billing_customers_unpaid_plan')),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_billing_customers_account_id'), ondelete='SET NULL'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_billing_customers')),
        sa.UniqueConstraint('account_id', name=op.f('uq_billing_customers_account_id')),
        sa.UniqueConstraint('customer_id', name=op.f('uq_billing_customers_customer_id')),
    )
    op.create_index(
        'ix_billing_customers_due',
        'billing_customers',
        ['check_at'],
        postgresql_where=sa.text('check_at is not null'),
    )
    op.create_table(
        'billing_events',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('event_id', sa.Text(), nullable=False),
        sa.Column('kind', sa.Text(), nullable=False),
        sa.Column('customer_id', sa.Text(), nullable=True),
        sa.Column('received_at', moment, server_default=sa.text('now()'), nullable=False),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_billing_events')),
        sa.UniqueConstraint('event_id', name=op.f('uq_billing_events_event_id')),
    )
