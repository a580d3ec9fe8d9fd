"""Browsers an account was signed in with before."""

import sqlalchemy as sa
from alembic import op

revision = '0027'
down_revision = '0026'


def upgrade() -> None:
    op.create_table(
        'known_browsers',
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('id_hash', sa.Text(), nullable=False),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_known_browsers_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', 'id_hash', name=op.f('pk_known_browsers')),
    )
    op.create_index(op.f('ix_known_browsers_id_hash'), 'known_browsers', ['id_hash'])
    op.create_index(op.f('ix_known_browsers_last_used_at'), 'known_browsers', ['last_used_at'])
