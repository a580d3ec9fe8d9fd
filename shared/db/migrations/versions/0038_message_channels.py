"""Channels besides mail by which people are told."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0038'
down_revision = '0037'


def upgrade() -> None:
    op.create_table(
        'message_channels',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('kind', sa.Text(), nullable=False),
        sa.Column('address_sealed', sa.Text(), nullable=False),
        sa.Column('address_hash', sa.Text(), nullable=False),
        sa.Column('name', sa.Text(), nullable=False),
        sa.Column('wanted_kinds', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column('quiet_from', sa.Integer(), nullable=True),
        sa.Column('quiet_until', sa.Integer(), nullable=True),
        sa.Column('code_hash', sa.Text(), nullable=True),
        sa.Column('code_sent_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('code_tries', sa.Integer(), server_default='0', nullable=False),
        sa.Column('proved_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_message_channels_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_message_channels')),
        sa.UniqueConstraint('account_id', 'address_hash', name=op.f('uq_message_channels_account_id_address_hash')),
    )
    op.create_index(op.f('ix_message_channels_account_id'), 'message_channels', ['account_id'])
