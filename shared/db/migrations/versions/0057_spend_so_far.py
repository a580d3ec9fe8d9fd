"""A person says how much they have spent towards the welcome bonus of a card, and the day they said so is saved.

The release before neither reads nor writes the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = '0057'
down_revision = '0056'
runs_with = '0052'


def upgrade() -> None:
    op.add_column('cards', sa.Column('spend_so_far', sa.Numeric(precision=14, scale=2), nullable=True))
    op.add_column('cards', sa.Column('spend_so_far_on', sa.Date(), nullable=True))
