"""Signing keys: a table every program reads goes in; the key to sign with, and the public set, come out.

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
LIFE, AHEAD, KEPT = timedelta(days=90), timedelta(hours=24), timedelta(hours=24)
ALGORITHM = "RS256"


def _generated() -> RSAKey:
    return RSAKey.generate_key(2048, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)


@lru_cache(maxsize=8)
def _opened(sealed: str, materials: tuple[str, ...]) -> RSAKey | None:
    """None when no key of the environment opens it: then it can no longer sign, but what it signed is still good."""
    private = unseal(list(materials), sealed)
    return RSAKey.import_key(json.loads(private)) if private is not None else None


def _private(row: SigningKey) -> RSAKey | None:
    return _opened(row.private_sealed, tuple(settings().encryption_keys))


def _rows(db: Session) -> list[SigningKey]:
    return list(db.scalars(select(SigningKey).order_by(SigningKey.active_at, SigningKey.kid)))


def _add(db: Session, **moments: Any) -> None:
    key = _generated()
    sealed = seal(settings().encryption_keys[0], json.dumps(key.as_dict(private=True)))
    db.add(SigningKey(kid=key.kid, public=key.as_dict(private=False), private_sealed=sealed, **moments))
    db.flush()


def renew(db: Session) -> None:
    """Makes the next key in time and drops those long retired. Programs that do so at once wait for each other."""
    db.execute(select(func.pg_advisory_xact_lock(LOCK)))
    now, rows = clock.now(), _rows(db)
    usable = [row for row in rows if _private(row) is not None]
    if not any(row.active_at <= now for row in usable):
        _add(db, created_at=now, active_at=now)
    elif usable[-1].active_at + LIFE - AHEAD <= now:
        _add(db, created_at=now, active_at=max(now + AHEAD, usable[-1].active_at + LIFE))
    for row, successor in pairwise(rows):
        if successor.active_at + KEPT <= now:
            db.delete(row)


def _active(rows: list[SigningKey]) -> RSAKey | None:
    turns = (row for row in reversed(rows) if row.active_at <= clock.now())
    return next((key for row in turns if (key := _private(row)) is not None), None)


def signing(db: Session) -> RSAKey:
    """The key whose turn it is; the very first is made when it is first wanted."""
    key = _active(_rows(db))
    if key is None:
        renew(db)
        key = _active(_rows(db))
    assert key is not None
    return key


def public_set(db: Session) -> dict[str, Any]:
    """What a client may meet now: the key in use, the next one, and the one before for a day."""
    signing(db)
    rows, now = _rows(db), clock.now()
    retired = {row.kid for row, successor in pairwise(rows) if successor.active_at + KEPT <= now}
    return {"keys": [row.public for row in rows if row.kid not in retired]}
