"""Partners by awards: corrections of partners say whether awards can be used, as the rows do."""

from alembic import op
revision = '0009'
down_revision = '0008'


def upgrade() -> None:
    op.execute(
        "update reference_overrides set cells = (cells - 'relationship') || jsonb_build_object('redeemable', "
        "case when cells->>'relationship' = 'earn_only' then 'false' else 'true' end) "
        "where file = 'program_partners.csv' and cells ? 'relationship'"
    )
