"""Signing keys of ID tokens (RFC 7517), stored in a table that all web hosts share.

A key is published a day before its turn, signs for ninety days, and is published for one more day after it.
"""

import json
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

from joserfc.jwk import RSAKey
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.oauth import SigningKey
from shared.secrets import seal, unseal
from shared.settings import settings

LOCK = 7_203_116
LIFE = timedelta(days=90)
PUBLISHED_BEFORE = PUBLISHED_AFTER = timedelta(hours=24)
ALGORITHM = "RS256"


def _generate() -> RSAKey:
    return RSAKey.generate_key(2048, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)


@lru_cache(maxsize=8)
def _unseal_key(sealed: str, materials: tuple[str, ...]) -> RSAKey | None:
    """Unseals a key; None when no key of the environment opens it: it no longer signs, its signatures stay valid."""
    private = unseal(list(materials), sealed)
    return RSAKey.import_key(json.loads(private)) if private is not None else None


def _load_private_key(row: SigningKey) -> RSAKey | None:
    return _unseal_key(row.private_sealed, tuple(settings().encryption_keys))


def _list_rows(db: Session) -> list[SigningKey]:
    return list(db.scalars(select(SigningKey).order_by(SigningKey.active_at, SigningKey.kid)))


def _add_key(db: Session, **moments: Any) -> None:
    key = _generate()
    sealed = seal(settings().encryption_keys[0], json.dumps(key.as_dict(private=True)))
    db.add(SigningKey(kid=key.kid, public=key.as_dict(private=False), private_sealed=sealed, **moments))
    db.flush()


def renew(db: Session) -> None:
    """Makes the next key in time and drops those long retired. Programs that do so together wait for each other."""
    db.execute(select(func.pg_advisory_xact_lock(LOCK)))
    now, rows = clock.now(), _list_rows(db)
    usable = [row for row in rows if _load_private_key(row) is not None]
    if not any(row.active_at <= now for row in usable):
        _add_key(db, created_at=now, active_at=now)
    elif usable[-1].active_at + LIFE - PUBLISHED_BEFORE <= now:
        _add_key(db, created_at=now, active_at=max(now + PUBLISHED_BEFORE, usable[-1].active_at + LIFE))
    for row, successor in pairwise(rows):
        if successor.active_at + PUBLISHED_AFTER <= now:
            db.delete(row)


def _find_active(rows: list[SigningKey]) -> RSAKey | None:
    turns = (row for row in reversed(rows) if row.active_at <= clock.now())
    return next((key for row in turns if (key := _load_private_key(row)) is not None), None)


def get_signing_key(db: Session) -> RSAKey:
    """The key whose turn it is; the first one is made when needed."""
    key = _find_active(_list_rows(db))
    if key is None:
        renew(db)
        key = _find_active(_list_rows(db))
    assert key is not None
    return key


def build_public_set(db: Session) -> dict[str, Any]:
    """The keys a client may need now: the current one, the next one, and for a day the previous one."""
    get_signing_key(db)
    rows, now = _list_rows(db), clock.now()
    retired = {row.kid for row, successor in pairwise(rows) if successor.active_at + PUBLISHED_AFTER <= now}
    return {"keys": [row.public for row in rows if row.kid not in retired]}
