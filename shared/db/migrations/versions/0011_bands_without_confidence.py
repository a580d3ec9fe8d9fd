"""Bands without confidence: a chart says how far its prices are trusted, and its bands no longer do."""

from alembic import op
revision = '0011'
down_revision = '0010'


def upgrade() -> None:
    op.execute(
        "update reference_overrides set cells = cells - 'confidence' where file = 'award_chart_bands.csv'"
    )
