"""API keys for REST and the command line: an account goes in, a key shown once comes out; hashes alone are stored."""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from auth_server.oauth.server import Server
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.oauth import ApiKey
from shared.errors import Fault, Invalid, LimitReached
from shared.secrets import digest, mint, well_formed
from shared.settings import settings

PREFIX = "awt_ak_"
MOST = 10  # living keys of one account
NAME_MAX = 100
USED_EVERY = timedelta(hours=1)  # how stale last_used_at may be


def proper_name(value: object, field: str = "name") -> str:
    """Raises Invalid."""
    name = value.strip() if isinstance(value, str) else ""
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        raise Invalid(Fault(field, "is not a name", f"text of 1 to {NAME_MAX} visible characters"))
    return name


def issue(db: Session, account_id: int, name: object, *, claim_hash: str | None = None) -> tuple[ApiKey, str]:
    """A new key: its row, and the key itself, which is shown this once. Raises Invalid, or LimitReached."""
    proper = proper_name(name)
    lock(db, account_id)
    living = (ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
    count = db.scalar(select(func.count()).select_from(ApiKey).where(*living)) or 0
    if count >= MOST:
        raise LimitReached(f"An account holds at most {MOST} API keys.", limit="api_keys", current=count, cap=MOST)
    key = mint(PREFIX)
    row = ApiKey(
        account_id=account_id,
        key_hash=digest(key),
        ending=key[-4:],
        name=proper,
        claim_hash=claim_hash,
        created_at=clock.now(),
    )
    db.add(row)
    db.flush()
    return row, key


def living(db: Session, account_id: int) -> list[ApiKey]:
    """The account's keys that work, newest first."""
    theirs = (ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
    return list(db.scalars(select(ApiKey).where(*theirs).order_by(ApiKey.id.desc())))


def revoke(server: Server, account_id: int, key_id: int) -> bool:
    """The key stops working at once; False when the account has no such living key."""
    row = server.db.get(ApiKey, key_id, with_for_update=True)
    if row is None or row.account_id != account_id or row.revoked_at is not None:
        return False
    row.revoked_at = clock.now()
    server.events.append({"token": row.key_hash})
    return True


def described(db: Session, key: str) -> dict[str, Any]:
    """What the MCP server is told about a key; that it was used is noted once an hour."""
    if not well_formed(key, PREFIX):
        return {"active": False}
    found = db.execute(
        select(ApiKey, Account.public_id)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.key_hash == digest(key), ApiKey.revoked_at.is_(None), Account.disabled_at.is_(None))
    ).one_or_none()
    if found is None:
        return {"active": False}
    row, public_id = found
    now = clock.now()
    if row.last_used_at is None or now - row.last_used_at >= USED_EVERY:
        row.last_used_at = now
    return {
        "active": True,
        "iss": settings().web_url,
        "sub": public_id,
        "client_id": f"api-key-{row.id}",
        "client_name": row.name,
    }
