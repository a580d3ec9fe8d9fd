"""AwardWallet's answer goes in, accounts of programmes come out; what cannot be made out is counted, not guessed."""

from datetime import datetime
from typing import Any

from shared.providers.connectors import Pulled, TrackedAccount
from shared.providers.contract import Unanswered

CHECKED = 1  # their word for a look that went well
TIER = 3  # the kind of the property that names the elite status
MOST = 500


def accounts(document: dict[str, Any]) -> Pulled:
    listed = document.get("accounts")
    if not isinstance(listed, list):
        raise Unanswered("down", "wrong_shape")
    made = [_account(entry) for entry in listed[:MOST]]
    read = tuple(a for a in made if a is not None)
    return Pulled(accounts=read, unreadable=len(listed) - len(read))


def _account(entry: Any) -> TrackedAccount | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("displayName"), str):
        return None
    balance = entry.get("balanceRaw")
    good = isinstance(balance, int | float) and not isinstance(balance, bool) and 0 <= balance <= 1_000_000_000
    expires = _moment(entry.get("expirationDate"))
    return TrackedAccount(
        code=str(entry.get("code", ""))[:40],
        name=entry["displayName"][:120],
        balance=round(balance) if good and balance is not None else None,
        expires_on=expires.date() if isinstance(expires, datetime) else None,
        tier=_tier(entry.get("properties")),
        checked_at=_moment(entry.get("lastRetrieveDate")),
        stale=entry.get("errorCode") != CHECKED,
    )


def _tier(properties: Any) -> str | None:
    found = [p.get("value") for p in properties or () if isinstance(p, dict) and p.get("kind") == TIER]
    return found[0].strip()[:60] or None if found and isinstance(found[0], str) else None


def _moment(text: Any) -> datetime | None:
    try:
        made = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return made if made is None or made.tzinfo else None
