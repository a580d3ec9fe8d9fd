"""A person keeps programmes of their own by name, with a value of a point and the transfers they know of.

The release before neither reads nor writes the table.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0056'
down_revision = '0055'
runs_with = '0052'


def upgrade() -> None:
    op.create_table(
        'own_programs',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('slug', sa.Text(), nullable=False),
        sa.Column('name', sa.Text(), nullable=False),
        sa.Column('cents', sa.Numeric(precision=14, scale=2), nullable=True),
        sa.Column('currency', sa.String(length=3), nullable=True),
        sa.Column('transfers', postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_own_programs_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_own_programs')),
        sa.UniqueConstraint('account_id', 'slug', name=op.f('uq_own_programs_account_id_slug')),
    )
    op.create_index(op.f('ix_own_programs_account_id'), 'own_programs', ['account_id'])
