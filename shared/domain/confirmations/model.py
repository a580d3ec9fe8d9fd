"""Data classes of a confirmation: legs, stays and prices, with None for whatever the mail does not state clearly."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import date, time
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol

from shared.domain.possible_flights import Route

Action = Literal["create", "change", "cancel"]  # a change states how the booking is from now on
Source = Literal["jsonld", "microdata", "text", "none"]


@dataclass(frozen=True)
class Doubt:
    """A reason for a person to look before anything is stored.

    `field` is a field of a booking (its value is then None), or a state of the whole: "not_confirmed",
    "attached_file_not_read". `reason` is a plain sentence. `values` are what the parts of the mail state, as JSON keeps
    them, where they contradict each other. `about` is the flight or the hotel meant.
    """

    field: str
    reason: str = ""
    values: tuple[Any, ...] = ()
    about: str = ""


NOT_CONFIRMED = Doubt("not_confirmed", "The letter says that the booking is not confirmed yet.")
PARTLY_CANCELLED = Doubt("action", "The letter cancels a part of the booking.")


@dataclass(frozen=True)
class UnreadFile:
    """An attached file that was not read: its name as the mail gives it, and why, as a plain clause."""

    name: str
    reason: str


class Sender(NamedTuple):
    """What the domain of a letter's sender tells: its airline, and the order of its dates in numbers."""

    airline: str | None
    order: str | None  # dmy or mdy


class TravelFacts(Protocol):
    """What reading a mail has to know: names of airlines, programmes and hotels, and airports with their clocks."""

    def clock_of(self, airport: str) -> str | None:
        """The time zone of an airport code; None for what is no airport."""

    def airport(self, text: str) -> str | None:
        """The one airport all of whose name and city stand in the text."""

    def places(self, text: str) -> Iterable[tuple[int, int, frozenset[str]]]:
        """Start, end and possible airports of each city or airport named in a line."""

    def is_served(self, airport: str) -> bool:
        """Whether an airline is known to fly there."""

    def flies(self, airline: str, origin: str, destination: str) -> bool:
        """Whether the airline is known to fly there without a stop."""

    def flies_to(self, airline: str, airport: str) -> bool:
        """Whether any flight of the airline there is known."""

    def is_at_home(self, airline: str, airport: str) -> bool:
        """Whether the airport is in the airline's country or common market: it may fly to any airport there."""

    def route(self, origin: str, destination: str) -> Route | None:
        """The airports with their clocks and the miles between them."""

    def airline(self, text: str) -> str | None: ...

    def by_icao(self, code: str) -> str | None:
        """The airline of a three-letter code."""

    def only_cabin(self, airline: str) -> str | None:
        """The cabin of an airline that has no other; such mails do not name it."""

    def sender(self, domain: str) -> Sender | None:
        """Who sends letters from a domain. It only helps: a letter says most of it itself."""

    def dollars(self, amount: Decimal, currency: str) -> Decimal | None:
        """An amount in US dollars; None without a rate of its currency."""

    def program(self, text: str) -> str | None: ...

    def programs_named(self, text: str) -> list[frozenset[str]]:
        """The programmes a longer text speaks of, each with all it can mean."""

    def is_outside(self, text: str) -> bool:
        """Whether a name is that of a programme of which nothing more is known."""

    def program_of(self, airline: str) -> str | None: ...

    def hotel(self, text: str) -> str | None:
        """The one known hotel a name means."""

    def country_of_airline(self, airline: str) -> str | None: ...

    def country_of_airport(self, airport: str) -> str | None: ...

    def country_of_hotel(self, hotel: str) -> str | None: ...


@dataclass
class BookedLeg:
    """One flight of a confirmation. Times are local to their airport."""

    action: Action = "create"
    confirmation_number: str | None = None
    airline: str | None = None
    flight_number: str | None = None
    origin: str | None = None
    destination: str | None = None
    departure_date: date | None = None
    departure_time: time | None = None
    arrival_date: date | None = None
    arrival_time: time | None = None
    cabin_class: str | None = None
    kind: str | None = None
    program: str | None = None
    points_spent: int | None = None
    cash_paid: Decimal | None = None
    taxes_paid: Decimal | None = None
    taxes_currency: str | None = None
    passengers: int | None = None
    doubts: list[Doubt] = field(default_factory=list)

    type = "flight"
    needed = ("airline", "origin", "destination", "departure_date", "cabin_class", "kind", "confirmation_number")


@dataclass
class BookedStay:
    """One stay. `hotel_id` is the known hotel its name means; None for any other hotel."""

    action: Action = "create"
    confirmation_number: str | None = None
    hotel_id: str | None = None
    hotel_name: str | None = None
    check_in_date: date | None = None
    check_out_date: date | None = None
    kind: str | None = None
    original_points: int | None = None
    cash_total: Decimal | None = None
    cash_rate_currency: str | None = None
    room_type: str | None = None
    free_cancellation_until: date | None = None
    doubts: list[Doubt] = field(default_factory=list)

    type = "hotel"
    needed = ("hotel_name", "check_in_date", "check_out_date", "kind", "confirmation_number")


Booking = BookedLeg | BookedStay


@dataclass
class MailPrice:
    """What the mail as a whole says was paid. A currency is None where the sign of its amount can mean several."""

    points: int | None = None
    program: str | None = None
    outside: bool = False  # the points are called those of a programme of which nothing more is known
    cash: Decimal | None = None
    currency: str | None = None
    taxes: Decimal | None = None
    taxes_currency: str | None = None
    award: bool = False  # the letter speaks of an award
    both: bool = False  # the letter speaks of a price in points and money
    currencies: tuple[str, ...] = ()  # what the sign of `cash` can stand for
    tax_currencies: tuple[str, ...] = ()
    nightly_points: list[int] = field(default_factory=list)
    per_person: list[int] = field(default_factory=list)  # points of one traveller
    repeated: bool = False  # the points stand more than once and are not called a total
    of_ticket: bool = False  # `cash` is called the price of a ticket, which may be that of one traveller
    of_extra: bool = False  # the money is for a seat, a bag, a change or the like, and not for a flight
    doubts: list[Doubt] = field(default_factory=list)  # "kind", "cash" or "taxes_paid"


@dataclass(frozen=True)
class StatedBalance:
    """What a programme's statement says the person has. None where the letter leaves it open: `programs` and `amounts`
    are what it can mean."""

    program: str | None
    points: int | None
    as_of: date | None
    programs: list[str]
    amounts: list[int]
    expires_on: date | None = None  # of all of it


@dataclass
class MailReading:
    """All a mail states: bookings of any kinds, what is doubtful about the mail as a whole, and what was not read."""

    source: Source = "none"
    forwarded: bool = False
    bookings: list[Booking] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    unread: list[UnreadFile] = field(default_factory=list)
    posted: date | None = None  # the day the letter was written
    balance: StatedBalance | None = None  # of a letter without a booking
    other: str = ""  # what a letter without a booking is about, where that is certain: "a train"
    excerpt: list[str] = field(default_factory=list)  # lines about what is missing, as the letter has them

    @property
    def all_doubts(self) -> list[Doubt]:
        """The doubts about the mail and about each of its bookings, each once."""
        return list(dict.fromkeys([*self.doubts, *(d for b in self.bookings for d in b.doubts)]))

    @property
    def missing(self) -> list[str]:
        """What has to be known before the bookings can be stored, each once, in order."""
        if self.balance:
            fields = {"program": self.balance.program, "balance": self.balance.points}
            return [name for name, value in fields.items() if value is None]
        doubtful = [d.field for d in self.all_doubts]
        return list(dict.fromkeys([m for b in self.bookings for m in list_missing(b)] + doubtful))

    @property
    def confidence(self) -> float:
        """Share of the needed fields that were read, times the reliability of their source."""
        if not self.bookings:
            return 0.0
        needed = sum(len(_list_needed(b)) for b in self.bookings)
        lacking = sum(len(list_missing(b)) for b in self.bookings)
        form = {"jsonld": 1.0, "microdata": 0.95, "text": 0.85, "none": 0.0}[self.source]
        return round(form * (1 - lacking / needed) * (0.5 if self.all_doubts else 1), 2)


def _list_needed(booking: Booking) -> tuple[str, ...]:
    if booking.action == "cancel":
        return ("confirmation_number",)
    unchanged = ("cabin_class", "kind") if booking.action == "change" else ()  # such letters seldom repeat it
    return tuple(name for name in booking.needed if name not in unchanged)


def list_missing(booking: Booking) -> list[str]:
    """What a booking needs and the mail does not say; a cancellation needs its number alone."""
    return [name for name in _list_needed(booking) if getattr(booking, name) is None]


def to_json(booking: Booking) -> dict[str, Any]:
    """The booking as it can be kept as JSON; what is unknown is left out, and so are its doubts."""
    out: dict[str, Any] = {"type": booking.type}
    for f in (f for f in fields(booking) if f.name != "doubts"):
        value = getattr(booking, f.name)
        if value is not None:
            out[f.name] = _to_json_value(value)
    return out


def _to_json_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return value.isoformat() if isinstance(value, date) else value


def to_plain_balance(stated: StatedBalance) -> dict[str, Any]:
    """The balance as it can be kept as JSON, by the names of the tool that saves one."""
    return {
        "program": stated.program,
        "balance": stated.points,
        "as_of": stated.as_of and stated.as_of.isoformat(),
        "expires_on": stated.expires_on and stated.expires_on.isoformat(),
        "programs": stated.programs,
        "amounts": stated.amounts,
    }
