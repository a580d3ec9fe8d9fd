"""Accounts suspended by the operator: every way in is closed, nothing is deleted."""

from auth_server.accounts.security_events import record_event
from auth_server.web.outcomes import show_problem
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession

SUSPENDED = show_problem(
    "This account is suspended",
    "The operator of this service has suspended it. Nothing was deleted. If you think that this is a mistake, please"
    " write to the operator: the support page says how.",
    403,
)


def suspend(uow: UnitOfWork, account: Account) -> None:
    """Sessions, tokens and keys stay stored, and open nothing while it lasts."""
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
