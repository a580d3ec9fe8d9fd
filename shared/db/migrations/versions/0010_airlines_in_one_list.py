"""Airlines in one list: corrections of rows that packages and other files took over go, others lose those columns."""

from alembic import op
revision = '0010'
down_revision = '0009'

_GONE = ('carriers.csv', 'countries.csv', 'exchange_rates.csv', 'regions.csv', 'sources.csv')


def upgrade() -> None:
    files = ', '.join(f"'{file}'" for file in _GONE)
    op.execute(f"delete from reference_overrides where file in ({files})")
    op.execute(
        "update reference_overrides set cells = cells - 'country' - 'alliance' - 'hubs' - 'programme_name' "
        "where file = 'airlines.csv'"
    )
    op.execute("update reference_overrides set cells = cells - 'alliance' - 'hubs' where file = 'programs.csv'")
