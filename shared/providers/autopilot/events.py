"""Bookings go out as signed events, each under an id that follows from what it says: sent twice, it counts once."""

import hashlib
import hmac
import json
from typing import Any

import httpx

from shared import clock, http
from shared.providers.connectors import Push, Row, Written
from shared.providers.contract import Unanswered
from shared.settings import settings

WATCHED = ("flight", "hotel")
LOCATOR = "confirmation_number"


async def push(asked: Push) -> Written:
    """Only what is new or changed since it was last sent. What arrived is remembered even when a later one fails."""
    before: dict[str, str] = dict(asked.details.get("sent", {}))
    told = {row.key: _said(row, with_numbers=asked.details.get("confirmation_numbers") is True) for row in asked.rows}
    told = {key: said for key, said in told.items() if said["kind"] in WATCHED and said["state"] == "upcoming"}
    due = {key: said for key, said in told.items() if before.get(key) != _id(said)}
    if asked.dry_run:
        return _written(list(due), before, {})
    arrived, failed = [], False
    async with http.client(settings().autopilot_api_base or "", headers={"Authorization": asked.credential}) as client:
        for key, said in due.items():
            try:
                await _send(client, said)
            except (httpx.HTTPError, http.Refused, TimeoutError):
                failed = True
                break
            arrived.append(key)
    ids = {key: before[key] for key in told if key in before} | {key: _id(told[key]) for key in arrived}
    return _written(arrived, before, {"sent": ids}, failed=failed)


def _written(keys: list[str], before: dict[str, str], details: dict[str, Any], *, failed: bool = False) -> Written:
    added = tuple(key for key in keys if key not in before)
    return Written(added, tuple(key for key in keys if key in before), details, failed)


def _said(row: Row, *, with_numbers: bool) -> dict[str, Any]:
    values = {name: value for name, value in row.values.items() if with_numbers or name != LOCATOR}
    return {"kind": row.kind, "id": row.key, "state": row.values.get("state"), **values}


def _id(said: dict[str, Any]) -> str:
    whole = json.dumps(said, sort_keys=True, default=str)
    return "evt_" + hashlib.sha256(whole.encode()).hexdigest()[:32]


async def _send(client: http.AsyncClient, said: dict[str, Any]) -> None:
    event = {"event": "booking.tracked", "id": _id(said), "occurred_at": clock.now().isoformat(), "booking": said}
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
