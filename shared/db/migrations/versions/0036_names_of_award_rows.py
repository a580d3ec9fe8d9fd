"""The name a source gave to an award row, kept with what was seen of it."""

import sqlalchemy as sa
from alembic import op

revision = '0036'
down_revision = '0035'


def upgrade() -> None:
    op.add_column('award_observations', sa.Column('ref', sa.Text(), nullable=True))
