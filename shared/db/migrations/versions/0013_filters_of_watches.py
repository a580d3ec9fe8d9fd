"""Filters of watches: non-stop flights, weekdays, taxes, and the travellers of a flight alert."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0013'
down_revision = '0012'


def upgrade() -> None:
    for table in ('route_monitors', 'flight_alerts'):
        op.add_column(table, sa.Column('nonstop_only', sa.Boolean(), server_default=sa.text('false'), nullable=False))
        op.add_column(table, sa.Column('weekdays', postgresql.ARRAY(sa.Text()), nullable=True))
        op.add_column(table, sa.Column('max_taxes', sa.Numeric(14, 2), nullable=True))
        op.add_column(table, sa.Column('max_taxes_currency', sa.String(3), nullable=True))
    op.add_column('flight_alerts', sa.Column('passengers', sa.Integer(), server_default='1', nullable=False))
    op.create_check_constraint(op.f('ck_flight_alerts_passengers'), 'flight_alerts', 'passengers between 1 and 9')
