"""Wrong passwords in a row of each account."""

import sqlalchemy as sa
from alembic import op

revision = '0026'
down_revision = '0025'


def upgrade() -> None:
    op.create_table(
        'password_guesses',
        sa.Column('name_hash', sa.Text(), nullable=False),
        sa.Column('owner_id', sa.BigInteger(), nullable=True),
        sa.Column('count', sa.Integer(), nullable=False),
        sa.Column('last_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ['owner_id'], ['accounts.id'], name=op.f('fk_password_guesses_owner_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('name_hash', name=op.f('pk_password_guesses')),
    )
    op.create_index(op.f('ix_password_guesses_owner_id'), 'password_guesses', ['owner_id'])
    op.create_index(op.f('ix_password_guesses_last_at'), 'password_guesses', ['last_at'])
