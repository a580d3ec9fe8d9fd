"""Phone numbers that are proved by a code, and whether the owner of an alert was asked to prove its number."""

import sqlalchemy as sa
from alembic import op

revision = '0034'
down_revision = '0033'


def upgrade() -> None:
    op.create_table(
        'phone_numbers',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('number_sealed', sa.Text(), nullable=False),
        sa.Column('number_hash', sa.Text(), nullable=False),
        sa.Column('phone_ending', sa.Text(), nullable=False),
        sa.Column('code_hash', sa.Text(), nullable=True),
        sa.Column('code_sent_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('code_tries', sa.Integer(), server_default='0', nullable=False),
        sa.Column('proved_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_phone_numbers_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_phone_numbers')),
        sa.UniqueConstraint('account_id', 'number_hash', name=op.f('uq_phone_numbers_account_id_number_hash')),
    )
    op.create_index(op.f('ix_phone_numbers_account_id'), 'phone_numbers', ['account_id'])
    op.add_column('delay_alerts', sa.Column('proof_asked_at', sa.DateTime(timezone=True), nullable=True))
