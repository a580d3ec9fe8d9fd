"""A person says once what a shop sells; a keyed hash of its name and the category are kept.

The release before neither reads nor writes the table.
"""

import sqlalchemy as sa
from alembic import op

revision = '0052'
down_revision = '0051'
runs_with = '0051'


def upgrade() -> None:
    op.create_table(
        'taught_shops',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('mark', sa.LargeBinary(), nullable=False),
        sa.Column('category', sa.Text(), nullable=False),
        sa.Column('taught_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_taught_shops_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_taught_shops')),
        sa.UniqueConstraint('account_id', 'mark', name=op.f('uq_taught_shops_account_id_mark')),
    )
    op.create_index(op.f('ix_taught_shops_account_id'), 'taught_shops', ['account_id'])
