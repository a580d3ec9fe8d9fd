"""Ends access to an account: browser sessions, applications' tokens and API keys."""

from collections.abc import Collection

from sqlalchemy import delete, select, update

from auth_server.web import sessions
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import ApiKey, Consent, Family


def end_applications(uow: UnitOfWork, account: Account, reason: str, keep: Collection[str] = ()) -> None:
    """Access and refresh tokens of every application end at once, but for the families to keep; each has to ask again.

    A remembered consent of which no token is left ends too.
    """
    active = (Family.account_id == account.id, Family.revoked_at.is_(None))
    families = uow.db.execute(select(Family.id, Family.client_id).where(*active)).all()
    for family_id in [id for id, _ in families if id not in keep]:
        uow.revoke_family(family_id, reason)
    clients = {client_id for id, client_id in families if id in keep}
    uow.db.execute(delete(Consent).where(Consent.account_id == account.id, Consent.client_id.not_in(clients)))


def end_keys(uow: UnitOfWork, account: Account, keep: Collection[int] = ()) -> None:
    active = (ApiKey.account_id == account.id, ApiKey.revoked_at.is_(None), ApiKey.id.not_in(keep))
    revocation = update(ApiKey).where(*active).values(revoked_at=clock.now()).returning(ApiKey.key_hash)
    uow.events += [{"token": key_hash} for key_hash in uow.db.scalars(revocation)]


def end_all(uow: UnitOfWork, account: Account, reason: str) -> None:
    """Nothing that was signed in stays so."""
    sessions.end_all(uow, account.id)
    end_applications(uow, account, reason)
    end_keys(uow, account)
