"""Lighter observations: small indexes for what only grows and for what is nearly always absent."""

import sqlalchemy as sa
from alembic import op
revision = '0003'
down_revision = '0002'


def upgrade() -> None:
    op.drop_index('ix_award_observations_seen_at', table_name='award_observations')
    op.create_index('ix_award_observations_seen_at', 'award_observations', ['seen_at'], unique=False, postgresql_using='brin')
    op.drop_index(op.f('ix_award_observations_asker_id'), table_name='award_observations')
    op.create_index('ix_award_observations_asker_id', 'award_observations', ['asker_id'], unique=False, postgresql_where=sa.text('asker_id is not null'))
