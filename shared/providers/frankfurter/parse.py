"""Parser of Frankfurter's rates, each with its own day."""

from datetime import date
from decimal import Decimal

from pydantic import BaseModel, Field, TypeAdapter

from shared.providers.contract import Rate


class _Row(BaseModel):
    date: date
    base: str
    quote: str
    rate: Decimal = Field(gt=0, allow_inf_nan=False)


_ROWS = TypeAdapter(list[_Row])


def parse_rates(body: bytes) -> tuple[Rate, ...]:
    rows = _ROWS.validate_json(body)
    if any(row.base != "EUR" for row in rows):
        raise ValueError("rates to another currency")
    return tuple(Rate(row.quote, row.rate, row.date) for row in rows)
