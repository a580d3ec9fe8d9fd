"""Runs that read mail have a queue of their own, so that no other run waits behind a mail."""

import sqlalchemy as sa
from alembic import op

revision = '0035'
down_revision = '0034'


def upgrade() -> None:
    op.add_column('job_runs', sa.Column('queue', sa.Text(), server_default='checks', nullable=False))
    op.execute("""
        update job_runs r set queue = 'mail' from schedules s
        where s.id = r.schedule_id and s.kind = 'inbound_mail'
    """)
    op.create_check_constraint(op.f('ck_job_runs_queue'), 'job_runs', "queue in ('checks', 'mail')")
    op.drop_index('ix_job_runs_open', 'job_runs')
    op.create_index(
        'ix_job_runs_open',
        'job_runs',
        ['queue', 'wake_at'],
        postgresql_where=sa.text("status in ('pending', 'running')"),
    )
