"""The connection to a person's account at the operator's price-watching service, by OAuth 2."""

import hashlib
import hmac
import json
from typing import Any

import httpx

from shared import clock, http
from shared.providers import oauth_client
from shared.providers.connectors import Connector, Push, Row, Written
from shared.providers.contract import Unanswered
from shared.settings import settings

# Bookings sent as signed events. An event's id depends on its content, so one sent twice counts once.

WATCHED_KINDS = ("flight", "hotel")
LOCATOR = "confirmation_number"


async def push(request: Push) -> Written:
    """Sends what is new or changed since last time. Successes are remembered even if a later one fails."""
    before: dict[str, str] = dict(request.details.get("sent", {}))
    bookings = {
        row.key: _describe_booking(row, with_numbers=request.details.get("confirmation_numbers") is True)
        for row in request.rows
    }
    bookings = {
        key: booking
        for key, booking in bookings.items()
        if booking["kind"] in WATCHED_KINDS and booking["state"] == "upcoming"
    }
    due = {key: booking for key, booking in bookings.items() if before.get(key) != _event_id(booking)}
    if request.dry_run:
        return _build_result(list(due), before, {})
    arrived, failed = [], False
    async with http.client(
        settings().autopilot_api_base or "", headers={"Authorization": request.credential}
    ) as client:
        for key, booking in due.items():
            try:
                await _send(client, booking)
            except (httpx.HTTPError, http.Refused, TimeoutError):
                failed = True
                break
            arrived.append(key)
    ids = {key: before[key] for key in bookings if key in before} | {key: _event_id(bookings[key]) for key in arrived}
    return _build_result(arrived, before, {"sent": ids}, failed=failed)


def _build_result(keys: list[str], before: dict[str, str], details: dict[str, Any], *, failed: bool = False) -> Written:
    added = tuple(key for key in keys if key not in before)
    return Written(added, tuple(key for key in keys if key in before), details, failed)


def _describe_booking(row: Row, *, with_numbers: bool) -> dict[str, Any]:
    values = {name: value for name, value in row.values.items() if with_numbers or name != LOCATOR}
    return {"kind": row.kind, "id": row.key, "state": row.values.get("state"), **values}


def _event_id(booking: dict[str, Any]) -> str:
    whole = json.dumps(booking, sort_keys=True, default=str)
    return "evt_" + hashlib.sha256(whole.encode()).hexdigest()[:32]


async def _send(client: http.AsyncClient, booking: dict[str, Any]) -> None:
    event = {
        "event": "booking.tracked",
        "id": _event_id(booking),
        "occurred_at": clock.now().isoformat(),
        "booking": booking,
    }
    body = json.dumps(event, default=str).encode()
    secret = settings().autopilot_client_secret
    key = secret.get_secret_value().encode() if secret else b""
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": str(event["id"]),
        "X-Signature": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(),
    }
    try:
        await http.post(client, "/events", content=body, headers=headers)
    except httpx.HTTPStatusError as error:
        if error.response.status_code in (401, 410):
            raise Unanswered("broken", "refused") from None
        raise


APPLICATION = oauth_client.Application(
    "autopilot",
    authorize_url=lambda s: s.autopilot_authorize_url,
    token_url=lambda s: s.autopilot_token_url,
    more=lambda s: {"scope": s.autopilot_scope},
)


async def revoke(access: str, refresh: str | None) -> bool:
    if not (url := settings().autopilot_revoke_url):
        return False
    return await oauth_client.revoke(url, {"token": refresh or access, **APPLICATION.fields})


CONNECTOR = Connector(
    title="Autopilot",
    shares=(
        "When you ask for it, your upcoming flights and stays are sent, with dates and prices, to be watched.",
        "Cards, balances and passwords are never sent. Nothing is booked or changed from here.",
    ),
    configured=lambda: APPLICATION.is_configured() and bool(settings().autopilot_api_base),
    start=APPLICATION.start,
    finish=APPLICATION.finish,
    renew=APPLICATION.renew,
    revoke=revoke,
    push=push,
    consents=("confirmation_numbers",),
    used_by=("flight_bookings", "hotel_bookings"),
    after="Bookings sent earlier stay with that service until you delete them there.",
)
