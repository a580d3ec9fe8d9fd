"""The connection to a person's AwardWallet, by consent on their site.

The operator's key gives access; each person has a number, not a token.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from shared import http
from shared.providers.connectors import Connector, Declined, Details, Grant, Pulled, Start, TrackedAccount
from shared.providers.contract import Unanswered
from shared.settings import settings

# Parser of AwardWallet's accounts; entries that cannot be read are counted.

NO_ERROR = 1  # their code for a successful update
ELITE_STATUS_KIND = 3  # the kind of the property that names the elite status
MAX_ACCOUNTS = 500


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


BALANCES_AND_STATUS = 1  # the least access of use; 3 would be the passwords
_CODE = re.compile(r"[A-Za-z0-9_-]{1,256}")


def is_configured() -> bool:
    key = settings().awardwallet_api_key
    return bool(key and key.get_secret_value())


def _http_client() -> http.AsyncClient:
    key = settings().awardwallet_api_key
    value = key.get_secret_value() if key else ""
    return http.client(settings().awardwallet_base_url, headers={"X-Authentication": value})


async def _read_object(work: Any) -> dict[str, Any]:
    document = json.loads(await work)
    if not isinstance(document, dict):
        raise Unanswered("down", "wrong_shape")
    return document


async def start(redirect_uri: str, state: str) -> Start:  # noqa: ARG001 - the way back is registered with them
    body = {"platform": "desktop", "access": BALANCES_AND_STATUS, "state": state, "granularSharing": False}
    async with _http_client() as client:
        answer = await _read_object(http.post(client, "/create-auth-url", json=body))
    url = str(answer.get("url", ""))
    host = urlsplit(url).hostname or ""
    ours = urlsplit(settings().awardwallet_base_url).hostname
    if host not in ("awardwallet.com", ours) and not host.endswith(".awardwallet.com"):
        raise Unanswered("down", "wrong_shape")
    return Start(http.check_url(url))


async def finish(query: Mapping[str, str], _kept: Mapping[str, str], _redirect_uri: str) -> Grant:
    code = query.get("code", "")
    if not code:
        raise Declined
    if not _CODE.fullmatch(code):
        raise Unanswered("not_permitted", "refused")
    async with _http_client() as client:
        answer = await _read_object(http.get(client, f"/get-connection-info/{code}"))
    number = answer.get("userId")
    if not isinstance(number, int) or isinstance(number, bool):
        raise Unanswered("down", "wrong_shape")
    return Grant(str(number))


async def pull(credential: str, _details: Details) -> Pulled:
    async with _http_client() as client:
        try:
            answer = await _read_object(http.get(client, f"/connectedUser/{int(credential)}"))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:  # the person ended it there
                raise Unanswered("broken", "gone") from None
            raise
    listed = answer.get("accounts")
    if not isinstance(listed, list):
        raise Unanswered("down", "wrong_shape")
    parsed = [_parse_account(entry) for entry in listed[:MAX_ACCOUNTS]]
    read = tuple(a for a in parsed if a is not None)
    return Pulled(accounts=read, unreadable=len(listed) - len(read))


CONNECTOR = Connector(
    title="AwardWallet",
    shares=(
        "This service may read the balances, elite statuses and expiry dates AwardWallet shows of your programmes.",
        "It sees no passwords, asks for nothing to be changed, and copies only when you ask your assistant to.",
    ),
    configured=is_configured,
    start=start,
    finish=finish,
    pull=pull,
    bearer=False,
    used_by=("points_balances", "loyalty_statuses"),
    after="They offer no way to end it from here: remove this service from the connections of your AwardWallet.",
)
