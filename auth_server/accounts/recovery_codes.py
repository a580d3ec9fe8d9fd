"""Recovery codes: ten codes of 80 bits for someone who has lost the other ways; each works once."""

import re
import secrets

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, lock
from shared.db.sign_in_methods import RecoveryCode
from shared.secrets import digest

NUMBER = 10
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # without letters that look like digits, and five bits each
_LOOK_ALIKES = str.maketrans("oil", "011")
_GROUPS, _GROUP_CHARACTERS = 4, 4


def _make_code() -> str:
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_CHARACTERS)) for _ in range(_GROUPS))


def _normalize(code: str) -> str:
    """The code as it is hashed: without separators, and with look-alike letters as the digits that were meant."""
    return re.sub(r"[\s-]", "", code).lower().translate(_LOOK_ALIKES)


def make_codes(db: Session, account: Account) -> list[str]:
    """New codes in place of all earlier ones. They are stored as hashes, so this is the only time they are known."""
    lock(db, account.id)
    codes, now = [_make_code() for _ in range(NUMBER)], clock.now()
    delete_codes(db, account.id)
    for code in codes:
        db.add(RecoveryCode(account_id=account.id, code_hash=digest(_normalize(code)), created_at=now))
    db.flush()
    return codes


def delete_codes(db: Session, account_id: int) -> None:
    db.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))


def use_code(db: Session, account: Account, code: str) -> bool:
    """Uses up a code; whether it was valid."""
    same = (RecoveryCode.account_id == account.id, RecoveryCode.code_hash == digest(_normalize(code)))
    return db.execute(delete(RecoveryCode).where(*same).returning(RecoveryCode.id)).one_or_none() is not None


def count_codes(db: Session, account_id: int) -> int:
    own = RecoveryCode.account_id == account_id
    return db.scalar(select(func.count()).select_from(RecoveryCode).where(own)) or 0
