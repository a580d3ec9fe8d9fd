"""Identities at other providers that sign in to an account: finding, adding, removing, and the ways in that remain."""

from datetime import datetime

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session

from auth_server.accounts.identity_providers import Identity
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.linked_identities import LinkedIdentity
from shared.db.sign_in_methods import Passkey
from shared.errors import LimitReached
from shared.secrets import digest
from shared.settings import settings

MAX_IDENTITIES = 10  # of one account


def list_identities(db: Session, account_id: int) -> list[LinkedIdentity]:
    own = LinkedIdentity.account_id == account_id
    return list(db.scalars(select(LinkedIdentity).where(own).order_by(LinkedIdentity.created_at, LinkedIdentity.id)))


def find_identity(db: Session, issuer: str, subject: str) -> LinkedIdentity | None:
    return db.scalar(select(LinkedIdentity).where(LinkedIdentity.issuer == issuer, LinkedIdentity.subject == subject))


def add_identity(uow: UnitOfWork, account: Account, identity: Identity, title: str, user_agent: str) -> bool:
    """Links it and tells the owner; False when it signs in to another account. Raises LimitReached."""
    key = digest(f"{identity.issuer}\0{identity.subject}")
    uow.db.execute(select(func.pg_advisory_xact_lock(int(key[:15], 16))))  # two accounts may want it at once
    lock(uow.db, account.id)
    linked = find_identity(uow.db, identity.issuer, identity.subject)
    if linked is not None:
        return linked.account_id == account.id
    count = len(list_identities(uow.db, account.id))
    if count >= MAX_IDENTITIES:
        text = f"An account has {MAX_IDENTITIES} linked sign-ins at most. Remove one first."
        raise LimitReached(text, limit="linked sign-ins", current=count, cap=MAX_IDENTITIES)
    row = {"issuer": identity.issuer, "subject": identity.subject, "provider": title, "address": identity.address or ""}
    uow.db.add(LinkedIdentity(account_id=account.id, **row, created_at=clock.now()))
    uow.db.flush()
    record_event(uow, account, "factor_added", subject=title, user_agent=user_agent)
    return True


def remove_identity(uow: UnitOfWork, account: Account, identity_id: int, user_agent: str) -> bool:
    """Removes an identity; False, without removing it, if no other way to sign in would remain."""
    lock(uow.db, account.id)
    linked = uow.db.get(LinkedIdentity, identity_id)
    if linked is None or linked.account_id != account.id:
        return True
    if not has_way_without(uow.db, account, identity_id=identity_id):
        return False
    uow.db.delete(linked)
    record_event(uow, account, "factor_removed", subject=linked.provider, user_agent=user_agent)
    return True


def has_way_without(
    db: Session, account: Account, *, identity_id: int | None = None, passkey_id: int | None = None
) -> bool:
    """Whether the account can be signed in to without this identity or passkey."""
    if account.password_hash is not None and settings().password_sign_in:
        return True
    issuers = [provider.issuer for provider in settings().oidc_providers.values()]
    identities = exists().where(
        LinkedIdentity.account_id == account.id,
        LinkedIdentity.issuer.in_(issuers),
        LinkedIdentity.id.is_distinct_from(identity_id),
    )
    passkeys = exists().where(Passkey.account_id == account.id, Passkey.id.is_distinct_from(passkey_id))
    return bool(db.scalar(select(identities | passkeys)))


def remove_since(db: Session, account_id: int, moment: datetime) -> None:
    """Removes identities linked recently, which may be a thief's."""
    recent = (LinkedIdentity.account_id == account_id, LinkedIdentity.created_at >= moment)
    db.execute(delete(LinkedIdentity).where(*recent))
