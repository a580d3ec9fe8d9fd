"""API keys for REST and the command line: each is shown once, and stored only as a hash."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.oauth import ApiKey
from shared.domain.display_names import MAX_CHARACTERS, UnfitName, parse_name
from shared.errors import Fault, Invalid, LimitReached
from shared.secrets import digest, mint, well_formed
from shared.settings import settings

PREFIX = "awt_ak_"
MAX_KEYS = 10  # active ones of one account
TOUCH_INTERVAL = timedelta(hours=1)  # how stale last_used_at may be


def validate_name(value: object, field: str = "name", *, for_others: bool = False) -> str:
    """Raises Invalid; a name shown to others must not pose as the service."""
    try:
        return parse_name(
            value if isinstance(value, str) else "", service=settings().service_name if for_others else None
        )
    except UnfitName as unfit:
        expected = f"text of 1 to {MAX_CHARACTERS} visible characters"
        raise Invalid(Fault(field, str(unfit), expected)) from None


def issue(
    db: Session, account_id: int, name: object, *, claim_hash: str | None = None, administer: bool = False
) -> tuple[ApiKey, str]:
    """A new key: its row, and the key itself, which is shown this once. Raises Invalid, or LimitReached."""
    valid_name = validate_name(name)
    check_room(db, account_id)
    key = mint(PREFIX)
    row = ApiKey(
        account_id=account_id,
        key_hash=digest(key),
        ending=key[-4:],
        name=valid_name,
        claim_hash=claim_hash,
        administer=administer,
        created_at=clock.now(),
    )
    db.add(row)
    db.flush()
    return row, key


def check_room(db: Session, account_id: int) -> None:
    """Raises LimitReached when the account can hold no more keys; until the commit no one else adds one."""
    lock(db, account_id)
    count = len(list_active(db, account_id))
    if count >= MAX_KEYS:
        raise LimitReached(
            f"An account holds at most {MAX_KEYS} API keys.", limit="api_keys", current=count, cap=MAX_KEYS
        )


def list_active(db: Session, account_id: int) -> list[ApiKey]:
    """The account's keys that work, newest first."""
    active = (ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
    return list(db.scalars(select(ApiKey).where(*active).order_by(ApiKey.id.desc())))


def revoke(uow: UnitOfWork, account_id: int, key_id: int) -> bool:
    """Ends a key at once; False when the account has no such active key."""
    row = uow.db.get(ApiKey, key_id, with_for_update=True)
    if row is None or row.account_id != account_id or row.revoked_at is not None:
        return False
    end(uow, row)
    return True


def end(uow: UnitOfWork, row: ApiKey) -> None:
    row.revoked_at = clock.now()
    uow.events.append({"token": row.key_hash})


def describe(db: Session, key: str) -> dict[str, Any]:
    """The introspection response for a key; its use is recorded once an hour."""
    if not well_formed(key, PREFIX):
        return {"active": False}
    match = db.execute(
        select(ApiKey, Account.public_id)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.key_hash == digest(key), ApiKey.revoked_at.is_(None), Account.disabled_at.is_(None))
    ).one_or_none()
    if match is None:
        return {"active": False}
    row, public_id = match
    now = clock.now()
    if row.last_used_at is None or now - row.last_used_at >= TOUCH_INTERVAL:
        row.last_used_at = now
    return {
        "active": True,
        "iss": settings().web_url,
        "sub": public_id,
        "client_id": f"api-key-{row.id}",
        "client_name": row.name,
        "administer": row.administer,  # counts only for administrators
    }
