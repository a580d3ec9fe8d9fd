"""Mails of price drops begin switched on. A switch that somebody's profile already holds may be their choice: it stays."""

import sqlalchemy as sa
from alembic import op

revision = '0015'
down_revision = '0014'


def upgrade() -> None:
    op.alter_column('profiles', 'mail_hotel_price_drops', server_default=sa.text('true'))
