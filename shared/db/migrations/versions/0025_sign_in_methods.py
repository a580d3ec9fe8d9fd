"""Passkeys, authenticator apps, recovery codes, and sign-ins that wait for the second factor."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0025'
down_revision = '0024'


def _id() -> 'sa.Column[Any]':
    return sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False)


def _account() -> 'sa.Column[Any]':
    return sa.Column('account_id', sa.BigInteger(), nullable=False)


def _stamp(name: str) -> 'sa.Column[Any]':
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False)


def _moment(name: str, nullable: bool = True) -> 'sa.Column[Any]':
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


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
        'passkeys',
        _id(),
        sa.Column('credential_id', sa.Text(), nullable=False),
        sa.Column('public_key', sa.LargeBinary(), nullable=False),
        sa.Column('name', sa.Text(), nullable=False),
        sa.Column('sign_count', sa.BigInteger(), nullable=False),
        sa.Column('backup_eligible', sa.Boolean(), nullable=False),
        sa.Column('backed_up', sa.Boolean(), nullable=False),
        sa.Column('transports', sa.ARRAY(sa.Text()), nullable=False),
        _stamp('created_at'),
        _moment('last_used_at'),
        _account(),
        _of_account('passkeys'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_passkeys')),
        sa.UniqueConstraint('credential_id', name=op.f('uq_passkeys_credential_id')),
    )
    op.create_table(
        'authenticator_apps',
        _id(),
        sa.Column('secret_sealed', sa.Text(), nullable=False),
        sa.Column('last_time_step', sa.BigInteger(), nullable=False),
        _stamp('created_at'),
        _moment('last_used_at'),
        _account(),
        _of_account('authenticator_apps'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_authenticator_apps')),
        sa.UniqueConstraint('account_id', name=op.f('uq_authenticator_apps_account_id')),
    )
    op.create_table(
        'recovery_codes',
        _id(),
        sa.Column('code_hash', sa.Text(), nullable=False),
        _stamp('created_at'),
        _account(),
        _of_account('recovery_codes'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_recovery_codes')),
    )
    op.create_table(
        'pending_sign_ins',
        sa.Column('session_hash', sa.Text(), nullable=False),
        sa.Column('return_to', sa.Text(), nullable=False),
        _stamp('created_at'),
        _account(),
        _of_account('pending_sign_ins'),
        _of_session('pending_sign_ins'),
        sa.PrimaryKeyConstraint('session_hash', name=op.f('pk_pending_sign_ins')),
    )
    op.create_table(
        'passkey_challenges',
        sa.Column('session_hash', sa.Text(), nullable=False),
        sa.Column('purpose', sa.Text(), nullable=False),
        sa.Column('challenge', sa.LargeBinary(), nullable=False),
        _moment('expires_at', nullable=False),
        _of_session('passkey_challenges'),
        sa.PrimaryKeyConstraint('session_hash', 'purpose', name=op.f('pk_passkey_challenges')),
    )
    for table in ('passkeys', 'authenticator_apps', 'recovery_codes', 'pending_sign_ins'):
        op.create_index(op.f(f'ix_{table}_account_id'), table, ['account_id'])
