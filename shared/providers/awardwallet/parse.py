"""Parser of AwardWallet's accounts; entries that cannot be read are counted."""

from datetime import datetime
from typing import Any

from shared.providers.connectors import Pulled, TrackedAccount
from shared.providers.contract import Unanswered

NO_ERROR = 1  # their word for a look that went well
ELITE_STATUS_KIND = 3  # the kind of the property that names the elite status
MAX_ACCOUNTS = 500


def parse_accounts(document: dict[str, Any]) -> Pulled:
    listed = document.get("accounts")
    if not isinstance(listed, list):
        raise Unanswered("down", "wrong_shape")
    parsed = [_parse_account(entry) for entry in listed[:MAX_ACCOUNTS]]
    read = tuple(a for a in parsed if a is not None)
    return Pulled(accounts=read, unreadable=len(listed) - len(read))


def _parse_account(entry: Any) -> TrackedAccount | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("displayName"), str):
        return None
    balance = entry.get("balanceRaw")
    good = isinstance(balance, int | float) and not isinstance(balance, bool) and 0 <= balance <= 1_000_000_000
    expires = _parse_time(entry.get("expirationDate"))
    return TrackedAccount(
        code=str(entry.get("code", ""))[:40],
        name=entry["displayName"][:120],
        balance=round(balance) if good and balance is not None else None,
        expires_on=expires.date() if isinstance(expires, datetime) else None,
        tier=_parse_tier(entry.get("properties")),
        checked_at=_parse_time(entry.get("lastRetrieveDate")),
        stale=entry.get("errorCode") != NO_ERROR,
    )


def _parse_tier(properties: Any) -> str | None:
    values = [p.get("value") for p in properties or () if isinstance(p, dict) and p.get("kind") == ELITE_STATUS_KIND]
    return values[0].strip()[:60] or None if values and isinstance(values[0], str) else None


def _parse_time(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo else None
