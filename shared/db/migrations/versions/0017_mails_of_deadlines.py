"""Mails of deadlines: their switches, what was told, and when an account was looked at last."""

import sqlalchemy as sa
from alembic import op

revision = '0017'
down_revision = '0016'


def upgrade() -> None:
    op.add_column('profiles', sa.Column('mail_deadlines', sa.Boolean(), server_default=sa.text('true'), nullable=False))
    op.add_column(
        'profiles', sa.Column('mail_weekly_overview', sa.Boolean(), server_default=sa.text('false'), nullable=False)
    )
    op.create_table(
        'told_deadlines',
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('key', sa.Text(), nullable=False),
        sa.Column('due_on', sa.Date(), nullable=False),
        sa.Column('days_ahead', sa.Integer(), nullable=False),
        sa.Column('told_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_told_deadlines_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', 'key', 'due_on', name=op.f('pk_told_deadlines')),
    )
    op.create_table(
        'deadline_watches',
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('looked_on', sa.Date(), nullable=True),
        sa.Column('overview_on', sa.Date(), nullable=True),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_deadline_watches_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', name=op.f('pk_deadline_watches')),
    )
