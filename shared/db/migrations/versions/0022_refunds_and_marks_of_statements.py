"""Refunds and marks of statements: what came back of a month's spending, and hashes that recognise a line again."""

from alembic import op

revision = '0022'
down_revision = '0021'


def upgrade() -> None:
    op.execute('alter table spending_totals add column refunds numeric(14, 2) default 0 not null')
    op.execute('alter table spending_statements add column line_marks bytea')
