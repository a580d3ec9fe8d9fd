"""Which routes were looked at as a whole, and how many stops a seat that was seen has.

The release before neither reads nor writes the table, and leaves the number of stops empty, which means not said.
"""

import sqlalchemy as sa
from alembic import op

revision = '0053'
down_revision = '0052'
runs_with = '0052'


def upgrade() -> None:
    op.add_column('award_observations', sa.Column('stops', sa.SmallInteger(), nullable=True))
    op.create_table(
        'swept_routes',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column('origin', sa.String(length=3), nullable=False),
        sa.Column('destination', sa.String(length=3), nullable=False),
        sa.Column('earliest', sa.Date(), nullable=False),
        sa.Column('latest', sa.Date(), nullable=False),
        sa.Column('swept_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.Column('synthetic', sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_swept_routes')),
        sa.UniqueConstraint('origin', 'destination', 'synthetic', name=op.f('uq_swept_routes_origin_destination_synthetic')),
    )
