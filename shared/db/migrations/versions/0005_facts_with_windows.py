"""Facts with windows: corrections take the new names of columns, and none is trusted without a second source."""

from alembic import op
revision = '0005'
down_revision = '0004'

_RENAMED = (
    ('transfer_partners.csv', 'ended_on', 'valid_to'),
    ('transfer_bonuses.csv', 'start_date', 'valid_from'),
    ('transfer_bonuses.csv', 'end_date', 'valid_to'),
    ('points_sales.csv', 'start_date', 'valid_from'),
    ('points_sales.csv', 'end_date', 'valid_to'),
    ('award_charts.csv', 'effective_from', 'valid_from'),
    ('award_charts.csv', 'effective_to', 'valid_to'),
    ('award_examples.csv', 'effective_from', 'valid_from'),
    ('status_matches.csv', 'ends_on', 'valid_to'),
)


def upgrade() -> None:
    for file, before, after in _RENAMED:
        op.execute(
            f"update reference_overrides set cells = (cells - '{before}') || "
            f"jsonb_build_object('{after}', cells->'{before}') where file = '{file}' and cells ? '{before}'"
        )
    # The key of a transfer route names its cards and its first day too.
    op.execute("update reference_overrides set key = key || ' - -' where file = 'transfer_partners.csv'")
    # Nobody recorded a second source, so no stored correction can claim an audit.
    op.execute(
        "update reference_overrides set cells = cells || "
        "jsonb_build_object('audited_on', '', 'confidence', 'medium') where cells->>'confidence' = 'high'"
    )
