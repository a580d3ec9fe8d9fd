"""Transfers under way: an itinerary holds transfers of points with the day they are expected and the day they posted."""

from alembic import op
revision = '0019'
down_revision = '0018'


def upgrade() -> None:
    op.execute('alter table itinerary_items add column from_program text, add column to_program text, '
               'add column points bigint, add column expected_on date, add column posted_on date')
    op.execute('alter table itinerary_items drop constraint ck_itinerary_items_kind')
    op.execute("alter table itinerary_items add constraint ck_itinerary_items_kind check (kind in ('flight', 'hotel', "
               "'transfer', 'activity', 'meal', 'note', 'points_transfer'))")
