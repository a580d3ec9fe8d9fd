"""Own value of a point: what a person says a point of a programme is worth, in US cents."""

from alembic import op
revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    op.execute('alter table points_balances add column own_cents numeric(14, 2)')
