"""Messages of sign-in go first, and then those of the account that was written to longest ago.

The release before neither reads nor writes the column.
"""

import sqlalchemy as sa
from alembic import op

revision = '0060'
down_revision = '0059'
runs_with = '0052'


def upgrade() -> None:
    op.add_column('accounts', sa.Column('written_to_at', sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        'ix_deliveries_open_events',
        'deliveries',
        ['event'],
        postgresql_where=sa.text("status in ('pending', 'claimed', 'handing_over')"),
    )
