"""The first release: all tables.

It bears the number of the last of the migrations that it stands for, so that tables made by those need nothing.
"""

import datetime as dt

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0049'
down_revision = None
runs_with = None  # there is no earlier release



def _create_accounts() -> None:
    op.create_table('accounts',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('public_id', sa.Text(), nullable=False),
    sa.Column('email', sa.Text(), nullable=True),
    sa.Column('password_hash', sa.Text(), nullable=True),
    sa.Column('email_confirmed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('plan', sa.Text(), server_default='free', nullable=False),
    sa.Column('is_admin', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('disabled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('api_calls_per_month', sa.Integer(), nullable=True),
    sa.Column('inbox_trial_ends_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_seen_at', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("plan in ('free', 'premium', 'pro', 'enterprise')", name=op.f('ck_accounts_plan')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_accounts')),
    sa.UniqueConstraint('public_id', name=op.f('uq_accounts_public_id'))
    )
    op.create_index('uq_accounts_email_lower', 'accounts', [sa.literal_column('lower(email)')], unique=True)



def _create_audit_findings() -> None:
    op.create_table('audit_findings',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('file', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('since', sa.Date(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('first_found_on', sa.Date(), nullable=False),
    sa.Column('last_found_on', sa.Date(), nullable=False),
    sa.Column('ended_on', sa.Date(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_findings')),
    sa.UniqueConstraint('kind', 'file', 'key', name=op.f('uq_audit_findings_kind_file_key'))
    )



def _create_billing_events() -> None:
    op.create_table('billing_events',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('event_id', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('customer_id', sa.Text(), nullable=True),
    sa.Column('received_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_billing_events')),
    sa.UniqueConstraint('event_id', name=op.f('uq_billing_events_event_id'))
    )



def _create_client_call_counts() -> None:
    op.create_table('client_call_counts',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('client', sa.Text(), nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'client', name=op.f('pk_client_call_counts'))
    )



def _create_client_span_counts() -> None:
    op.create_table('client_span_counts',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('days', sa.SmallInteger(), autoincrement=False, nullable=False),
    sa.Column('client', sa.Text(), nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'days', 'client', name=op.f('pk_client_span_counts'))
    )



def _create_daily_calls() -> None:
    op.create_table('daily_calls',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.Column('accounts', sa.Integer(), nullable=False),
    sa.Column('accounts_last', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', name=op.f('pk_daily_calls'))
    )



def _create_fact_reports() -> None:
    op.create_table('fact_reports',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('received_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('file', sa.Text(), nullable=True),
    sa.Column('tool', sa.Text(), nullable=True),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('wrong', sa.Text(), nullable=False),
    sa.Column('link', sa.Text(), nullable=True),
    sa.Column('mail', sa.Text(), nullable=True),
    sa.Column('closed_on', sa.Date(), nullable=True),
    sa.Column('closed_by', sa.Text(), nullable=True),
    sa.Column('closed_reason', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fact_reports'))
    )



def _create_operator_actions() -> None:
    op.create_table('operator_actions',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('actor', sa.Text(), nullable=False),
    sa.Column('action', sa.Text(), nullable=False),
    sa.Column('target', sa.Text(), nullable=False),
    sa.Column('detail', sa.Text(), nullable=True),
    sa.Column('reason', sa.Text(), nullable=True),
    sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_operator_actions'))
    )
    op.create_index('ix_operator_actions_target', 'operator_actions', ['target'], unique=False)



def _create_reference_changes() -> None:
    op.create_table('reference_changes',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('made_by', sa.Text(), nullable=False),
    sa.Column('file', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('action', sa.Text(), nullable=False),
    sa.Column('before', postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
    sa.Column('after', postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
    sa.Column('reason', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_reference_changes'))
    )



def _create_reference_overrides() -> None:
    op.create_table('reference_overrides',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('file', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('cells', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('removed', sa.Boolean(), nullable=False),
    sa.Column('entered_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('entered_by', sa.Text(), nullable=False),
    sa.Column('reason', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_reference_overrides')),
    sa.UniqueConstraint('file', 'key', name=op.f('uq_reference_overrides_file_key'))
    )



def _create_schedules() -> None:
    op.create_table('schedules',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('subject_id', sa.BigInteger(), nullable=False),
    sa.Column('every', sa.Interval(), nullable=False),
    sa.Column('next_due_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('enabled', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('lane', sa.SmallInteger(), server_default='1', nullable=False),
    sa.Column('traceparent', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_schedules')),
    sa.UniqueConstraint('kind', 'subject_id', name=op.f('uq_schedules_kind_subject_id'))
    )
    op.create_index('ix_schedules_awaited', 'schedules', ['next_due_at'], unique=False, postgresql_where=sa.text('enabled and lane = 0'))
    op.create_index('ix_schedules_due', 'schedules', ['next_due_at'], unique=False, postgresql_where=sa.text('enabled'))



def _create_service_facts() -> None:
    op.create_table('service_facts',
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('value', sa.Text(), nullable=False),
    sa.Column('set_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.PrimaryKeyConstraint('name', name=op.f('pk_service_facts'))
    )



def _create_signing_keys() -> None:
    op.create_table('signing_keys',
    sa.Column('kid', sa.Text(), nullable=False),
    sa.Column('public', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('private_sealed', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('active_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('kid', name=op.f('pk_signing_keys'))
    )
    op.create_index(op.f('ix_signing_keys_active_at'), 'signing_keys', ['active_at'], unique=False)



def _create_source_items() -> None:
    op.create_table('source_items',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('file', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('field', sa.Text(), nullable=False),
    sa.Column('ours', sa.Text(), nullable=False),
    sa.Column('theirs', sa.Text(), nullable=False),
    sa.Column('link', sa.Text(), nullable=False),
    sa.Column('first_seen_on', sa.Date(), nullable=False),
    sa.Column('last_seen_on', sa.Date(), nullable=False),
    sa.Column('ended_on', sa.Date(), nullable=True),
    sa.Column('closed_on', sa.Date(), nullable=True),
    sa.Column('closed_by', sa.Text(), nullable=True),
    sa.Column('closed_reason', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_source_items')),
    sa.UniqueConstraint('source', 'file', 'key', 'field', name=op.f('uq_source_items_source_file_key_field'))
    )



def _create_source_readings() -> None:
    op.create_table('source_readings',
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('mapping', sa.Text(), nullable=False),
    sa.Column('etag', sa.Text(), nullable=True),
    sa.Column('content', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('read_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('checked_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('name', name=op.f('pk_source_readings'))
    )



def _create_tool_call_counts() -> None:
    op.create_table('tool_call_counts',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'tool', 'outcome', name=op.f('pk_tool_call_counts'))
    )



def _create_tool_call_times() -> None:
    op.create_table('tool_call_times',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('milliseconds', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'tool', 'milliseconds', name=op.f('pk_tool_call_times'))
    )



def _create_tool_span_counts() -> None:
    op.create_table('tool_span_counts',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('days', sa.SmallInteger(), autoincrement=False, nullable=False),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'days', 'tool', 'outcome', name=op.f('pk_tool_span_counts'))
    )



def _create_tool_span_times() -> None:
    op.create_table('tool_span_times',
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('days', sa.SmallInteger(), autoincrement=False, nullable=False),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('milliseconds', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('calls', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('day', 'days', 'tool', 'milliseconds', name=op.f('pk_tool_span_times'))
    )



def _create_used_assertions() -> None:
    op.create_table('used_assertions',
    sa.Column('assertion_hash', sa.Text(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('assertion_hash', name=op.f('pk_used_assertions'))
    )
    op.create_index(op.f('ix_used_assertions_expires_at'), 'used_assertions', ['expires_at'], unique=False)



def _create_address_changes() -> None:
    op.create_table('address_changes',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('new_email', sa.Text(), nullable=False),
    sa.Column('new_confirmed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('old_confirmed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_address_changes_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_address_changes'))
    )



def _create_advisor_logos() -> None:
    op.create_table('advisor_logos',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('media_type', sa.Text(), nullable=False),
    sa.Column('width', sa.Integer(), nullable=False),
    sa.Column('height', sa.Integer(), nullable=False),
    sa.Column('content', sa.LargeBinary(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_advisor_logos_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_advisor_logos'))
    )



def _create_api_keys() -> None:
    op.create_table('api_keys',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('key_hash', sa.Text(), nullable=False),
    sa.Column('ending', sa.Text(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('claim_hash', sa.Text(), nullable=True),
    sa.Column('administer', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_api_keys_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_api_keys')),
    sa.UniqueConstraint('claim_hash', name=op.f('uq_api_keys_claim_hash')),
    sa.UniqueConstraint('key_hash', name=op.f('uq_api_keys_key_hash'))
    )
    op.create_index(op.f('ix_api_keys_account_id'), 'api_keys', ['account_id'], unique=False)



def _create_authenticator_apps() -> None:
    op.create_table('authenticator_apps',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('secret_sealed', sa.Text(), nullable=False),
    sa.Column('last_time_step', sa.BigInteger(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_authenticator_apps_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_authenticator_apps')),
    sa.UniqueConstraint('account_id', name=op.f('uq_authenticator_apps_account_id'))
    )
    op.create_index(op.f('ix_authenticator_apps_account_id'), 'authenticator_apps', ['account_id'], unique=False)



def _create_award_observations() -> None:
    op.create_table('award_observations',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('airline', sa.Text(), nullable=False),
    sa.Column('program', sa.Text(), nullable=False),
    sa.Column('origin', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('date', sa.Date(), nullable=False),
    sa.Column('cabin', sa.Text(), nullable=False),
    sa.Column('points', sa.Integer(), nullable=False),
    sa.Column('taxes', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('taxes_currency', sa.String(length=3), nullable=True),
    sa.Column('seats', sa.Integer(), nullable=True),
    sa.Column('ref', sa.Text(), nullable=True),
    sa.Column('seen_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('provider_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('asker_id', sa.BigInteger(), nullable=True),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint("(source = 'sandbox') = synthetic", name=op.f('ck_award_observations_source_mode')),
    sa.ForeignKeyConstraint(['asker_id'], ['accounts.id'], name=op.f('fk_award_observations_asker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_award_observations'))
    )
    op.create_index('ix_award_observations_asker_id', 'award_observations', ['asker_id'], unique=False, postgresql_where=sa.text('asker_id is not null'))
    op.create_index('ix_award_observations_program', 'award_observations', ['program', 'airline'], unique=False)
    op.create_index('ix_award_observations_route', 'award_observations', ['origin', 'destination', 'cabin', 'date'], unique=False)



def _create_billing_customers() -> None:
    op.create_table('billing_customers',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=True),
    sa.Column('door', sa.Text(), nullable=False),
    sa.Column('customer_id', sa.Text(), nullable=False),
    sa.Column('subscription_id', sa.Text(), nullable=True),
    sa.Column('item_id', sa.Text(), nullable=True),
    sa.Column('status', sa.Text(), nullable=True),
    sa.Column('price', sa.Text(), nullable=True),
    sa.Column('paid_plan', sa.Text(), nullable=True),
    sa.Column('unpaid_plan', sa.Text(), nullable=True),
    sa.Column('period_ends_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('cancels_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('trial_ends_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('late_since', sa.DateTime(timezone=True), nullable=True),
    sa.Column('has_subscribed', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('revision', sa.Integer(), server_default='0', nullable=False),
    sa.Column('failures', sa.Integer(), server_default='0', nullable=False),
    sa.Column('check_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.CheckConstraint("paid_plan in ('free', 'premium', 'pro', 'enterprise')", name=op.f('ck_billing_customers_paid_plan')),
    sa.CheckConstraint("unpaid_plan in ('free', 'premium', 'pro', 'enterprise')", name=op.f('ck_billing_customers_unpaid_plan')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_billing_customers_account_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_billing_customers')),
    sa.UniqueConstraint('account_id', name=op.f('uq_billing_customers_account_id')),
    sa.UniqueConstraint('customer_id', name=op.f('uq_billing_customers_customer_id'))
    )
    op.create_index('ix_billing_customers_due', 'billing_customers', ['check_at'], unique=False, postgresql_where=sa.text('check_at is not null'))



def _create_cards() -> None:
    op.create_table('cards',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('member', sa.Text(), server_default='', nullable=False),
    sa.Column('slug', sa.Text(), nullable=True),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('custom', sa.Boolean(), nullable=False),
    sa.Column('nickname', sa.Text(), nullable=True),
    sa.Column('opened_on', sa.Date(), nullable=True),
    sa.Column('closed_on', sa.Date(), nullable=True),
    sa.Column('annual_fee', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('currency', sa.String(length=3), nullable=False),
    sa.Column('country', sa.String(length=2), nullable=True),
    sa.Column('bonus_amount', sa.BigInteger(), nullable=True),
    sa.Column('bonus_currency', sa.Text(), nullable=True),
    sa.Column('bonus_status', sa.Text(), nullable=True),
    sa.Column('bonus_earned_on', sa.Date(), nullable=True),
    sa.Column('spend_requirement', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('spend_deadline_on', sa.Date(), nullable=True),
    sa.Column('spend_window_months', sa.Integer(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("bonus_status in ('pending', 'earned', 'missed')", name=op.f('ck_cards_bonus_status')),
    sa.CheckConstraint('spend_window_months in (1, 2, 3, 6, 12)', name=op.f('ck_cards_spend_window_months')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_cards_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_cards'))
    )
    op.create_index(op.f('ix_cards_account_id'), 'cards', ['account_id'], unique=False)



def _create_client_portfolios() -> None:
    op.create_table('client_portfolios',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('client_name', sa.Text(), nullable=False),
    sa.Column('client_email', sa.Text(), nullable=True),
    sa.Column('phone', sa.Text(), nullable=True),
    sa.Column('balances', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('preferences', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_client_portfolios_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_client_portfolios'))
    )
    op.create_index(op.f('ix_client_portfolios_account_id'), 'client_portfolios', ['account_id'], unique=False)



def _create_connections() -> None:
    op.create_table('connections',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('provider', sa.Text(), nullable=False),
    sa.Column('state', sa.Text(), nullable=False),
    sa.Column('state_hash', sa.Text(), nullable=True),
    sa.Column('pending_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('pending_sealed', sa.Text(), nullable=True),
    sa.Column('access_sealed', sa.Text(), nullable=True),
    sa.Column('refresh_sealed', sa.Text(), nullable=True),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('scope', sa.Text(), nullable=True),
    sa.Column('refreshing_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('syncing_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('details', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('connected_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_sync_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_error', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("state in ('pending', 'connected', 'broken', 'disconnected')", name=op.f('ck_connections_state')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_connections_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_connections')),
    sa.UniqueConstraint('account_id', 'provider', name=op.f('uq_connections_account_id_provider')),
    sa.UniqueConstraint('state_hash', name=op.f('uq_connections_state_hash'))
    )
    op.create_index(op.f('ix_connections_account_id'), 'connections', ['account_id'], unique=False)



def _create_deadline_watches() -> None:
    op.create_table('deadline_watches',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('looked_on', sa.Date(), nullable=True),
    sa.Column('overview_on', sa.Date(), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_deadline_watches_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_deadline_watches'))
    )



def _create_delay_alerts() -> None:
    op.create_table('delay_alerts',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('airport', sa.String(length=3), nullable=False),
    sa.Column('channels', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('phone_sealed', sa.Text(), nullable=True),
    sa.Column('phone_ending', sa.Text(), nullable=True),
    sa.Column('proof_asked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('min_delay_minutes', sa.Integer(), nullable=False),
    sa.Column('label', sa.Text(), nullable=True),
    sa.Column('active', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('episode_since', sa.DateTime(timezone=True), nullable=True),
    sa.Column('episode_level', sa.Integer(), nullable=True),
    sa.Column('last_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_triggered_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint('min_delay_minutes between 0 and 600', name=op.f('ck_delay_alerts_min_delay_minutes')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_delay_alerts_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_delay_alerts'))
    )
    op.create_index(op.f('ix_delay_alerts_account_id'), 'delay_alerts', ['account_id'], unique=False)
    op.create_index('ix_delay_alerts_airport', 'delay_alerts', ['airport'], unique=False, postgresql_where=sa.text('active and paused_at is null'))



def _create_fare_observations() -> None:
    op.create_table('fare_observations',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('origin', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('date', sa.Date(), nullable=False),
    sa.Column('return_date', sa.Date(), nullable=True),
    sa.Column('cabin', sa.Text(), nullable=False),
    sa.Column('passengers', sa.Integer(), nullable=False),
    sa.Column('price', sa.Numeric(precision=14, scale=2), nullable=False),
    sa.Column('currency', sa.String(length=3), nullable=False),
    sa.Column('carriers', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('stops', sa.Integer(), nullable=True),
    sa.Column('city_wide', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('provider_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('asker_id', sa.BigInteger(), nullable=True),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint("(source = 'sandbox') = synthetic", name=op.f('ck_fare_observations_source_mode')),
    sa.ForeignKeyConstraint(['asker_id'], ['accounts.id'], name=op.f('fk_fare_observations_asker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fare_observations'))
    )
    op.create_index(op.f('ix_fare_observations_asker_id'), 'fare_observations', ['asker_id'], unique=False)
    op.create_index('ix_fare_observations_route', 'fare_observations', ['origin', 'destination', 'cabin', 'date', 'seen_at'], unique=False)



def _create_flight_alerts() -> None:
    op.create_table('flight_alerts',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('airline', sa.Text(), nullable=False),
    sa.Column('departure', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('date_range_start', sa.Date(), nullable=False),
    sa.Column('date_range_end', sa.Date(), nullable=False),
    sa.Column('cabin_class', sa.Text(), nullable=True),
    sa.Column('passengers', sa.Integer(), server_default='1', nullable=False),
    sa.Column('active', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_outcome', sa.Text(), nullable=True),
    sa.Column('last_hit_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('nonstop_only', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('weekdays', postgresql.ARRAY(sa.Text()), nullable=True),
    sa.Column('max_taxes', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('max_taxes_currency', sa.String(length=3), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint('date_range_end >= date_range_start', name=op.f('ck_flight_alerts_window')),
    sa.CheckConstraint('passengers between 1 and 9', name=op.f('ck_flight_alerts_passengers')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_flight_alerts_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_flight_alerts'))
    )
    op.create_index(op.f('ix_flight_alerts_account_id'), 'flight_alerts', ['account_id'], unique=False)



def _create_forwarding_addresses() -> None:
    op.create_table('forwarding_addresses',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('address', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('confirmed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_forwarding_addresses_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_forwarding_addresses')),
    sa.UniqueConstraint('account_id', 'address', name=op.f('uq_forwarding_addresses_account_id_address'))
    )
    op.create_index(op.f('ix_forwarding_addresses_account_id'), 'forwarding_addresses', ['account_id'], unique=False)



def _create_hotel_prices() -> None:
    op.create_table('hotel_prices',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('hotel_code', sa.Text(), nullable=False),
    sa.Column('check_in_date', sa.Date(), nullable=False),
    sa.Column('check_out_date', sa.Date(), nullable=False),
    sa.Column('captured_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('points', sa.BigInteger(), nullable=True),
    sa.Column('cash', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('currency', sa.String(length=3), nullable=True),
    sa.Column('room_type', sa.Text(), nullable=True),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('mode', sa.Text(), nullable=False),
    sa.Column('provider_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('complete', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('asker_id', sa.BigInteger(), nullable=True),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint("(source = 'sandbox') = synthetic", name=op.f('ck_hotel_prices_source_mode')),
    sa.ForeignKeyConstraint(['asker_id'], ['accounts.id'], name=op.f('fk_hotel_prices_asker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_hotel_prices'))
    )
    op.create_index(op.f('ix_hotel_prices_asker_id'), 'hotel_prices', ['asker_id'], unique=False)
    op.create_index('ix_hotel_prices_stay', 'hotel_prices', ['hotel_code', 'check_in_date', 'check_out_date', 'captured_at'], unique=False)



def _create_inbound_mails() -> None:
    op.create_table('inbound_mails',
    sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
    sa.Column('number', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('digest', sa.Text(), nullable=False),
    sa.Column('received_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('from_domain', sa.Text(), nullable=False),
    sa.Column('sender', sa.Text(), server_default='', nullable=False),
    sa.Column('sender_verified', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('subject', sa.Text(), nullable=False),
    sa.Column('raw', sa.LargeBinary(), nullable=True),
    sa.Column('state', sa.Text(), server_default='received', nullable=False),
    sa.Column('kind', sa.Text(), server_default='unknown', nullable=False),
    sa.Column('parsed', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('missing', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('confidence', sa.Float(), nullable=True),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('keep_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("kind in ('flight', 'hotel', 'unknown')", name=op.f('ck_inbound_mails_kind')),
    sa.CheckConstraint("state in ('received', 'needs_review', 'imported', 'discarded', 'failed')", name=op.f('ck_inbound_mails_state')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_inbound_mails_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_inbound_mails')),
    sa.UniqueConstraint('account_id', 'digest', name=op.f('uq_inbound_mails_account_id_digest')),
    sa.UniqueConstraint('number', name=op.f('uq_inbound_mails_number'))
    )
    op.create_index(op.f('ix_inbound_mails_account_id'), 'inbound_mails', ['account_id'], unique=False)
    op.create_index('ix_inbound_mails_ending', 'inbound_mails', ['keep_until'], unique=False, postgresql_where=sa.text('keep_until is not null'))
    op.create_index('ix_inbound_mails_newest', 'inbound_mails', ['account_id', 'received_at'], unique=False)



def _create_job_runs() -> None:
    op.create_table('job_runs',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('schedule_id', sa.BigInteger(), nullable=False),
    sa.Column('due_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('queue', sa.Text(), server_default='checks', nullable=False),
    sa.Column('lane', sa.SmallInteger(), server_default='1', nullable=False),
    sa.Column('status', sa.Text(), server_default='pending', nullable=False),
    sa.Column('attempt', sa.Integer(), server_default='0', nullable=False),
    sa.Column('handed', sa.Integer(), server_default='0', nullable=False),
    sa.Column('wake_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('claimed_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('finished_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('traceparent', sa.Text(), nullable=True),
    sa.CheckConstraint("queue in ('checks', 'mail')", name=op.f('ck_job_runs_queue')),
    sa.CheckConstraint("status in ('pending', 'running', 'done', 'failed', 'skipped')", name=op.f('ck_job_runs_status')),
    sa.ForeignKeyConstraint(['schedule_id'], ['schedules.id'], name=op.f('fk_job_runs_schedule_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_job_runs')),
    sa.UniqueConstraint('schedule_id', 'due_at', name=op.f('uq_job_runs_schedule_id_due_at'))
    )
    op.create_index('ix_job_runs_failed', 'job_runs', ['finished_at'], unique=False, postgresql_where=sa.text("status = 'failed'"))
    op.create_index('ix_job_runs_open', 'job_runs', ['queue', 'lane', 'wake_at'], unique=False, postgresql_where=sa.text("status in ('pending', 'running')"))



def _create_known_browsers() -> None:
    op.create_table('known_browsers',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('id_hash', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_known_browsers_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', 'id_hash', name=op.f('pk_known_browsers'))
    )
    op.create_index(op.f('ix_known_browsers_id_hash'), 'known_browsers', ['id_hash'], unique=False)
    op.create_index(op.f('ix_known_browsers_last_used_at'), 'known_browsers', ['last_used_at'], unique=False)



def _create_linked_identities() -> None:
    op.create_table('linked_identities',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('issuer', sa.Text(), nullable=False),
    sa.Column('subject', sa.Text(), nullable=False),
    sa.Column('provider', sa.Text(), nullable=False),
    sa.Column('address', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_linked_identities_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_linked_identities')),
    sa.UniqueConstraint('issuer', 'subject', name=op.f('uq_linked_identities_issuer_subject'))
    )
    op.create_index(op.f('ix_linked_identities_account_id'), 'linked_identities', ['account_id'], unique=False)



def _create_loyalty_statuses() -> None:
    op.create_table('loyalty_statuses',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('program', sa.Text(), nullable=False),
    sa.Column('member', sa.Text(), server_default='', nullable=False),
    sa.Column('tier', sa.Text(), nullable=False),
    sa.Column('valid_until', sa.Date(), nullable=True),
    sa.Column('lifetime', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('target_tier', sa.Text(), nullable=True),
    sa.Column('progress', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('progress_as_of', sa.Date(), nullable=True),
    sa.Column('other_progress', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('source', sa.Text(), server_default='manual', nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint('progress >= 0', name=op.f('ck_loyalty_statuses_progress')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_loyalty_statuses_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_loyalty_statuses')),
    sa.UniqueConstraint('account_id', 'program', 'member', name=op.f('uq_loyalty_statuses_account_id_program_member'))
    )
    op.create_index(op.f('ix_loyalty_statuses_account_id'), 'loyalty_statuses', ['account_id'], unique=False)



def _create_mailed_seats() -> None:
    op.create_table('mailed_seats',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('route', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('points', sa.Integer(), nullable=False),
    sa.Column('watch', sa.Text(), nullable=False),
    sa.Column('mailed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_mailed_seats_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', 'route', 'key', name=op.f('pk_mailed_seats'))
    )
    op.create_index('ix_mailed_seats_day', 'mailed_seats', ['day'], unique=False)



def _create_message_channels() -> None:
    op.create_table('message_channels',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('address_sealed', sa.Text(), nullable=False),
    sa.Column('address_hash', sa.Text(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('wanted_kinds', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('quiet_from', sa.Integer(), nullable=True),
    sa.Column('quiet_until', sa.Integer(), nullable=True),
    sa.Column('code_hash', sa.Text(), nullable=True),
    sa.Column('code_sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('code_tries', sa.Integer(), server_default='0', nullable=False),
    sa.Column('proved_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_message_channels_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_message_channels')),
    sa.UniqueConstraint('account_id', 'address_hash', name=op.f('uq_message_channels_account_id_address_hash'))
    )
    op.create_index(op.f('ix_message_channels_account_id'), 'message_channels', ['account_id'], unique=False)



def _create_notifications() -> None:
    op.create_table('notifications',
    sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
    sa.Column('dedupe_key', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.Column('subject_type', sa.Text(), nullable=True),
    sa.Column('subject_id', sa.Text(), nullable=True),
    sa.Column('link', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('read_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_notifications_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_notifications')),
    sa.UniqueConstraint('dedupe_key', name=op.f('uq_notifications_dedupe_key'))
    )
    op.create_index(op.f('ix_notifications_account_id'), 'notifications', ['account_id'], unique=False)
    op.create_index('ix_notifications_newest', 'notifications', ['account_id', 'created_at'], unique=False)



def _create_oauth_clients() -> None:
    op.create_table('oauth_clients',
    sa.Column('client_id', sa.String(length=512), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('secret_hash', sa.Text(), nullable=True),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('auth_method', sa.Text(), nullable=False),
    sa.Column('redirect_uris', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('owner_id', sa.BigInteger(), nullable=True),
    sa.Column('fingerprint', sa.Text(), nullable=True),
    sa.Column('fresh_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('disabled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.CheckConstraint("kind in ('dcr', 'cimd', 'manual', 'service')", name=op.f('ck_oauth_clients_kind')),
    sa.ForeignKeyConstraint(['owner_id'], ['accounts.id'], name=op.f('fk_oauth_clients_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('client_id', name=op.f('pk_oauth_clients'))
    )
    op.create_index(op.f('ix_oauth_clients_fingerprint'), 'oauth_clients', ['fingerprint'], unique=False)
    op.create_index(op.f('ix_oauth_clients_owner_id'), 'oauth_clients', ['owner_id'], unique=False)



def _create_one_time_links() -> None:
    op.create_table('one_time_links',
    sa.Column('token_hash', sa.Text(), nullable=False),
    sa.Column('purpose', sa.Text(), nullable=False),
    sa.Column('nonce', sa.Text(), nullable=False),
    sa.Column('address', sa.Text(), nullable=True),
    sa.Column('return_to', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_one_time_links_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('token_hash', name=op.f('pk_one_time_links'))
    )
    op.create_index(op.f('ix_one_time_links_account_id'), 'one_time_links', ['account_id'], unique=False)
    op.create_index(op.f('ix_one_time_links_expires_at'), 'one_time_links', ['expires_at'], unique=False)



def _create_passkeys() -> None:
    op.create_table('passkeys',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('credential_id', sa.Text(), nullable=False),
    sa.Column('public_key', sa.LargeBinary(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('sign_count', sa.BigInteger(), nullable=False),
    sa.Column('backup_eligible', sa.Boolean(), nullable=False),
    sa.Column('backed_up', sa.Boolean(), nullable=False),
    sa.Column('transports', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_passkeys_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_passkeys')),
    sa.UniqueConstraint('credential_id', name=op.f('uq_passkeys_credential_id'))
    )
    op.create_index(op.f('ix_passkeys_account_id'), 'passkeys', ['account_id'], unique=False)



def _create_password_guesses() -> None:
    op.create_table('password_guesses',
    sa.Column('name_hash', sa.Text(), nullable=False),
    sa.Column('owner_id', sa.BigInteger(), nullable=True),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('last_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['accounts.id'], name=op.f('fk_password_guesses_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('name_hash', name=op.f('pk_password_guesses'))
    )
    op.create_index(op.f('ix_password_guesses_last_at'), 'password_guesses', ['last_at'], unique=False)
    op.create_index(op.f('ix_password_guesses_owner_id'), 'password_guesses', ['owner_id'], unique=False)



def _create_phone_numbers() -> None:
    op.create_table('phone_numbers',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('number_sealed', sa.Text(), nullable=False),
    sa.Column('number_hash', sa.Text(), nullable=False),
    sa.Column('phone_ending', sa.Text(), nullable=False),
    sa.Column('code_hash', sa.Text(), nullable=True),
    sa.Column('code_sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('code_tries', sa.Integer(), server_default='0', nullable=False),
    sa.Column('proved_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_phone_numbers_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_phone_numbers')),
    sa.UniqueConstraint('account_id', 'number_hash', name=op.f('uq_phone_numbers_account_id_number_hash'))
    )
    op.create_index(op.f('ix_phone_numbers_account_id'), 'phone_numbers', ['account_id'], unique=False)



def _create_points_balances() -> None:
    op.create_table('points_balances',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('program', sa.Text(), nullable=False),
    sa.Column('member', sa.Text(), server_default='', nullable=False),
    sa.Column('balance', sa.BigInteger(), nullable=False),
    sa.Column('expires_on', sa.Date(), nullable=True),
    sa.Column('as_of', sa.Date(), nullable=False),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('own_cents', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('source', sa.Text(), server_default='manual', nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint('balance >= 0', name=op.f('ck_points_balances_balance')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_points_balances_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_points_balances')),
    sa.UniqueConstraint('account_id', 'program', 'member', name=op.f('uq_points_balances_account_id_program_member'))
    )
    op.create_index(op.f('ix_points_balances_account_id'), 'points_balances', ['account_id'], unique=False)



def _create_profiles() -> None:
    op.create_table('profiles',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('mail_route_monitors', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('mail_flight_alerts', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('mail_standing_orders', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('mail_hotel_price_drops', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('mail_deadlines', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('mail_weekly_overview', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('mail_product_news', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('home_airport', sa.String(length=3), nullable=True),
    sa.Column('default_cabin', sa.Text(), nullable=True),
    sa.Column('currency', sa.String(length=3), nullable=True),
    sa.Column('country', sa.String(length=2), nullable=True),
    sa.Column('timezone', sa.Text(), nullable=True),
    sa.Column('preferred_airlines', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('avoided_airlines', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('default_passengers', sa.Integer(), nullable=True),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_profiles_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_profiles'))
    )



def _create_recovery_codes() -> None:
    op.create_table('recovery_codes',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('code_hash', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_recovery_codes_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_recovery_codes'))
    )
    op.create_index(op.f('ix_recovery_codes_account_id'), 'recovery_codes', ['account_id'], unique=False)



def _create_security_events() -> None:
    op.create_table('security_events',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('subject', sa.Text(), nullable=True),
    sa.Column('browser', sa.Text(), nullable=True),
    sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_security_events_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_security_events'))
    )
    op.create_index(op.f('ix_security_events_account_id'), 'security_events', ['account_id'], unique=False)
    op.create_index('ix_security_events_at', 'security_events', ['at'], unique=False)



def _create_told_deadlines() -> None:
    op.create_table('told_deadlines',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('due_on', sa.Date(), nullable=False),
    sa.Column('days_ahead', sa.Integer(), nullable=False),
    sa.Column('told_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_told_deadlines_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', 'key', 'due_on', name=op.f('pk_told_deadlines'))
    )



def _create_tool_calls() -> None:
    op.create_table('tool_calls',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('client', sa.Text(), nullable=True),
    sa.Column('via', sa.Text(), nullable=False),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('milliseconds', sa.Integer(), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_tool_calls_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('at', 'id', name=op.f('pk_tool_calls')),
    postgresql_partition_by='RANGE (at)'
    )
    op.create_index('ix_tool_calls_account_at', 'tool_calls', ['account_id', 'at'], unique=False)



def _create_trips() -> None:
    op.create_table('trips',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('destination', sa.Text(), nullable=True),
    sa.Column('start_date', sa.Date(), nullable=True),
    sa.Column('end_date', sa.Date(), nullable=True),
    sa.Column('archived_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_trips_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_trips'))
    )
    op.create_index(op.f('ix_trips_account_id'), 'trips', ['account_id'], unique=False)



def _create_usage_counters() -> None:
    op.create_table('usage_counters',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('meter', sa.Text(), nullable=False),
    sa.Column('period', sa.Date(), nullable=False),
    sa.Column('used', sa.Integer(), server_default='0', nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_usage_counters_account_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', 'meter', 'period', name=op.f('pk_usage_counters'))
    )
    op.create_index('ix_usage_counters_period', 'usage_counters', ['period', 'meter', 'account_id'], unique=False)



def _create_web_sessions() -> None:
    op.create_table('web_sessions',
    sa.Column('id_hash', sa.Text(), nullable=False),
    sa.Column('owner_id', sa.BigInteger(), nullable=True),
    sa.Column('csrf_key', sa.Text(), nullable=False),
    sa.Column('authenticated_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('browser', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['accounts.id'], name=op.f('fk_web_sessions_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id_hash', name=op.f('pk_web_sessions'))
    )
    op.create_index(op.f('ix_web_sessions_expires_at'), 'web_sessions', ['expires_at'], unique=False)
    op.create_index(op.f('ix_web_sessions_owner_id'), 'web_sessions', ['owner_id'], unique=False)



def _create_branded_pdfs() -> None:
    op.create_table('branded_pdfs',
    sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
    sa.Column('client_portfolio_id', sa.BigInteger(), nullable=True),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('content', sa.LargeBinary(), nullable=False),
    sa.Column('pages', sa.Integer(), nullable=False),
    sa.Column('nonce', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('secret_sealed', sa.Text(), nullable=True),
    sa.Column('token_hash', sa.Text(), nullable=False),
    sa.Column('views', sa.Integer(), server_default='0', nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_branded_pdfs_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['client_portfolio_id'], ['client_portfolios.id'], name=op.f('fk_branded_pdfs_client_portfolio_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_branded_pdfs')),
    sa.UniqueConstraint('token_hash', name=op.f('uq_branded_pdfs_token_hash'))
    )
    op.create_index(op.f('ix_branded_pdfs_account_id'), 'branded_pdfs', ['account_id'], unique=False)
    op.create_index(op.f('ix_branded_pdfs_client_portfolio_id'), 'branded_pdfs', ['client_portfolio_id'], unique=False)
    op.create_index('ix_branded_pdfs_newest', 'branded_pdfs', ['account_id', 'created_at'], unique=False)



def _create_card_credit_uses() -> None:
    op.create_table('card_credit_uses',
    sa.Column('card_id', sa.BigInteger(), nullable=False),
    sa.Column('credit', sa.Text(), nullable=False),
    sa.Column('cycle_start', sa.Date(), nullable=False),
    sa.Column('amount', sa.Numeric(precision=14, scale=2), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_card_credit_uses_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['card_id'], ['cards.id'], name=op.f('fk_card_credit_uses_card_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('card_id', 'credit', 'cycle_start', name=op.f('pk_card_credit_uses'))
    )
    op.create_index(op.f('ix_card_credit_uses_account_id'), 'card_credit_uses', ['account_id'], unique=False)



def _create_chat_links() -> None:
    op.create_table('chat_links',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('url', sa.Text(), nullable=True),
    sa.Column('summary', sa.Text(), nullable=True),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_chat_links_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_chat_links_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_chat_links'))
    )
    op.create_index('ix_chat_links_account_created', 'chat_links', ['account_id', 'created_at'], unique=False)
    op.create_index(op.f('ix_chat_links_account_id'), 'chat_links', ['account_id'], unique=False)
    op.create_index(op.f('ix_chat_links_trip_id'), 'chat_links', ['trip_id'], unique=False)



def _create_deliveries() -> None:
    op.create_table('deliveries',
    sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
    sa.Column('notification_id', sa.Uuid(), nullable=True),
    sa.Column('dedupe_key', sa.Text(), nullable=False),
    sa.Column('channel', sa.Text(), nullable=False),
    sa.Column('recipient', sa.Text(), nullable=False),
    sa.Column('event', sa.Text(), nullable=False),
    sa.Column('facts', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('status', sa.Text(), server_default='pending', nullable=False),
    sa.Column('attempt', sa.Integer(), server_default='0', nullable=False),
    sa.Column('handed', sa.Integer(), server_default='0', nullable=False),
    sa.Column('wake_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.Column('claimed_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('traceparent', sa.Text(), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint("status in ('pending', 'claimed', 'handing_over', 'sent', 'failed', 'uncertain')", name=op.f('ck_deliveries_status')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_deliveries_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['notification_id'], ['notifications.id'], name=op.f('fk_deliveries_notification_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_deliveries')),
    sa.UniqueConstraint('dedupe_key', 'channel', 'recipient', name=op.f('uq_deliveries_dedupe_key_channel_recipient'))
    )
    op.create_index(op.f('ix_deliveries_account_id'), 'deliveries', ['account_id'], unique=False)
    op.create_index('ix_deliveries_created', 'deliveries', ['created_at'], unique=False)
    op.create_index('ix_deliveries_failed', 'deliveries', ['created_at'], unique=False, postgresql_where=sa.text("status = 'failed'"))
    op.create_index(op.f('ix_deliveries_notification_id'), 'deliveries', ['notification_id'], unique=False)
    op.create_index('ix_deliveries_open', 'deliveries', ['wake_at'], unique=False, postgresql_where=sa.text("status in ('pending', 'claimed', 'handing_over')"))



def _create_flight_alert_keys() -> None:
    op.create_table('flight_alert_keys',
    sa.Column('alert_id', sa.BigInteger(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('matched', sa.Boolean(), nullable=False),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['alert_id'], ['flight_alerts.id'], name=op.f('fk_flight_alert_keys_alert_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('alert_id', 'key', name=op.f('pk_flight_alert_keys'))
    )



def _create_flight_bookings() -> None:
    op.create_table('flight_bookings',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('member', sa.Text(), server_default='', nullable=False),
    sa.Column('airline', sa.Text(), nullable=False),
    sa.Column('flight_number', sa.Text(), nullable=True),
    sa.Column('origin', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('departure_date', sa.Date(), nullable=False),
    sa.Column('departure_time', sa.Time(), nullable=True),
    sa.Column('departure_zone', sa.Text(), nullable=True),
    sa.Column('arrival_date', sa.Date(), nullable=True),
    sa.Column('arrival_time', sa.Time(), nullable=True),
    sa.Column('arrival_zone', sa.Text(), nullable=True),
    sa.Column('return_date', sa.Date(), nullable=True),
    sa.Column('cabin_class', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('program', sa.Text(), nullable=True),
    sa.Column('points_spent', sa.BigInteger(), nullable=True),
    sa.Column('cash_paid', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('cash_price', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('taxes_paid', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('taxes_currency', sa.String(length=3), nullable=False),
    sa.Column('passengers', sa.Integer(), nullable=True),
    sa.Column('confirmation_number', sa.Text(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('trip_id', sa.Uuid(), nullable=True),
    sa.Column('workspace_trip_id', sa.BigInteger(), nullable=True),
    sa.Column('inbound_mail_id', sa.Uuid(), nullable=True),
    sa.Column('external_ref', sa.Text(), nullable=True),
    sa.Column('changes', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
    sa.Column('letter_on', sa.Date(), nullable=True),
    sa.Column('cancelled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("cabin_class in ('economy', 'premium_economy', 'business', 'first')", name=op.f('ck_flight_bookings_cabin_class')),
    sa.CheckConstraint("kind in ('award', 'cash')", name=op.f('ck_flight_bookings_kind')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_flight_bookings_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['inbound_mail_id'], ['inbound_mails.id'], name=op.f('fk_flight_bookings_inbound_mail_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['workspace_trip_id'], ['trips.id'], name=op.f('fk_flight_bookings_workspace_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_flight_bookings'))
    )
    op.create_index(op.f('ix_flight_bookings_account_id'), 'flight_bookings', ['account_id'], unique=False)
    op.create_index(op.f('ix_flight_bookings_inbound_mail_id'), 'flight_bookings', ['inbound_mail_id'], unique=False)
    op.create_index('ix_flight_bookings_newest', 'flight_bookings', ['account_id', 'departure_date', 'id'], unique=False)
    op.create_index(op.f('ix_flight_bookings_trip_id'), 'flight_bookings', ['trip_id'], unique=False)
    op.create_index(op.f('ix_flight_bookings_workspace_trip_id'), 'flight_bookings', ['workspace_trip_id'], unique=False)



def _create_hotel_bookings() -> None:
    op.create_table('hotel_bookings',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('member', sa.Text(), server_default='', nullable=False),
    sa.Column('hotel_code', sa.Text(), nullable=False),
    sa.Column('hotel_name', sa.Text(), nullable=False),
    sa.Column('hotel_city', sa.Text(), nullable=True),
    sa.Column('hotel_country', sa.String(length=2), nullable=True),
    sa.Column('check_in_date', sa.Date(), nullable=False),
    sa.Column('check_out_date', sa.Date(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('original_points', sa.BigInteger(), nullable=True),
    sa.Column('original_pay_rate_usd', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('cash_rate_currency', sa.String(length=3), nullable=False),
    sa.Column('room_type', sa.Text(), nullable=True),
    sa.Column('rate_plan', sa.Text(), nullable=True),
    sa.Column('confirmation_number', sa.Text(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('inbound_mail_id', sa.Uuid(), nullable=True),
    sa.Column('external_ref', sa.Text(), nullable=True),
    sa.Column('free_cancellation_until', sa.Date(), nullable=True),
    sa.Column('compared_since', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('last_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_error', sa.Text(), nullable=True),
    sa.Column('told_price', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('changes', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
    sa.Column('letter_on', sa.Date(), nullable=True),
    sa.Column('cancelled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("kind in ('award', 'cash')", name=op.f('ck_hotel_bookings_kind')),
    sa.CheckConstraint('check_out_date > check_in_date', name=op.f('ck_hotel_bookings_nights')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_hotel_bookings_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['inbound_mail_id'], ['inbound_mails.id'], name=op.f('fk_hotel_bookings_inbound_mail_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_hotel_bookings_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_hotel_bookings'))
    )
    op.create_index(op.f('ix_hotel_bookings_account_id'), 'hotel_bookings', ['account_id'], unique=False)
    op.create_index(op.f('ix_hotel_bookings_inbound_mail_id'), 'hotel_bookings', ['inbound_mail_id'], unique=False)
    op.create_index('ix_hotel_bookings_newest', 'hotel_bookings', ['account_id', 'check_in_date', 'id'], unique=False)
    op.create_index('ix_hotel_bookings_stay', 'hotel_bookings', ['hotel_code', 'check_in_date', 'check_out_date'], unique=False)
    op.create_index(op.f('ix_hotel_bookings_trip_id'), 'hotel_bookings', ['trip_id'], unique=False)



def _create_lounge_visits() -> None:
    op.create_table('lounge_visits',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('lounge_name', sa.Text(), nullable=False),
    sa.Column('airport', sa.String(length=3), nullable=False),
    sa.Column('visited_on', sa.Date(), nullable=False),
    sa.Column('access_method', sa.Text(), nullable=False),
    sa.Column('card_id', sa.BigInteger(), nullable=True),
    sa.Column('program', sa.Text(), nullable=True),
    sa.Column('guests', sa.Integer(), server_default='0', nullable=False),
    sa.Column('amount_paid', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('currency', sa.String(length=3), nullable=False),
    sa.Column('rating', sa.Integer(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("access_method in ('card', 'status', 'ticket', 'membership', 'paid', 'guest', 'other')", name=op.f('ck_lounge_visits_access_method')),
    sa.CheckConstraint('guests between 0 and 20', name=op.f('ck_lounge_visits_guests')),
    sa.CheckConstraint('rating between 1 and 5', name=op.f('ck_lounge_visits_rating')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_lounge_visits_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['card_id'], ['cards.id'], name=op.f('fk_lounge_visits_card_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_lounge_visits'))
    )
    op.create_index(op.f('ix_lounge_visits_account_id'), 'lounge_visits', ['account_id'], unique=False)
    op.create_index(op.f('ix_lounge_visits_card_id'), 'lounge_visits', ['card_id'], unique=False)
    op.create_index('ix_lounge_visits_newest', 'lounge_visits', ['account_id', 'visited_on', 'id'], unique=False)



def _create_oauth_consents() -> None:
    op.create_table('oauth_consents',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=False),
    sa.Column('redirect_host', sa.Text(), nullable=False),
    sa.Column('address', sa.Text(), server_default='/mcp', nullable=False),
    sa.Column('read_only', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('administer', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('granted_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_oauth_consents_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['client_id'], ['oauth_clients.client_id'], name=op.f('fk_oauth_consents_client_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_oauth_consents')),
    sa.UniqueConstraint('account_id', 'client_id', name=op.f('uq_oauth_consents_account_id_client_id'))
    )
    op.create_index(op.f('ix_oauth_consents_account_id'), 'oauth_consents', ['account_id'], unique=False)
    op.create_index(op.f('ix_oauth_consents_client_id'), 'oauth_consents', ['client_id'], unique=False)



def _create_oauth_families() -> None:
    op.create_table('oauth_families',
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('reason', sa.Text(), nullable=True),
    sa.Column('issuer', sa.Text(), nullable=True),
    sa.Column('read_only', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('administer', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_oauth_families_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['client_id'], ['oauth_clients.client_id'], name=op.f('fk_oauth_families_client_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_oauth_families'))
    )
    op.create_index(op.f('ix_oauth_families_account_id'), 'oauth_families', ['account_id'], unique=False)
    op.create_index(op.f('ix_oauth_families_client_id'), 'oauth_families', ['client_id'], unique=False)



def _create_passkey_challenges() -> None:
    op.create_table('passkey_challenges',
    sa.Column('session_hash', sa.Text(), nullable=False),
    sa.Column('purpose', sa.Text(), nullable=False),
    sa.Column('challenge', sa.LargeBinary(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['session_hash'], ['web_sessions.id_hash'], name=op.f('fk_passkey_challenges_session_hash'), onupdate='CASCADE', ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('session_hash', 'purpose', name=op.f('pk_passkey_challenges'))
    )



def _create_pending_links() -> None:
    op.create_table('pending_links',
    sa.Column('session_hash', sa.Text(), nullable=False),
    sa.Column('issuer', sa.Text(), nullable=False),
    sa.Column('subject', sa.Text(), nullable=False),
    sa.Column('provider', sa.Text(), nullable=False),
    sa.Column('address', sa.Text(), nullable=False),
    sa.Column('return_to', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_pending_links_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['session_hash'], ['web_sessions.id_hash'], name=op.f('fk_pending_links_session_hash'), onupdate='CASCADE', ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('session_hash', name=op.f('pk_pending_links'))
    )
    op.create_index(op.f('ix_pending_links_account_id'), 'pending_links', ['account_id'], unique=False)



def _create_pending_sign_ins() -> None:
    op.create_table('pending_sign_ins',
    sa.Column('session_hash', sa.Text(), nullable=False),
    sa.Column('return_to', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_pending_sign_ins_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['session_hash'], ['web_sessions.id_hash'], name=op.f('fk_pending_sign_ins_session_hash'), onupdate='CASCADE', ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('session_hash', name=op.f('pk_pending_sign_ins'))
    )
    op.create_index(op.f('ix_pending_sign_ins_account_id'), 'pending_sign_ins', ['account_id'], unique=False)



def _create_provider_sign_ins() -> None:
    op.create_table('provider_sign_ins',
    sa.Column('state_hash', sa.Text(), nullable=False),
    sa.Column('session_hash', sa.Text(), nullable=False),
    sa.Column('provider', sa.Text(), nullable=False),
    sa.Column('purpose', sa.Text(), nullable=False),
    sa.Column('fresh', sa.Boolean(), nullable=False),
    sa.Column('return_to', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['session_hash'], ['web_sessions.id_hash'], name=op.f('fk_provider_sign_ins_session_hash'), onupdate='CASCADE', ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('state_hash', name=op.f('pk_provider_sign_ins'))
    )
    op.create_index(op.f('ix_provider_sign_ins_session_hash'), 'provider_sign_ins', ['session_hash'], unique=False)



def _create_search_records() -> None:
    op.create_table('search_records',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('tool', sa.Text(), nullable=False),
    sa.Column('arguments', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('summary', sa.Text(), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_search_records_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_search_records_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_search_records'))
    )
    op.create_index('ix_search_records_account_created', 'search_records', ['account_id', 'created_at'], unique=False)
    op.create_index(op.f('ix_search_records_account_id'), 'search_records', ['account_id'], unique=False)
    op.create_index(op.f('ix_search_records_trip_id'), 'search_records', ['trip_id'], unique=False)



def _create_secret_links() -> None:
    op.create_table('secret_links',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('purpose', sa.Text(), nullable=False),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('nonce', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('secret_sealed', sa.Text(), nullable=True),
    sa.Column('token_hash', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("(purpose = 'trip') = (trip_id is not null)", name=op.f('ck_secret_links_trip')),
    sa.CheckConstraint("purpose in ('calendar', 'inbox', 'trip')", name=op.f('ck_secret_links_purpose')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_secret_links_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_secret_links_trip_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_secret_links')),
    sa.UniqueConstraint('token_hash', name=op.f('uq_secret_links_token_hash'))
    )
    op.create_index(op.f('ix_secret_links_account_id'), 'secret_links', ['account_id'], unique=False)
    op.create_index(op.f('ix_secret_links_trip_id'), 'secret_links', ['trip_id'], unique=False)
    op.create_index('uq_secret_links_living', 'secret_links', ['account_id', 'purpose'], unique=True, postgresql_where=sa.text('ended_at is null and trip_id is null'))
    op.create_index('uq_secret_links_trip', 'secret_links', ['trip_id'], unique=True, postgresql_where=sa.text('ended_at is null'))



def _create_spending_statements() -> None:
    op.create_table('spending_statements',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('fingerprint', sa.Text(), nullable=False),
    sa.Column('label', sa.Text(), nullable=True),
    sa.Column('card_id', sa.BigInteger(), nullable=True),
    sa.Column('period_start', sa.Date(), nullable=False),
    sa.Column('period_end', sa.Date(), nullable=False),
    sa.Column('transactions', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(length=3), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('line_marks', sa.LargeBinary(), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_spending_statements_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['card_id'], ['cards.id'], name=op.f('fk_spending_statements_card_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_spending_statements')),
    sa.UniqueConstraint('account_id', 'fingerprint', name=op.f('uq_spending_statements_account_id_fingerprint'))
    )
    op.create_index(op.f('ix_spending_statements_account_id'), 'spending_statements', ['account_id'], unique=False)
    op.create_index(op.f('ix_spending_statements_card_id'), 'spending_statements', ['card_id'], unique=False)



def _create_standing_orders() -> None:
    op.create_table('standing_orders',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('prompt', sa.Text(), nullable=False),
    sa.Column('cadence', sa.Text(), nullable=False),
    sa.Column('run_hour', sa.Integer(), nullable=False),
    sa.Column('run_weekday', sa.Integer(), nullable=True),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('stopped_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("cadence in ('daily', 'weekly')", name=op.f('ck_standing_orders_cadence')),
    sa.CheckConstraint('run_hour between 0 and 23', name=op.f('ck_standing_orders_run_hour')),
    sa.CheckConstraint('run_weekday between 0 and 6', name=op.f('ck_standing_orders_run_weekday')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_standing_orders_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_standing_orders_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_standing_orders'))
    )
    op.create_index(op.f('ix_standing_orders_account_id'), 'standing_orders', ['account_id'], unique=False)
    op.create_index(op.f('ix_standing_orders_trip_id'), 'standing_orders', ['trip_id'], unique=False)



def _create_itinerary_items() -> None:
    op.create_table('itinerary_items',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('trip_id', sa.BigInteger(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('day', sa.Date(), nullable=True),
    sa.Column('start_time', sa.Time(), nullable=True),
    sa.Column('end_time', sa.Time(), nullable=True),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('location', sa.Text(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('flight_booking_id', sa.BigInteger(), nullable=True),
    sa.Column('hotel_booking_id', sa.BigInteger(), nullable=True),
    sa.Column('from_program', sa.Text(), nullable=True),
    sa.Column('to_program', sa.Text(), nullable=True),
    sa.Column('points', sa.BigInteger(), nullable=True),
    sa.Column('expected_on', sa.Date(), nullable=True),
    sa.Column('posted_on', sa.Date(), nullable=True),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("kind in ('flight', 'hotel', 'transfer', 'activity', 'meal', 'note', 'points_transfer')", name=op.f('ck_itinerary_items_kind')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_itinerary_items_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['flight_booking_id'], ['flight_bookings.id'], name=op.f('fk_itinerary_items_flight_booking_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['hotel_booking_id'], ['hotel_bookings.id'], name=op.f('fk_itinerary_items_hotel_booking_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_itinerary_items_trip_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_itinerary_items'))
    )
    op.create_index(op.f('ix_itinerary_items_account_id'), 'itinerary_items', ['account_id'], unique=False)
    op.create_index(op.f('ix_itinerary_items_flight_booking_id'), 'itinerary_items', ['flight_booking_id'], unique=False)
    op.create_index(op.f('ix_itinerary_items_hotel_booking_id'), 'itinerary_items', ['hotel_booking_id'], unique=False)
    op.create_index(op.f('ix_itinerary_items_trip_id'), 'itinerary_items', ['trip_id'], unique=False)



def _create_oauth_access_tokens() -> None:
    op.create_table('oauth_access_tokens',
    sa.Column('token_hash', sa.Text(), nullable=False),
    sa.Column('family_id', sa.Text(), nullable=False),
    sa.Column('resource', sa.Text(), nullable=False),
    sa.Column('issued_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('read_only', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('scope', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['family_id'], ['oauth_families.id'], name=op.f('fk_oauth_access_tokens_family_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('token_hash', name=op.f('pk_oauth_access_tokens'))
    )
    op.create_index(op.f('ix_oauth_access_tokens_expires_at'), 'oauth_access_tokens', ['expires_at'], unique=False)
    op.create_index(op.f('ix_oauth_access_tokens_family_id'), 'oauth_access_tokens', ['family_id'], unique=False)



def _create_oauth_codes() -> None:
    op.create_table('oauth_codes',
    sa.Column('code_hash', sa.Text(), nullable=False),
    sa.Column('family_id', sa.Text(), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('redirect_uri', sa.Text(), nullable=False),
    sa.Column('scope', sa.Text(), nullable=False),
    sa.Column('resource', sa.Text(), nullable=False),
    sa.Column('code_challenge', sa.Text(), nullable=False),
    sa.Column('nonce', sa.Text(), nullable=True),
    sa.Column('authenticated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('consumed_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['family_id'], ['oauth_families.id'], name=op.f('fk_oauth_codes_family_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('code_hash', name=op.f('pk_oauth_codes'))
    )
    op.create_index(op.f('ix_oauth_codes_expires_at'), 'oauth_codes', ['expires_at'], unique=False)
    op.create_index(op.f('ix_oauth_codes_family_id'), 'oauth_codes', ['family_id'], unique=False)



def _create_oauth_refresh_tokens() -> None:
    op.create_table('oauth_refresh_tokens',
    sa.Column('token_hash', sa.Text(), nullable=False),
    sa.Column('family_id', sa.Text(), nullable=False),
    sa.Column('resource', sa.Text(), nullable=False),
    sa.Column('issued_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('rotated_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('retries', sa.Integer(), server_default='0', nullable=False),
    sa.Column('successor_sealed', sa.Text(), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('scope', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['family_id'], ['oauth_families.id'], name=op.f('fk_oauth_refresh_tokens_family_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('token_hash', name=op.f('pk_oauth_refresh_tokens'))
    )
    op.create_index(op.f('ix_oauth_refresh_tokens_family_id'), 'oauth_refresh_tokens', ['family_id'], unique=False)
    op.create_index(op.f('ix_oauth_refresh_tokens_rotated_at'), 'oauth_refresh_tokens', ['rotated_at'], unique=False)



def _create_route_monitors() -> None:
    op.create_table('route_monitors',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('trip_id', sa.BigInteger(), nullable=True),
    sa.Column('booking_id', sa.BigInteger(), nullable=True),
    sa.Column('program', sa.Text(), nullable=True),
    sa.Column('origin', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('earliest_date', sa.Date(), nullable=False),
    sa.Column('latest_date', sa.Date(), nullable=False),
    sa.Column('cabin', sa.Text(), nullable=True),
    sa.Column('airlines', postgresql.ARRAY(sa.Text()), nullable=True),
    sa.Column('passengers', sa.Integer(), server_default='1', nullable=False),
    sa.Column('max_points', sa.Integer(), nullable=True),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('paused_by_owner', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('cancelled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('cancel_reason', sa.Text(), nullable=True),
    sa.Column('last_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('matches_total', sa.Integer(), server_default='0', nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('nonstop_only', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('weekdays', postgresql.ARRAY(sa.Text()), nullable=True),
    sa.Column('max_taxes', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('max_taxes_currency', sa.String(length=3), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.CheckConstraint("cancel_reason in ('user', 'window_passed', 'plan_change')", name=op.f('ck_route_monitors_cancel_reason')),
    sa.CheckConstraint('latest_date >= earliest_date', name=op.f('ck_route_monitors_window')),
    sa.CheckConstraint('passengers between 1 and 9', name=op.f('ck_route_monitors_passengers')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_route_monitors_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['booking_id'], ['flight_bookings.id'], name=op.f('fk_route_monitors_booking_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['trip_id'], ['trips.id'], name=op.f('fk_route_monitors_trip_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_route_monitors'))
    )
    op.create_index(op.f('ix_route_monitors_account_id'), 'route_monitors', ['account_id'], unique=False)
    op.create_index('ix_route_monitors_active', 'route_monitors', ['account_id'], unique=False, postgresql_where=sa.text('cancelled_at is null'))
    op.create_index(op.f('ix_route_monitors_booking_id'), 'route_monitors', ['booking_id'], unique=False)
    op.create_index(op.f('ix_route_monitors_trip_id'), 'route_monitors', ['trip_id'], unique=False)



def _create_spending_totals() -> None:
    op.create_table('spending_totals',
    sa.Column('statement_id', sa.BigInteger(), nullable=False),
    sa.Column('month', sa.Date(), nullable=False),
    sa.Column('category', sa.Text(), nullable=False),
    sa.Column('amount', sa.Numeric(precision=14, scale=2), nullable=False),
    sa.Column('transactions', sa.Integer(), nullable=False),
    sa.Column('refunds', sa.Numeric(precision=14, scale=2), server_default=sa.text('0'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_spending_totals_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['statement_id'], ['spending_statements.id'], name=op.f('fk_spending_totals_statement_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('statement_id', 'month', 'category', name=op.f('pk_spending_totals'))
    )
    op.create_index(op.f('ix_spending_totals_account_id'), 'spending_totals', ['account_id'], unique=False)
    op.create_index('ix_spending_totals_month', 'spending_totals', ['account_id', 'month'], unique=False)



def _create_standing_order_runs() -> None:
    op.create_table('standing_order_runs',
    sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
    sa.Column('standing_order_id', sa.BigInteger(), nullable=False),
    sa.Column('job_run_id', sa.BigInteger(), nullable=True),
    sa.Column('manual', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('queued_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('finished_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('outcome', sa.Text(), nullable=True),
    sa.Column('tools_called', postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('result', sa.Text(), nullable=True),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint("outcome in ('ok', 'failed')", name=op.f('ck_standing_order_runs_outcome')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_standing_order_runs_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['standing_order_id'], ['standing_orders.id'], name=op.f('fk_standing_order_runs_standing_order_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_standing_order_runs')),
    sa.UniqueConstraint('job_run_id', name=op.f('uq_standing_order_runs_job_run_id'))
    )
    op.create_index(op.f('ix_standing_order_runs_account_id'), 'standing_order_runs', ['account_id'], unique=False)
    op.create_index('ix_standing_order_runs_newest', 'standing_order_runs', ['standing_order_id', 'started_at'], unique=False)



def _create_vouchers() -> None:
    op.create_table('vouchers',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('voucher_slug', sa.Text(), nullable=False),
    sa.Column('expires_on', sa.Date(), nullable=True),
    sa.Column('reference', sa.Text(), nullable=True),
    sa.Column('notes', sa.Text(), nullable=True),
    sa.Column('flight_booking_id', sa.BigInteger(), nullable=True),
    sa.Column('hotel_booking_id', sa.BigInteger(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.CheckConstraint('flight_booking_id is null or hotel_booking_id is null', name=op.f('ck_vouchers_one_booking')),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_vouchers_account_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['flight_booking_id'], ['flight_bookings.id'], name=op.f('fk_vouchers_flight_booking_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['hotel_booking_id'], ['hotel_bookings.id'], name=op.f('fk_vouchers_hotel_booking_id'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vouchers'))
    )
    op.create_index(op.f('ix_vouchers_account_id'), 'vouchers', ['account_id'], unique=False)
    op.create_index(op.f('ix_vouchers_flight_booking_id'), 'vouchers', ['flight_booking_id'], unique=False)
    op.create_index(op.f('ix_vouchers_hotel_booking_id'), 'vouchers', ['hotel_booking_id'], unique=False)



def _create_route_monitor_checks() -> None:
    op.create_table('route_monitor_checks',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('monitor_id', sa.BigInteger(), nullable=False),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('checked_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('options_seen', sa.Integer(), nullable=False),
    sa.Column('new_matches', sa.Integer(), nullable=False),
    sa.Column('failed_sources', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['monitor_id'], ['route_monitors.id'], name=op.f('fk_route_monitor_checks_monitor_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('checked_at', 'id', name=op.f('pk_route_monitor_checks')),
    postgresql_partition_by='RANGE (checked_at)'
    )
    op.create_index('ix_route_monitor_checks_newest', 'route_monitor_checks', ['monitor_id', 'checked_at'], unique=False)



def _create_route_monitor_keys() -> None:
    op.create_table('route_monitor_keys',
    sa.Column('monitor_id', sa.BigInteger(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('matched', sa.Boolean(), nullable=False),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['monitor_id'], ['route_monitors.id'], name=op.f('fk_route_monitor_keys_monitor_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('monitor_id', 'key', name=op.f('pk_route_monitor_keys'))
    )



def _create_route_monitor_matches() -> None:
    op.create_table('route_monitor_matches',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('monitor_id', sa.BigInteger(), nullable=False),
    sa.Column('found_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('option_id', sa.Text(), nullable=True),
    sa.Column('airline', sa.Text(), nullable=False),
    sa.Column('program', sa.Text(), nullable=False),
    sa.Column('origin', sa.String(length=3), nullable=False),
    sa.Column('destination', sa.String(length=3), nullable=False),
    sa.Column('date', sa.Date(), nullable=False),
    sa.Column('cabin', sa.Text(), nullable=False),
    sa.Column('points', sa.Integer(), nullable=False),
    sa.Column('taxes', sa.Numeric(precision=14, scale=2), nullable=True),
    sa.Column('taxes_currency', sa.String(length=3), nullable=True),
    sa.Column('seats', sa.Integer(), nullable=True),
    sa.Column('stops', sa.Integer(), nullable=True),
    sa.Column('flight_numbers', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('departs_at', sa.Text(), nullable=True),
    sa.Column('arrives_at', sa.Text(), nullable=True),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('mode', sa.Text(), nullable=False),
    sa.Column('provider_checked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('synthetic', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['monitor_id'], ['route_monitors.id'], name=op.f('fk_route_monitor_matches_monitor_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_route_monitor_matches'))
    )
    op.create_index('ix_route_monitor_matches_newest', 'route_monitor_matches', ['monitor_id', 'found_at'], unique=False)



def _create_partitions(table: str, first: dt.date, length: dt.timedelta, count: int) -> None:
    op.execute(f'create table {table}_default partition of {table} default')
    for start in (first + number * length for number in range(count)):
        bound = f"from ('{start} 00:00+00') to ('{start + length} 00:00+00')"
        op.execute(f'create table {table}_{start:%Y%m%d} partition of {table} for values {bound}')


def upgrade() -> None:
    _create_accounts()
    _create_audit_findings()
    _create_billing_events()
    _create_client_call_counts()
    _create_client_span_counts()
    _create_daily_calls()
    _create_fact_reports()
    _create_operator_actions()
    _create_reference_changes()
    _create_reference_overrides()
    _create_schedules()
    _create_service_facts()
    _create_signing_keys()
    _create_source_items()
    _create_source_readings()
    _create_tool_call_counts()
    _create_tool_call_times()
    _create_tool_span_counts()
    _create_tool_span_times()
    _create_used_assertions()
    _create_address_changes()
    _create_advisor_logos()
    _create_api_keys()
    _create_authenticator_apps()
    _create_award_observations()
    _create_billing_customers()
    _create_cards()
    _create_client_portfolios()
    _create_connections()
    _create_deadline_watches()
    _create_delay_alerts()
    _create_fare_observations()
    _create_flight_alerts()
    _create_forwarding_addresses()
    _create_hotel_prices()
    _create_inbound_mails()
    _create_job_runs()
    _create_known_browsers()
    _create_linked_identities()
    _create_loyalty_statuses()
    _create_mailed_seats()
    _create_message_channels()
    _create_notifications()
    _create_oauth_clients()
    _create_one_time_links()
    _create_passkeys()
    _create_password_guesses()
    _create_phone_numbers()
    _create_points_balances()
    _create_profiles()
    _create_recovery_codes()
    _create_security_events()
    _create_told_deadlines()
    _create_tool_calls()
    _create_trips()
    _create_usage_counters()
    _create_web_sessions()
    _create_branded_pdfs()
    _create_card_credit_uses()
    _create_chat_links()
    _create_deliveries()
    _create_flight_alert_keys()
    _create_flight_bookings()
    _create_hotel_bookings()
    _create_lounge_visits()
    _create_oauth_consents()
    _create_oauth_families()
    _create_passkey_challenges()
    _create_pending_links()
    _create_pending_sign_ins()
    _create_provider_sign_ins()
    _create_search_records()
    _create_secret_links()
    _create_spending_statements()
    _create_standing_orders()
    _create_itinerary_items()
    _create_oauth_access_tokens()
    _create_oauth_codes()
    _create_oauth_refresh_tokens()
    _create_route_monitors()
    _create_spending_totals()
    _create_standing_order_runs()
    _create_vouchers()
    _create_route_monitor_checks()
    _create_route_monitor_keys()
    _create_route_monitor_matches()
    today: dt.date = op.get_bind().exec_driver_sql("select cast(now() at time zone 'utc' as date)").scalar_one()
    _create_partitions('tool_calls', today, dt.timedelta(days=1), 8)
    monday = today - dt.timedelta(days=today.weekday())
    _create_partitions('route_monitor_checks', monday, dt.timedelta(weeks=1), 3)
