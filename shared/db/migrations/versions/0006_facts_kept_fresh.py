"""Facts kept fresh: what watched public files held, where they differ from our rows, and reports of people."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
revision = '0006'
down_revision = '0005'


def upgrade() -> None:
    op.create_table('source_readings',
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('mapping', sa.Text(), nullable=False),
    sa.Column('etag', sa.Text(), nullable=True),
    sa.Column('content', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('read_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('checked_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('name', name=op.f('pk_source_readings'))
    )
    op.create_table('source_items',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('file', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('field', sa.Text(), nullable=False),
    sa.Column('ours', sa.Text(), nullable=False),
    sa.Column('theirs', sa.Text(), nullable=False),
    sa.Column('link', sa.Text(), nullable=False),
    sa.Column('first_seen_on', sa.Date(), nullable=False),
    sa.Column('last_seen_on', sa.Date(), nullable=False),
    sa.Column('ended_on', sa.Date(), nullable=True),
    sa.Column('closed_on', sa.Date(), nullable=True),
    sa.Column('closed_by', sa.Text(), nullable=True),
    sa.Column('closed_reason', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_source_items')),
    sa.UniqueConstraint('source', 'file', 'key', 'field', name=op.f('uq_source_items_source_file_key_field'))
    )
    op.create_table('fact_reports',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('received_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('file', sa.Text(), nullable=True),
    sa.Column('tool', sa.Text(), nullable=True),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('wrong', sa.Text(), nullable=False),
    sa.Column('link', sa.Text(), nullable=True),
    sa.Column('mail', sa.Text(), nullable=True),
    sa.Column('closed_on', sa.Date(), nullable=True),
    sa.Column('closed_by', sa.Text(), nullable=True),
    sa.Column('closed_reason', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fact_reports'))
    )
