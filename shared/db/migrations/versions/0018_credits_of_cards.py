"""Credits of cards: what a person used of each in a cycle; corrections of earning rates take the new column."""

import sqlalchemy as sa
from alembic import op
revision = '0018'
down_revision = '0017'


def upgrade() -> None:
    op.create_table('card_credit_uses',
    sa.Column('card_id', sa.BigInteger(), nullable=False),
    sa.Column('credit', sa.Text(), nullable=False),
    sa.Column('cycle_start', sa.Date(), nullable=False),
    sa.Column('amount', sa.Numeric(precision=14, scale=2), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_card_credit_uses_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['card_id'], ['cards.id'], name=op.f('fk_card_credit_uses_card_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('card_id', 'credit', 'cycle_start', name=op.f('pk_card_credit_uses'))
    )
    op.create_index(op.f('ix_card_credit_uses_account_id'), 'card_credit_uses', ['account_id'], unique=False)
    op.execute(
        "update reference_overrides set cells = cells || '{\"cap_months\": \"\"}'::jsonb where file = 'card_earn.csv'"
    )
