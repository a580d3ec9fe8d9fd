"""The connection to a person's AwardWallet, by consent on their site.

The operator's key opens the interface; per person there is a number, and no token.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from shared import http
from shared.providers.awardwallet.parse import parse_accounts
from shared.providers.connectors import Connector, Declined, Details, Grant, Pulled, Start
from shared.providers.contract import Unanswered
from shared.settings import settings

BALANCES_AND_STATUS = 1  # the least that is of use; 3 would be the passwords
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
    return parse_accounts(answer)


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
