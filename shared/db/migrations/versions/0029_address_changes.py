"""Changes of an address that wait for both mailboxes, and the address a link was mailed to."""

import sqlalchemy as sa
from alembic import op

revision = '0029'
down_revision = '0028'


def upgrade() -> None:
    op.create_table(
        'address_changes',
        sa.Column('account_id', sa.BigInteger(), nullable=False),
        sa.Column('new_email', sa.Text(), nullable=False),
        sa.Column('new_confirmed_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('old_confirmed_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['accounts.id'], name=op.f('fk_address_changes_account_id'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', name=op.f('pk_address_changes')),
    )
    op.add_column('one_time_links', sa.Column('address', sa.Text(), nullable=True))
