"""Watches of booked awards: a route monitor may belong to a booked flight and count the prices of one programme."""

import sqlalchemy as sa
from alembic import op

revision = '0020'
down_revision = '0019'


def upgrade() -> None:
    op.add_column('route_monitors', sa.Column('booking_id', sa.BigInteger(), nullable=True))
    op.add_column('route_monitors', sa.Column('program', sa.Text(), nullable=True))
    op.create_foreign_key(
        op.f('fk_route_monitors_booking_id'), 'route_monitors', 'flight_bookings', ['booking_id'], ['id'],
        ondelete='CASCADE',
    )
    op.create_index(op.f('ix_route_monitors_booking_id'), 'route_monitors', ['booking_id'])
