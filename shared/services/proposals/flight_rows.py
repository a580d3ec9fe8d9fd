"""Rows of a prior search, sent back by a client for a document: untrusted, so each field is checked."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.errors import Fault, Invalid

Journey = tuple[str, str, date, str]  # origin, destination, day, cabin
_MAX_FAULTS = 20  # in one answer
_MISSING = ("no_data", "")  # how results write an unknown value


def _none_if_missing(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("is true or false")
    return None if value in _MISSING else value


_MissingIsNone = BeforeValidator(_none_if_missing)
_Number = Annotated[int, Field(ge=0, le=1_000_000_000), BeforeValidator(partial(read_number, is_whole=True))]
_Amount = Annotated[
    Decimal,
    Field(ge=0, le=10_000_000, allow_inf_nan=False),
    BeforeValidator(partial(read_number, is_whole=False)),
]
Text = Annotated[Annotated[str, Field(max_length=120)] | None, _MissingIsNone]
Texts = Annotated[Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=12)] | None, _MissingIsNone]
Count = Annotated[_Number | None, _MissingIsNone]
Sum = Annotated[_Amount | None, _MissingIsNone]
Iso = Annotated[Annotated[str, Field(pattern=r"^[A-Za-z]{3}$")] | None, _MissingIsNone]
Day = Annotated[date | None, _MissingIsNone]
Moment = Annotated[datetime | None, _MissingIsNone]
_EXPECTED = {
    "points": "a whole number from 0",
    "party_points": "a whole number from 0",
    "seats": "a whole number from 0",
    "stops": "a whole number from 0",
    "taxes": "an amount of money from 0",
    "price": "an amount of money from 0",
    "taxes_currency": "three letters such as USD",
    "currency": "three letters such as USD",
    "date": "a date YYYY-MM-DD that exists",
    "provider_checked_at": "an instant such as 2027-05-12T08:15:00Z",
    "flight_numbers": "a list of texts",
    "carriers": "a list of texts",
}


class FlightRow(BaseModel):
    """The fields of a search result, award or cash, that a document shows; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    origin: Text = None
    destination: Text = None
    date: Day = None
    cabin: Text = None
    airline: Text = None
    carriers: Texts = None
    program: Text = None
    points: Count = None
    taxes: Sum = None
    taxes_currency: Iso = None
    party_points: Count = None
    price: Sum = None
    currency: Iso = None
    seats: Count = None
    stops: Count = None
    flight_numbers: Texts = None
    departs_at: Text = None
    arrives_at: Text = None
    source: Text = None
    mode: Text = None
    provider_checked_at: Moment = None

    @property
    def passengers(self) -> int:
        """The number of travellers, from the party's points; 1 if unknown."""
        if not self.points or not self.party_points or self.party_points % self.points:
            return 1
        return self.party_points // self.points

    @property
    def journey(self) -> Journey | None:
        """The journey of an award; None if part of it is unknown."""
        if not (self.points and self.origin and self.destination and self.date and self.cabin):
            return None
        return self.origin, self.destination, self.date, self.cabin

    @property
    def names_a_flight(self) -> bool:
        return bool((self.origin and self.destination) or self.airline or self.carriers or self.flight_numbers)


def read_flights(raw_rows: Sequence[Mapping[str, Any]], *, sandbox: bool) -> list[FlightRow]:
    """Reads the rows and checks each field. Raises Invalid naming each bad one, such as flights[3].points."""
    rows: list[FlightRow] = []
    faults: list[Fault] = []
    for index, raw in enumerate(raw_rows):
        try:
            row = FlightRow.model_validate(raw)
        except ValidationError as error:
            faults += _describe_faults(index, error)
            continue
        if not row.names_a_flight:
            faults.append(Fault(f"flights[{index}]", "names no flight", "origin and destination, or an airline"))
        if not sandbox and (row.mode == "sandbox" or raw.get("synthetic")):
            faults.append(Fault(f"flights[{index}].mode", "is invented data", "a row of a search in real data"))
        rows.append(row)
    if faults:
        raise Invalid(*faults[:_MAX_FAULTS])
    return rows


def _describe_faults(index: int, error: ValidationError) -> list[Fault]:
    unread = {str(e["loc"][0]): e.get("ctx", {}).get("error") for e in error.errors() if e["loc"]}
    return [
        Fault(
            f"flights[{index}].{name}",
            str(fault) if isinstance(fault, UnreadNumber) else "is not of the expected kind",
            getattr(fault, "expected", None) or _EXPECTED.get(name, "text of at most 120 letters"),
        )
        for name, fault in unread.items()
    ]
