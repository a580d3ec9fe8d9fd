"""What can be asked of the outside world: questions go in, answers or one of a few kinds of failure come out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, Literal, Protocol, TypeVar

from shared.settings import DataMode

Status = Literal[
    "ok",
    "no_data",
    "connection_required",
    "not_permitted",
    "quota_exhausted",
    "not_covered",
    "not_configured",
    "broken",
    "down",
]
ANSWERED: tuple[Status, ...] = ("ok", "no_data")
T_co = TypeVar("T_co", covariant=True)


class Unanswered(Exception):
    """What an adapter raises instead of an answer. The reason is one word of ours, never the provider's text."""

    def __init__(self, status: Status, reason: str, retry_after: int | None = None) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


@dataclass(frozen=True)
class SeatsQuestion:
    """Award seats on one route in a window of days, whatever the cabin; no airlines means all of them."""

    origin: str
    destination: str
    earliest: date
    latest: date
    airlines: tuple[str, ...] = ()


@dataclass(frozen=True)
class AwardSeat:
    """One award offer. Programme and operating airline stay apart: a partner's price is not the airline's own."""

    ref: str  # the provider's own name of this row, enough to ask for its details later
    airline: str
    program: str
    origin: str
    destination: str
    date: date
    cabin: str
    points: int
    taxes: Decimal | None
    taxes_currency: str | None
    seats: int | None  # None = open, but the provider does not say how many
    stops: int | None
    flight_numbers: tuple[str, ...]
    departs_at: str | None  # local to the airport, without a zone
    arrives_at: str | None
    aircraft: str | None
    booking_url: str | None
    checked_at: datetime | None  # when the provider itself last looked; None = at the moment of asking


class AwardSeats(Protocol):
    """Capability `award_seats`. Nothing open is an empty answer; a route unknown to the source is `no_data`."""

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]: ...


@dataclass(frozen=True)
class Verb:
    """One capability: the type of its answer, and which rows of an answer are remembered as observations."""

    name: str
    answer: Any
    seats: bool = False


VERBS = {"award_seats": Verb("award_seats", tuple[AwardSeat, ...], seats=True)}


@dataclass(frozen=True)
class Provider:
    """The card of a provider folder. A provider is used in its own data mode only.

    credential: `none`; `operator`, named by a setting; or `account`, the caller's own connection.
    terms: whether an answer asked for with one credential may be shown to anyone, or to the asker alone.
    build: credential in, client out; the client has one `async` method per verb in `answers`.
    """

    name: str
    answers: tuple[str, ...]
    fresh_for: timedelta
    build: Callable[[str | None], Any]
    credential: Literal["none", "operator", "account"] = "none"
    setting: str | None = None
    terms: Literal["anyone", "asker"] = "asker"
    data_mode: DataMode = "live"
    concurrency: int = 4
    timeout: float = 15


@dataclass(frozen=True)
class Reading(Generic[T_co]):
    """One answer, or the lack of one, and where it comes from. There is no way to get a value without that."""

    source: str
    status: Status
    value: T_co | None
    reason: str | None
    data_mode: DataMode
    taken_at: datetime
    provider_checked_at: datetime | None = None
    cached: bool = False
    good_until: datetime | None = None  # until when this answer may be replayed; None = it is not kept
    since: datetime | None = None  # of a failure: since when the source has not answered
    retry_after: int | None = None

    @property
    def answered(self) -> bool:
        return self.status in ANSWERED
