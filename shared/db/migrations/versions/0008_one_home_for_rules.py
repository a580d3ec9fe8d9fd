"""One home for rules: corrections of programmes lose the columns that have files of their own; corrections of files
that are gone, or of rows that stand elsewhere now, end, because nothing could apply them."""

from alembic import op
revision = '0008'
down_revision = '0007'

_GONE = "'elite_rules.csv', 'status_thresholds.csv', 'peak_calendars.csv', 'transfer_bonus_patterns.csv', 'buy_points_tiers.csv'"


def upgrade() -> None:
    op.execute(
        "update reference_overrides set cells = cells - array['expiry_months', 'expiry_rule', 'expiry_source', "
        "'expiry_as_of', 'expiry_confidence', 'pooling', 'pooling_note', 'pooling_source', 'pooling_as_of'] "
        "where file = 'programs.csv'"
    )
    op.execute("update reference_overrides set cells = cells - 'scheme' where file = 'earning_cathay_zones.csv'")
    op.execute(f'delete from reference_overrides where file in ({_GONE})')
    op.execute(
        "delete from reference_overrides where file = 'program_facts.csv' "
        "and cells->>'topic' in ('expiry', 'pooling', 'change_cancel_fee')"
    )
    op.execute(
        "delete from reference_overrides where file = 'status_earning_rules.csv' and cells->>'rule' = 'xp_per_segment'"
    )
