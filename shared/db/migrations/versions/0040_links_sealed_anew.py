"""The secrets of links, sealed once the key they followed from has gone."""

import sqlalchemy as sa
from alembic import op

revision = '0040'
down_revision = '0039'


def upgrade() -> None:
    op.add_column('secret_links', sa.Column('secret_sealed', sa.Text(), nullable=True))
    op.add_column('branded_pdfs', sa.Column('secret_sealed', sa.Text(), nullable=True))
