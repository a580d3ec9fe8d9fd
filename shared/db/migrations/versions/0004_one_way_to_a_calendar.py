"""One way to a calendar: the index of routes answers what one of origins did, and hundreds of rows a check write less."""

from alembic import op
revision = '0004'
down_revision = '0003'


def upgrade() -> None:
    op.drop_index('ix_award_observations_calendar', table_name='award_observations')
