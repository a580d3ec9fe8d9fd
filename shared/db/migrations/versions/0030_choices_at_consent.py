"""What a person chose when they allowed an application: the address, reading only, administering."""

import sqlalchemy as sa
from alembic import op

revision = '0030'
down_revision = '0029'


def upgrade() -> None:
    op.add_column('oauth_consents', sa.Column('address', sa.Text(), server_default='/mcp', nullable=False))
    for table in ('oauth_consents', 'oauth_families'):
        for name in ('read_only', 'administer'):
            op.add_column(table, sa.Column(name, sa.Boolean(), server_default=sa.text('false'), nullable=False))
