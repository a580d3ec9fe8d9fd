"""Typed parameters used by many tools: each carries its check, its schema and, where needed, its description."""

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("is not a date")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("is not a day of the calendar") from None


def _clearable_day(value: Any) -> date | Literal[""]:
    return "" if value == "" else _day(value)


Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "pattern": DAY_PATTERN})]
ClearableDay = Annotated[
    date | Literal[""],
    BeforeValidator(_clearable_day),
    WithJsonSchema({"type": "string", "pattern": r"^(\d{4}-\d{2}-\d{2})?$"}),
]

AIRPORT_ANY_CASE = r"^[A-Za-z]{3}$"
Airport = Annotated[str, Field(pattern=AIRPORT_ANY_CASE), AfterValidator(str.upper)]  # either case, stored upper
AirportCapitals = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Currency = Annotated[str, Field(pattern=AIRPORT_ANY_CASE), AfterValidator(str.upper)]
Cabin = Literal["economy", "premium_economy", "business", "first"]
Page = Annotated[int, Field(ge=1)]
PerPage = Annotated[int, Field(ge=1, le=100)]
RowId = Annotated[int, Field(ge=1)]
Passengers = Annotated[int, Field(ge=1, le=9)]
LooseName = Annotated[str, Field(max_length=60)]
