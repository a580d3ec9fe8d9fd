"""Secret links under which people are shown a trip."""

import sqlalchemy as sa
from alembic import op

revision = '0039'
down_revision = '0038'


def upgrade() -> None:
    op.add_column('secret_links', sa.Column('trip_id', sa.BigInteger(), nullable=True))
    op.create_foreign_key(
        op.f('fk_secret_links_trip_id'), 'secret_links', 'trips', ['trip_id'], ['id'], ondelete='CASCADE'
    )
    op.create_index(op.f('ix_secret_links_trip_id'), 'secret_links', ['trip_id'])
    op.drop_constraint(op.f('ck_secret_links_purpose'), 'secret_links', type_='check')
    op.create_check_constraint(
        op.f('ck_secret_links_purpose'), 'secret_links', "purpose in ('calendar', 'inbox', 'trip')"
    )
    op.create_check_constraint(
        op.f('ck_secret_links_trip'), 'secret_links', "(purpose = 'trip') = (trip_id is not null)"
    )
    living = sa.text('ended_at is null and trip_id is null')
    op.drop_index('uq_secret_links_living', 'secret_links')
    op.create_index(
        'uq_secret_links_living', 'secret_links', ['account_id', 'purpose'], unique=True, postgresql_where=living
    )
    op.create_index(
        'uq_secret_links_trip', 'secret_links', ['trip_id'], unique=True, postgresql_where=sa.text('ended_at is null')
    )
