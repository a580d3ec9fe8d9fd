"""Further addresses an account forwards bookings from, and who sent a mail."""

import sqlalchemy as sa
from alembic import op

revision = '0033'
down_revision = '0032'


def upgrade() -> None:
    op.create_table(
        'forwarding_addresses',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('address', sa.Text(), nullable=False),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('confirmed_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_forwarding_addresses_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_forwarding_addresses')),
        sa.UniqueConstraint('account_id', 'address', name=op.f('uq_forwarding_addresses_account_id_address')),
    )
    op.create_index(op.f('ix_forwarding_addresses_account_id'), 'forwarding_addresses', ['account_id'])
    op.add_column('inbound_mails', sa.Column('sender', sa.Text(), server_default='', nullable=False))
    op.add_column('inbound_mails', sa.Column('sender_verified', sa.Boolean(), server_default=sa.false(), nullable=False))
