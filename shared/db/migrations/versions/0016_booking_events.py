"""Events of bookings: flight times with their zones, what letters changed, and stays at hotels known by name alone."""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
revision = '0016'
down_revision = '0015'


def upgrade() -> None:
    for column in ('departure_zone', 'arrival_zone'):
        op.add_column('flight_bookings', sa.Column(column, sa.Text(), nullable=True))
    op.add_column('hotel_bookings', sa.Column('hotel_city', sa.Text(), nullable=True))
    op.add_column('hotel_bookings', sa.Column('hotel_country', sa.String(length=2), nullable=True))
    for table in ('flight_bookings', 'hotel_bookings'):
        changes = sa.Column('changes', postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
        op.add_column(table, changes)
        op.add_column(table, sa.Column('letter_on', sa.Date(), nullable=True))
