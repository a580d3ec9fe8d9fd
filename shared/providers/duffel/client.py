"""Client of Duffel's offer requests."""

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.settings import settings

# Parser of Duffel's offers, cheapest first; offers that cannot be read are counted and left out.

log = logging.getLogger(__name__)
MAX_FARES = 50
TEST_AIRLINE = "ZZ"  # the airline of their tests
_SPAN = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:[\d.]+S)?)?")


def parse_fares(body: bytes, cabin: str) -> tuple[CashFare, ...]:
    """Reads fares. To Duffel the cabin is only a wish: an offer counts if every segment and passenger has it."""
    answer = json.loads(body)["data"]
    if answer["live_mode"] is not True:
        raise Unanswered("not_permitted", "test_data")
    fares, unreadable = [], 0
    for offer in answer["offers"] or []:
        try:
            if (
                offer["live_mode"] is True
                and offer["owner"]["iata_code"] != TEST_AIRLINE
                and {p["cabin_class"] for s in _segments(offer) for p in s["passengers"]} == {cabin}
            ):
                fares.append(_parse_fare(offer, cabin))
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError):
            unreadable += 1
    if unreadable:
        log.warning("duffel: passed over %s offers of unknown shape", unreadable)
    if unreadable and not fares:
        raise Unanswered("down", "wrong_shape")
    return tuple(sorted(fares, key=lambda fare: fare.price)[:MAX_FARES])


def _segments(offer: dict[str, Any]) -> list[dict[str, Any]]:
    return [segment for part in offer["slices"] for segment in part["segments"]]


def _parse_fare(offer: dict[str, Any], cabin: str) -> CashFare:
    """Times are those of the way there; minutes and stops, like the price, are of both ways."""
    segments, there = _segments(offer), offer["slices"][0]["segments"]
    spans = [_parse_minutes(part.get("duration")) for part in offer["slices"]]
    durations = [span for span in spans if span is not None]
    return CashFare(
        price=Decimal(offer["total_amount"]),
        currency=str(offer["total_currency"]),
        cabin=cabin,
        carriers=tuple(dict.fromkeys(s["marketing_carrier"]["iata_code"] for s in segments)),
        flight_numbers=tuple(
            f"{s['marketing_carrier']['iata_code']}{s['marketing_carrier_flight_number']}" for s in segments
        ),
        departs_at=_parse_local_time(there[0]["departing_at"]),
        arrives_at=_parse_local_time(there[-1]["arriving_at"]),
        duration_minutes=sum(durations) if len(durations) == len(spans) else None,
        stops=len(segments) - len(offer["slices"]),
    )


def _parse_local_time(text: str) -> str:
    """Cuts a time to the minute; it is already local to the airport, without a zone."""
    return f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M}"


def _parse_minutes(text: str | None) -> int | None:
    span = _SPAN.fullmatch(text or "")
    if not span or not text or text == "P":
        return None
    days, hours, minutes = (int(part or 0) for part in span.groups())
    return (days * 24 + hours) * 60 + minutes


TEST_KEYS = "duffel_test_"
SUPPLIER_TIMEOUT_MS = 15_000  # milliseconds: airlines that are slower are left out
READ_SECONDS = 19


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    headers = {"Authorization": f"Bearer {credential}", "Duffel-Version": "v2", "Accept": "application/json"}
    timeout = httpx.Timeout(READ_SECONDS, connect=5)
    async with http.client(settings().duffel_base_url, headers=headers, timeout=timeout) as client:
        yield Client(client, real=not (credential or "").startswith(TEST_KEYS))


class Client:
    def __init__(self, client: http.AsyncClient, *, real: bool) -> None:
        self._client = client
        self._real = real

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        """Fares are always in the currency of the operator's account."""
        if not self._real:
            raise Unanswered("not_permitted", "test_key")
        params = {"return_offers": "true", "supplier_timeout": str(SUPPLIER_TIMEOUT_MS)}
        try:
            body = await http.post(
                self._client, "/air/offer_requests", params=params, json={"data": _build_request(question)}
            )
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 401:
                raise Unanswered("broken", "bad_key") from None
            if error.response.status_code == 422:
                raise Unanswered("not_covered", "not_sold") from None
            raise
        return await anyio.to_thread.run_sync(parse_fares, body, question.cabin, abandon_on_cancel=True)


def _build_request(question: FaresQuestion) -> dict[str, Any]:
    there = {
        "origin": question.origin,
        "destination": question.destination,
        "departure_date": question.date.isoformat(),
    }
    slices = [there]
    if question.return_date:
        back = {"origin": question.destination, "destination": question.origin}
        slices.append(back | {"departure_date": question.return_date.isoformat()})
    return {
        "slices": slices,
        "passengers": [{"type": "adult"}] * question.passengers,
        "cabin_class": question.cabin,
        "max_connections": 1,
    }
