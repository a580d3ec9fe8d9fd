"""Route monitors that their owner paused, which no change of plan resumes."""

import sqlalchemy as sa
from alembic import op

revision = '0037'
down_revision = '0036'


def upgrade() -> None:
    op.add_column('route_monitors', sa.Column('paused_by_owner', sa.Boolean(), server_default=sa.false(), nullable=False))
