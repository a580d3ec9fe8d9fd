"""Messages written in one transaction leave in the order in which they were written."""

from alembic import op

revision = '0032'
down_revision = '0031'


def upgrade() -> None:
    op.execute("alter table deliveries alter wake_at set default clock_timestamp()")
