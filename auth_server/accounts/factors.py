"""Second factors of an account: which it has, and how one, all or a thief's are removed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from auth_server.accounts import one_time_codes, passkeys, recovery_codes
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.sign_in_methods import AuthenticatorApp, Passkey, RecoveryCode, has_second_factor

SUSPECT_AGE = timedelta(days=30)  # "this was not me" ends what was added since


@dataclass(frozen=True)
class Factors:
    """The second factors of an account."""

    passkeys: list[Passkey]
    app: AuthenticatorApp | None
    recovery_codes: int

    @property
    def is_on(self) -> bool:
        return bool(self.passkeys) or self.app is not None


def list_factors(db: Session, account_id: int) -> Factors:
    app, codes = one_time_codes.find_app(db, account_id), recovery_codes.count_codes(db, account_id)
    return Factors(passkeys.list_passkeys(db, account_id), app, codes)


def begin_recovery_codes(db: Session, account: Account) -> list[str]:
    """Makes the codes that come with the first factor; returns none if there are some already."""
    lock(db, account.id)
    return [] if recovery_codes.count_codes(db, account.id) else recovery_codes.make_codes(db, account)


def remove_passkey(db: Session, account: Account, passkey_id: int) -> str | None:
    """Removes a passkey and returns its name; None if the account has no such passkey."""
    own = (Passkey.account_id == account.id, Passkey.id == passkey_id)
    name = db.scalar(delete(Passkey).where(*own).returning(Passkey.name))
    _drop_useless_codes(db, account.id)
    return name


def remove_app(db: Session, account: Account) -> bool:
    removal = delete(AuthenticatorApp).where(AuthenticatorApp.account_id == account.id)
    was_on = db.scalar(removal.returning(AuthenticatorApp.id)) is not None
    _drop_useless_codes(db, account.id)
    return was_on


def remove_all(db: Session, account: Account) -> None:
    """Removes the factors of a person who lost everything and has proved to an operator who they are."""
    _remove_since(db, account.id, datetime.min.replace(tzinfo=clock.now().tzinfo))


def remove_suspects(db: Session, account: Account) -> None:
    """Removes recent factors: they may be a thief's, and must not outlive the thief's other access."""
    _remove_since(db, account.id, clock.now() - SUSPECT_AGE)


def _remove_since(db: Session, account_id: int, moment: datetime) -> None:
    for model in (Passkey, AuthenticatorApp, RecoveryCode):
        db.execute(delete(model).where(model.account_id == account_id, model.created_at >= moment))
    _drop_useless_codes(db, account_id)


def _drop_useless_codes(db: Session, account_id: int) -> None:
    """Deletes recovery codes when no second factor needs them."""
    if not has_second_factor(db, account_id):
        recovery_codes.delete_codes(db, account_id)
