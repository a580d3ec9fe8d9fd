"""An account whose letters were read a moment ago, or took long, waits for the others.

The release before neither reads nor writes the two columns.
"""

import sqlalchemy as sa
from alembic import op

revision = '0051'
down_revision = '0050'
runs_with = '0050'


def upgrade() -> None:
    for name in ('letter_read_at', 'letters_wait_until'):
        op.add_column('accounts', sa.Column(name, sa.DateTime(timezone=True), nullable=True))
