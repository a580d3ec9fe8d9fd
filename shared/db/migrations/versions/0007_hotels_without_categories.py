"""Hotels without categories: corrections of hotels lose the columns that have a file of their own, or none."""

from alembic import op
revision = '0007'
down_revision = '0006'


def upgrade() -> None:
    op.execute(
        "update reference_overrides set cells = cells - array['code_confidence', 'award_category', "
        "'category_source_url', 'category_as_of', 'category_confidence'] where file = 'hotels.csv'"
    )
    op.execute(
        "update reference_overrides set cells = cells - array['points_currency', 'typical_range', "
        "'property_code_format'] where file = 'hotel_programmes.csv'"
    )
