"""Rain alerts have a table, and their mails a switch."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "HEAD"
runs_with = None


def upgrade() -> None:
    op.create_table(
        "rain_alerts",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column(
            "account_id", sa.BigInteger, sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        sa.Column("synthetic", sa.Boolean, nullable=False),
        sa.Column("airport", sa.String(3), nullable=False),
        sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("paused_at", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.add_column("profiles", sa.Column("mail_rain_alerts", sa.Boolean, nullable=False, server_default=sa.true()))
