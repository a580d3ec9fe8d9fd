"""A person notes when a booking was cancelled, and what came back.

The release before neither reads nor writes the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = '0054'
down_revision = '0053'
runs_with = '0052'


def upgrade() -> None:
    for table in ('flight_bookings', 'hotel_bookings'):
        op.add_column(table, sa.Column('cancelled_on', sa.Date(), nullable=True))
        op.add_column(table, sa.Column('points_back', sa.BigInteger(), nullable=True))
        op.add_column(table, sa.Column('money_back', sa.Numeric(), nullable=True))
        op.add_column(table, sa.Column('points_credited', sa.BigInteger(), nullable=True))
