"""A card and a booking may be another member's of the household; an award seat may tell its price in cash."""

from alembic import op
revision = '0023'
down_revision = '0022'


def upgrade() -> None:
    for table in ('cards', 'flight_bookings', 'hotel_bookings'):
        op.execute(f"alter table {table} add column member text default '' not null")
    op.execute('alter table flight_bookings add column cash_price numeric(14, 2)')
