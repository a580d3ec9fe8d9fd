"""What is used of a card's credit says by which line of a statement that was seen.

The release before neither reads nor writes the column.
"""

import sqlalchemy as sa
from alembic import op

revision = '0055'
down_revision = '0054'
runs_with = '0052'


def upgrade() -> None:
    op.add_column('card_credit_uses', sa.Column('proof', sa.Text(), nullable=True))
