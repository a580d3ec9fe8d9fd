"""Guesses at passwords: after 100 wrong ones in a row a password no longer opens its account (NIST SP 800-63B-4 3.2.2).

The account itself stays open: a passkey and a new password by mail let its owner in.
"""

from auth_server.accounts import accounts
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.password_guesses import clear_guesses, count_guess, count_guesses
from shared.secrets import sign
from shared.settings import settings

LOCK_AFTER = 100


def check_password(uow: UnitOfWork, account: Account | None, email: str, password: str, user_agent: str = "") -> bool:
    """Counts, then checks; does the same work whether or not the account exists or its password is locked."""
    name = account.public_id if account is not None else email.strip().lower()
    name_hash = sign(settings().encryption_keys[0], f"password guesses\0{name}")
    count = count_guess(uow.db, name_hash, account.id if account is not None else None, clock.now())
    matches = accounts.check_password(account, password)
    if account is None or count > LOCK_AFTER:
        return False
    if matches:
        clear_guesses(uow.db, account.id)
    elif count == LOCK_AFTER:
        record_event(uow, account, "password_locked", user_agent=user_agent)
    return matches


def is_locked(uow: UnitOfWork, account: Account) -> bool:
    return count_guesses(uow.db, account.id) >= LOCK_AFTER
