"""A provider of the tests: an HTTP source of award seats with a key of the operator, as a real folder would be."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
from pydantic import TypeAdapter

from shared import http
from shared.providers.contract import AwardSeat, Provider, SeatsQuestion

BASE = "https://acme.test"
_CABINS = {"Y": "economy", "J": "business"}


class Client:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked = {"from": question.origin, "to": question.destination, "key": self.client.params["key"]}
        return parse(await http.get(self.client, "/seats", params=asked, limit=100_000))


def parse(body: bytes) -> tuple[AwardSeat, ...]:
    rows = TypeAdapter(dict[str, list[dict[str, Any]]]).validate_json(body)["data"]
    return tuple(_seat(row) for row in rows)


def _seat(row: dict[str, Any]) -> AwardSeat:
    return AwardSeat(
        ref=row["id"],
        airline=row["carrier"],
        program=row["program"],
        origin=row["from"],
        destination=row["to"],
        date=date.fromisoformat(row["date"]),
        cabin=_CABINS[row["cabin"]],
        points=int(row["miles"]),
        taxes=Decimal(row["taxes"]) / 100,
        taxes_currency="USD",
        seats=row["seats"] or None,
        stops=0,
        flight_numbers=(row["flight"],),
        departs_at=None,
        arrives_at=None,
        checked_at=datetime.fromisoformat(row["seen"]),
    )


@asynccontextmanager
async def connect(key: str | None) -> AsyncIterator[Client]:
    async with http.client(BASE, params={"key": key}) as client:
        yield Client(client)


PROVIDER = Provider(
    name="acme",
    answers=("award_seats",),
    fresh_for=timedelta(hours=6),
    build=connect,
    credential="operator",
    setting="seats_aero_api_key",
    concurrency=2,
    timeout=0.5,
)
