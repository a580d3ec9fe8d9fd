"""Result parts used in many areas: the outcome every result begins with, pages, freshness, coverage and money."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from shared.errors import Status

Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
NoDataWord = Literal["no_data"]
NO_DATA: NoDataWord = "no_data"


class Part(BaseModel):
    """A piece of a result. No field has a default: every field is always present."""

    model_config = ConfigDict(frozen=True, from_attributes=True, extra="forbid")


class Result(Part):
    """What every tool returns: an outcome, one sentence for people, then the fields of the contract."""

    status: Status = "ok"
    message: str


class Paging(Part):
    page: int
    per_page: int
    total: int
    has_more: bool

    @classmethod
    def of(cls, page: int, per_page: int, total: int) -> "Paging":
        return cls(page=page, per_page=per_page, total=total, has_more=page * per_page < total)


class Freshness(Part):
    """How old an answer is: our own age and the provider's shown apart. `live` only for a real live search."""

    mode: Literal["live", "cached", "static", "sandbox", "none"]
    source: str
    fetched_at: datetime | None
    age_seconds: int | None
    provider_checked_at: datetime | None
    provider_age_seconds: int | None
    cached_until: datetime | None
    note: str | None


class Failed(Part):
    name: str
    reason: str


class Coverage(Part):
    """Who was asked, who answered, who failed and who was left out, with the reasons."""

    asked: list[str]
    answered: list[str]
    failed: list[Failed]
    skipped: list[Failed]


class Marked(Part):
    """A row that says itself when it was invented, since clients show rows without their envelope.

    A real row has no `generated_at` and is sent without the marks.
    """

    generated_at: datetime | None

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The fields as they are sent; what _label adds is there in invented rows alone."""
        schema = handler({k: v for k, v in core.items() if k != "serialization"})
        row = handler.resolve_ref_schema(schema)
        row["properties"] |= {
            "source": {"type": "string"},
            "generated_at": {"type": "string", "format": "date-time"},
            "synthetic": {"type": "boolean"},
            "live": {"type": "boolean"},
        }
        row["required"].remove("generated_at")
        return schema

    @model_serializer(mode="wrap")
    def _label(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        row: dict[str, Any] = plain(self)
        made = row.pop("generated_at", None)
        if made is not None:
            row |= {"source": "sandbox", "synthetic": True, "live": False, "generated_at": made}
        return row


class AwardOption(Marked):
    """One award seat offer. `trip_id` is ours and bound to the account whose connection saw the row."""

    trip_id: str | None
    airline: str
    program: str
    origin: str
    destination: str
    date: date
    cabin: str
    points: int
    taxes: Money | None
    taxes_currency: str | None
    seats: int | None
    stops: int | None
    flight_numbers: list[str]
    departs_at: str | None
    arrives_at: str | None
    bookable_with: list[str]
    source: str
    mode: Literal["live", "cached", "sandbox"]
    provider_checked_at: datetime | None
    age_seconds: int
