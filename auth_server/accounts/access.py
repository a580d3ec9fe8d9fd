"""Ends access to an account: browser sessions, applications' tokens and API keys."""

from collections.abc import Collection

from sqlalchemy import delete, select, update

from auth_server.accounts import authorizations
from auth_server.accounts.security_events import record_event
from auth_server.web import sessions
from auth_server.web.outcomes import show_problem
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import ApiKey, Consent, Family, WebSession

# Accounts suspended by the operator: every way in is closed, nothing is deleted.

SUSPENDED = show_problem(
    "This account is suspended",
    "The operator of this service has suspended it. Nothing was deleted. If you think that this is a mistake, please"
    " write to the operator: the support page says how.",
    403,
)


def suspend(uow: UnitOfWork, account: Account) -> None:
    """Suspends the account: sessions, tokens and keys stay stored but stop working."""
    account.disabled_at = clock.now()
    uow.events.append({"account": account.public_id})
    record_event(uow, account, "account_suspended")


def restore(uow: UnitOfWork, account: Account) -> None:
    account.disabled_at = None
    uow.events.append({"account": account.public_id})
    record_event(uow, account, "account_restored")


def is_of_suspended_account(uow: UnitOfWork, session: WebSession | None) -> bool:
    """Whether this browser is signed in to an account that is suspended."""
    if session is None or session.owner_id is None:
        return False
    account = uow.db.get(Account, session.owner_id)
    return account is not None and account.disabled_at is not None


def end_applications(uow: UnitOfWork, account: Account, reason: str, keep: Collection[str] = ()) -> None:
    """Access and refresh tokens of every application end at once, except those of the families to keep.

    A remembered consent without any token left ends too.
    """
    active = (Family.account_id == account.id, Family.revoked_at.is_(None))
    families = uow.db.execute(select(Family.id, Family.client_id).where(*active)).all()
    for family_id in [id for id, _ in families if id not in keep]:
        uow.revoke_family(family_id, reason)
    clients = {client_id for id, client_id in families if id in keep}
    uow.db.execute(delete(Consent).where(Consent.account_id == account.id, Consent.client_id.not_in(clients)))


def end_new_applications(uow: UnitOfWork, account: Account, reason: str) -> None:
    """Does the same for those allowed within the last day, remembered or not."""
    since = clock.now() - authorizations.NEW_FOR
    new = (Family.account_id == account.id, Family.revoked_at.is_(None), Family.created_at >= since)
    for family_id in uow.db.scalars(select(Family.id).where(*new)).all():
        uow.revoke_family(family_id, reason)


def end_keys(uow: UnitOfWork, account: Account, keep: Collection[int] = ()) -> None:
    active = (ApiKey.account_id == account.id, ApiKey.revoked_at.is_(None), ApiKey.id.not_in(keep))
    revocation = update(ApiKey).where(*active).values(revoked_at=clock.now()).returning(ApiKey.key_hash)
    uow.events += [{"token": key_hash} for key_hash in uow.db.scalars(revocation)]


def end_all(uow: UnitOfWork, account: Account, reason: str) -> None:
    """Ends all sessions, applications and keys."""
    sessions.end_all(uow, account.id)
    end_applications(uow, account, reason)
    end_keys(uow, account)
