"""Keys say whether they administer; what was allowed to administer before, also without a second factor, does not.

A program of the release before takes every key of an administrator for one that does.
"""

import sqlalchemy as sa
from alembic import op

revision = '0049'
down_revision = '0048'
runs_with = '0048'


def upgrade() -> None:
    op.add_column('api_keys', sa.Column('administer', sa.Boolean(), server_default=sa.text('false'), nullable=False))
    for table in ('oauth_consents', 'oauth_families'):
        op.execute(f'update {table} set administer = false where administer')
