"""What the points of an account are worth is noted once a day, for the line of the home page.

The release before neither reads nor writes the table.
"""

import sqlalchemy as sa
from alembic import op

revision = '0058'
down_revision = '0057'
runs_with = '0052'


def upgrade() -> None:
    op.create_table(
        'worth_days',
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('day', sa.Date(), nullable=False),
        sa.Column('usd', sa.Numeric(precision=14, scale=2), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_worth_days_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', 'day', name=op.f('pk_worth_days')),
    )
    op.create_index('ix_worth_days_day', 'worth_days', ['day'])
