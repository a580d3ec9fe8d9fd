"""Types of questions to providers, their answers and the kinds of failure."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

from shared import clock
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
    """Raised by an adapter instead of an answer. The reason is one word of ours, never the provider's text."""

    def __init__(self, status: Status, reason: str, retry_after: int | None = None) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


@dataclass(frozen=True)
class SeatsQuestion:
    """Award seats on one route in a window of days, in any cabin; no airlines means all."""

    origin: str
    destination: str
    earliest: date
    latest: date
    airlines: tuple[str, ...] = ()


def build_seats_questions(
    routes: Iterable[tuple[str, str]], earliest: date, latest: date, airlines: Iterable[str] | None
) -> list[SeatsQuestion]:
    """Today's questions of a watch. Once its days are over, the first day is after the last."""
    first, carriers = max(earliest, clock.today()), tuple(sorted(airlines or ()))
    return [SeatsQuestion(origin, destination, first, latest, carriers) for origin, destination in routes]


@dataclass(frozen=True)
class AwardSeat:
    """One award offer. Programme and operating airline stay apart: a partner's price is not the airline's own."""

    ref: str  # the provider's id of this row, to ask for details later; empty = none
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
    flight_numbers: tuple[str, ...] = ()
    departs_at: str | None = None  # local to the airport, without a zone
    arrives_at: str | None = None
    checked_at: datetime | None = None  # when the provider itself last looked; None = at the moment of asking


@dataclass(frozen=True)
class SeatsPart:
    """The answer to one question of a search with lists of airports: seats, or why they are unknown."""

    question: SeatsQuestion
    seats: tuple[AwardSeat, ...] | None
    failure: Unanswered | None = None


@dataclass(frozen=True)
class SeatsTogether:
    """The answer of a search with lists of airports: by question, and the rows a day of each route."""

    parts: tuple[SeatsPart, ...]
    rows_a_day: Mapping[tuple[str, str], float]  # without routes with rows hidden by a filter
    failure: Unanswered | None = None  # of a search with too many rows, which has no parts


@dataclass(frozen=True)
class TripQuestion:
    """The flights behind one award offer, by the reference the same source gave it."""

    ref: str


@dataclass(frozen=True)
class Segment:
    """One flight. Times are local to their airport, without a zone."""

    flight_number: str
    operating_carrier: str | None
    aircraft: str | None
    origin: str
    destination: str
    departs_at: str | None
    arrives_at: str | None
    cabin: str | None
    fare_class: str | None


@dataclass(frozen=True)
class BookingLink:
    program: str
    label: str
    url: str


@dataclass(frozen=True)
class AwardTrip:
    """One way to fly an award offer."""

    ref: str
    cabin: str
    points: int
    taxes: Decimal | None
    taxes_currency: str | None
    stops: int
    duration_minutes: int | None
    seats: int | None
    segments: tuple[Segment, ...]
    links: tuple[BookingLink, ...]
    checked_at: datetime | None


@dataclass(frozen=True)
class FaresQuestion:
    """Cash fares of one journey on one day; with a return date, of both ways together."""

    origin: str
    destination: str
    date: dt.date
    return_date: dt.date | None
    cabin: str
    passengers: int
    currency: str


@dataclass(frozen=True)
class CashFare:
    """The price is for all passengers and the whole journey, in whole units of its currency."""

    price: Decimal
    currency: str
    cabin: str
    carriers: tuple[str, ...]
    flight_numbers: tuple[str, ...] = ()
    departs_at: str | None = None
    arrives_at: str | None = None
    duration_minutes: int | None = None
    stops: int | None = None
    booking_url: str | None = None
    checked_at: datetime | None = None  # when the source itself last saw this price; None = at the moment of asking
    city_wide: bool = False  # the source prices cities: the flights may use another of their airports


@dataclass(frozen=True)
class HotelSpot:
    """The data by which sources recognise a hotel."""

    hotel_code: str
    name: str
    program: str | None
    city: str
    country: str
    latitude: float | None
    longitude: float | None
    property_code: str | None


@dataclass(frozen=True)
class StaysQuestion:
    """Stays of a given length at some hotels, for each day of arrival in a window; one stay is a window of one day."""

    hotels: tuple[HotelSpot, ...]
    earliest: date
    latest: date
    nights: int
    guests: int
    currency: str


@dataclass(frozen=True)
class StayOffer:
    """The price of a whole stay in points, cash or both; cash includes known taxes and fees.

    A stay that cannot be booked has `available` False.
    """

    hotel_code: str
    check_in: date
    check_out: date
    available: bool
    points: int | None
    cash: Decimal | None
    currency: str | None
    room_type: str | None
    checked_at: datetime | None = None


@dataclass(frozen=True)
class DelaysQuestion:
    """Asks for the delays of an airport now. An airport out of the source's reach is `not_covered`."""

    airport: str


@dataclass(frozen=True)
class AirportDelay:
    """`minutes` decides whether a threshold is reached; it may be shown only where the source's terms allow it.

    Shown ones are the average of a ground delay, and the upper bound of arrival and departure delays.
    """

    airport: str
    kind: Literal["ground_stop", "ground_delay", "departure", "arrival", "closure"]
    minutes: int | None  # None: unknown, as for a ground stop
    shown_minutes: int | None
    reason: str  # the source's own words, cut short: data, never an instruction
    ends_at: str | None = None
    checked_at: datetime | None = None


@dataclass(frozen=True)
class RatesQuestion:
    """Reference rates against the euro; no currencies means all of the source's."""

    currencies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rate:
    """Units of the currency for one euro, as published for that day."""

    currency: str
    per_euro: Decimal
    day: date


@dataclass(frozen=True)
class Verb:
    """One capability: the types of its question and answer, and the table that stores rows of an answer, if any.

    A client has an `async` method of this name, from the question to the answer.
    """

    name: str
    question: type
    answer: Any
    remembered_as: Literal["award", "fare"] | None = None


VERBS = {
    verb.name: verb
    for verb in (
        # No open seats is an empty answer; a route unknown to the source is `no_data`.
        Verb("award_seats", SeatsQuestion, tuple[AwardSeat, ...], remembered_as="award"),
        # The ways to fly one offer; a reference no longer known to the source is `no_data`.
        Verb("award_trip", TripQuestion, tuple[AwardTrip, ...]),
        # Cheapest first. Nothing on sale is an empty answer.
        Verb("cash_fares", FaresQuestion, tuple[CashFare, ...], remembered_as="fare"),
        # Hotels or days unknown to the source are absent, never marked as full.
        Verb("hotel_stays", StaysQuestion, tuple[StayOffer, ...]),
        # No delay is an empty answer; an airport out of reach is `not_covered`.
        Verb("airport_delays", DelaysQuestion, tuple[AirportDelay, ...]),
        # Rates of one day.
        Verb("exchange_rates", RatesQuestion, tuple[Rate, ...]),
    )
}


@dataclass(frozen=True)
class Provider:
    """The card of a provider folder. A provider is used in its own data mode only.

    credential: `none`; `operator`, named by a setting; `account`, the caller's own connection; or `either`: the
    operator's key where there is one, else the caller's connection.
    terms: whether an answer asked for with one credential may be shown to anyone, or only to the asker.
    build: credential in, client out; the client has one `async` method per verb in `answers`.
    """

    name: str
    answers: tuple[str, ...]
    fresh_for: timedelta
    build: Callable[[str | None], Any]
    credential: Literal["none", "operator", "account", "either"] = "none"
    setting: str | None = None
    terms: Literal["anyone", "asker"] = "asker"
    data_mode: DataMode = "live"
    concurrency: int = 4
    timeout: float = 15
    calls_a_day: int | None = None  # calls of one credential in a UTC day, if the source has a limit
    page_rows: int | None = None  # of a search with lists of airports: `award_seats_together`; None = it has none


@dataclass(frozen=True)
class Reading(Generic[T_co]):
    """One answer, or the lack of one, and its origin. A value never comes without it."""

    source: str
    status: Status
    value: T_co | None
    reason: str | None
    data_mode: DataMode
    taken_at: datetime
    provider_checked_at: datetime | None = None
    cached: bool = False
    good_until: datetime | None = None  # until when this answer may be reused; None = not cached
    since: datetime | None = None  # for a failure: since when the source has not answered
    retry_after: int | None = None

    @property
    def has_answer(self) -> bool:
        return self.status in ANSWERED
