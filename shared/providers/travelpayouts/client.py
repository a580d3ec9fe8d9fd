"""Client of the Travelpayouts data API."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field, NonNegativeInt, ValidationError, field_validator

from shared import clock, http
from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.reference.load import reference
from shared.settings import settings

# Parser of Travelpayouts' fares: those of the day asked for, cheapest first.
#
# A price is one passenger's and is multiplied by the passengers asked for. A row without its time of discovery is
# left out, because its age could not be shown; moments without a zone are UTC, as the source documents.

log = logging.getLogger(__name__)
MOST = 50


class _Row(BaseModel):
    trip_class: int
    origin: str
    destination: str
    depart_date: date
    return_date: date | None = None
    number_of_changes: NonNegativeInt | None = None
    value: Decimal = Field(gt=0, allow_inf_nan=False)
    found_at: datetime
    expires_at: datetime | None = None
    actual: bool = True
    duration: int | None = None

    @field_validator("return_date", "expires_at", mode="before")
    @classmethod
    def _absent(cls, value: Any) -> Any:
        return value or None

    @field_validator("found_at", "expires_at")
    @classmethod
    def _utc(cls, value: datetime | None) -> datetime | None:
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


class _Envelope(BaseModel):
    success: bool
    data: list[Any] | None = None
    currency: str | None = None


def parse_fares(
    body: bytes, question: FaresQuestion, trip_class: int, ends: tuple[str, str], now: datetime
) -> tuple[CashFare, ...]:
    envelope = _Envelope.model_validate_json(body)
    if not envelope.success or envelope.data is None:
        raise Unanswered("down", "source_error")
    usable = [row for raw in envelope.data if (row := _row(raw))]
    if left_out := len(envelope.data) - len(usable):
        log.info("travelpayouts: %d rows of an unknown shape left out", left_out)
    matching = (trip_class, *ends, question.date, question.return_date)
    rows = [r for r in usable if (r.trip_class, r.origin, r.destination, r.depart_date, r.return_date) == matching]
    currency = (envelope.currency or question.currency).upper()
    fares = [
        _fare(row, question, currency, now)
        for row in rows
        if row.actual and not (row.expires_at and row.expires_at <= now)
    ]
    if not fares:  # no one was shown one recently, which does not mean that none is on sale
        raise Unanswered("no_data", "not_served")
    return tuple(sorted(fares, key=lambda fare: fare.price)[:MOST])


def _row(raw: Any) -> _Row | None:
    try:
        return _Row.model_validate(raw)
    except ValidationError:
        return None


def _fare(row: _Row, question: FaresQuestion, currency: str, now: datetime) -> CashFare:
    return CashFare(
        price=row.value * question.passengers,
        currency=currency,
        cabin=question.cabin,
        carriers=(),
        duration_minutes=None if question.return_date else row.duration,
        stops=row.number_of_changes,
        checked_at=min(row.found_at, now),
        city_wide=(row.origin, row.destination) != (question.origin, question.destination),
    )


CLASSES = {"economy": 0, "business": 1, "first": 2}
PAGE = 1000


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        if question.cabin not in CLASSES:
            raise Unanswered("not_covered", "cabin_not_covered")
        ends = (_city(question.origin), _city(question.destination))
        body = await http.get(self._client, "/aviasales/v3/get_latest_prices", params=_build_query(question, *ends))
        return parse_fares(body, question, CLASSES[question.cabin], ends, clock.now())


def _city(airport: str) -> str:
    """The code of the city, by which fares are stored: LON for LHR, or the airport's own if it is the only one."""
    return next((city for city, airports in reference().metros.items() if airport in airports), airport)


def _build_query(question: FaresQuestion, origin: str, destination: str) -> dict[str, str]:
    """Without `currency` prices would be roubles. The day is picked from its month: no shorter period is possible."""
    return {
        "origin": origin,
        "destination": destination,
        "beginning_of_period": question.date.replace(day=1).isoformat(),
        "period_type": "month",
        "one_way": "false" if question.return_date else "true",
        "trip_class": str(CLASSES[question.cabin]),
        "currency": question.currency.lower(),
        "sorting": "price",
        "limit": str(PAGE),
        "page": "1",
    }


@asynccontextmanager
async def connect(token: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().travelpayouts_base_url) as client:
        client.headers["X-Access-Token"] = token or ""
        yield Client(client)
