"""Result parts used in many areas: the outcome every result begins with, pages, freshness, coverage and money."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer

from shared.errors import Status

Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
NoDataWord = Literal["no_data"]
NO_DATA: NoDataWord = "no_data"


class Part(BaseModel):
    """A piece of a result. No field has a default: every field is always present."""

    model_config = ConfigDict(frozen=True, from_attributes=True, extra="forbid", defer_build=True)

    @classmethod
    def from_row(cls, row: Any, /, **own: Any) -> Self:
        """Fills each field that is not given, and has no default, from the attribute of that name."""
        names = (name for name, field in cls.model_fields.items() if field.is_required() and name not in own)
        return cls(**own, **{name: getattr(row, name) for name in names})


class Result(Part):
    """What every tool returns: an outcome, one sentence for people, then the fields of the contract."""

    status: Status = "ok"
    message: str

    def shorten(self) -> "Result":
        """The part for a compact answer."""
        return self


class Added(Result):
    """`already_saved`: the same was there, it is what the answer holds, and nothing was added."""

    already_saved: bool


class TotalValue(Part):
    amount: Money
    currency: str
    valuation_as_of: str | None


class Paging(Part):
    page: int
    per_page: int
    total: int
    has_more: bool

    @classmethod
    def of(cls, page: int, per_page: int, total: int) -> "Paging":
        return cls(page=page, per_page=per_page, total=total, has_more=page * per_page < total)

    @property
    def more(self) -> str:
        """A sentence, after a space, on how to get the following rows; empty if there are none."""
        first, last = (self.page - 1) * self.per_page + 1, self.page * self.per_page
        return f" Rows {first:,} to {last:,} are here; page {self.page + 1} has more." if self.has_more else ""


class Marked(Part):
    """A row that says itself when it was invented, since clients show rows without their envelope.

    `sandbox_rows` adds the marks when an answer is made; a real row has no `generated_at` and is sent without them.
    """

    generated_at: datetime | None
