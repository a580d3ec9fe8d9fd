"""Parser of Travelpayouts' fares: those of the day asked for, cheapest first.

A price is one passenger's and is multiplied by the passengers asked for. A row without the moment it was found is left
out, because its age could not be shown; moments without a zone are UTC, as the source documents.
"""

import logging
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field, NonNegativeInt, ValidationError, field_validator

from shared.providers.contract import CashFare, FaresQuestion, Unanswered

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
    fares = [_fare(row, question, currency, now) for row in rows if _stands(row, now)]
    if not fares:  # no one was shown one recently, which does not mean that none is on sale
        raise Unanswered("no_data", "not_served")
    return tuple(sorted(fares, key=lambda fare: fare.price)[:MOST])


def _row(raw: Any) -> _Row | None:
    try:
        return _Row.model_validate(raw)
    except ValidationError:
        return None


def _stands(row: _Row, now: datetime) -> bool:
    return row.actual and not (row.expires_at and row.expires_at <= now)


def _fare(row: _Row, question: FaresQuestion, currency: str, now: datetime) -> CashFare:
    return CashFare(
        price=row.value * question.passengers,
        currency=currency,
        cabin=question.cabin,
        carriers=(),
        flight_numbers=(),
        departs_at=None,
        arrives_at=None,
        duration_minutes=None if question.return_date else row.duration,
        stops=row.number_of_changes,
        booking_url=None,
        checked_at=min(row.found_at, now),
        city_wide=(row.origin, row.destination) != (question.origin, question.destination),
    )
