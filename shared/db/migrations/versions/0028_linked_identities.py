"""Identities at other providers, sign-ins and links under way, used assertions, and who gave an authorization."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0028'
down_revision = '0027'


def _stamp(name: str) -> 'sa.Column[Any]':
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False)


def _text(name: str) -> 'sa.Column[Any]':
    return sa.Column(name, sa.Text(), nullable=False)


def _account() -> 'sa.Column[Any]':
    return sa.Column('account_id', sa.BigInteger(), nullable=False)


def _of_account(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f'fk_{table}_account_id')
    return sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=name, ondelete='CASCADE')


def _of_session(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f'fk_{table}_session_hash')
    return sa.ForeignKeyConstraint(
        ['session_hash'], ['web_sessions.id_hash'], name=name, ondelete='CASCADE', onupdate='CASCADE'
    )


def upgrade() -> None:
    op.create_table(
        'linked_identities',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
        _text('issuer'),
        _text('subject'),
        _text('provider'),
        _text('address'),
        _stamp('created_at'),
        sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
        _account(),
        _of_account('linked_identities'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_linked_identities')),
        sa.UniqueConstraint('issuer', 'subject', name=op.f('uq_linked_identities_issuer_subject')),
    )
    op.create_table(
        'provider_sign_ins',
        _text('state_hash'),
        _text('session_hash'),
        _text('provider'),
        _text('purpose'),
        sa.Column('fresh', sa.Boolean(), nullable=False),
        _text('return_to'),
        _stamp('created_at'),
        _of_session('provider_sign_ins'),
        sa.PrimaryKeyConstraint('state_hash', name=op.f('pk_provider_sign_ins')),
    )
    op.create_table(
        'pending_links',
        _text('session_hash'),
        _text('issuer'),
        _text('subject'),
        _text('provider'),
        _text('address'),
        _text('return_to'),
        _stamp('created_at'),
        _account(),
        _of_account('pending_links'),
        _of_session('pending_links'),
        sa.PrimaryKeyConstraint('session_hash', name=op.f('pk_pending_links')),
    )
    op.create_table(
        'used_assertions',
        _text('assertion_hash'),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint('assertion_hash', name=op.f('pk_used_assertions')),
    )
    op.add_column('oauth_families', sa.Column('issuer', sa.Text(), nullable=True))
    op.create_index(op.f('ix_linked_identities_account_id'), 'linked_identities', ['account_id'])
    op.create_index(op.f('ix_pending_links_account_id'), 'pending_links', ['account_id'])
    op.create_index(op.f('ix_provider_sign_ins_session_hash'), 'provider_sign_ins', ['session_hash'])
    op.create_index(op.f('ix_used_assertions_expires_at'), 'used_assertions', ['expires_at'])
