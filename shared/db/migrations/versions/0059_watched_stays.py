"""A stay can be watched before it is booked, under a price of its own.

The release before reads such a row as a booked stay without a price, and leaves the columns as they are.
"""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
runs_with = "0052"


def upgrade() -> None:
    for name in ("booked", "active"):
        op.add_column("hotel_bookings", sa.Column(name, sa.Boolean(), server_default=sa.text("true"), nullable=False))
    op.add_column("hotel_bookings", sa.Column("max_points_per_night", sa.BigInteger(), nullable=True))
    op.add_column("hotel_bookings", sa.Column("max_cash_per_night", sa.Numeric(precision=14, scale=2), nullable=True))
    op.add_column("hotel_bookings", sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
