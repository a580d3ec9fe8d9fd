"""Members of a household: a balance and a status may be another member's; the empty name is the account holder."""

from alembic import op
revision = '0021'
down_revision = '0020'


def upgrade() -> None:
    for table in ('points_balances', 'loyalty_statuses'):
        op.execute(f"alter table {table} add column member text default '' not null")
        op.execute(f'alter table {table} drop constraint uq_{table}_account_id_program')
        op.execute(f'alter table {table} add constraint uq_{table}_account_id_program_member '
                   'unique (account_id, program, member)')
