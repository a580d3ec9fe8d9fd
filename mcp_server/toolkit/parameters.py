"""Typed parameters used by many tools: each carries its check, its schema and, where needed, its description."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, time
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from mcp_server.toolkit.argument_faults import WrongValue
from mcp_server.toolkit.argument_schema import PLACE, Schema
from shared.domain.names import normalize_name
from shared.domain.parsing.numbers import read_number
from shared.errors import Candidates, NotFound
from shared.reference import places
from shared.reference.countries import load_country_names
from shared.reference.load import reference
from shared.reference.own_programs import is_own

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LAST_YEAR = 9900  # far enough from the calendar's end that a window added to a day stays within it


def _parse_day(value: Any) -> date:
    if isinstance(value, date):
        return value
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("is not a date")
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise ValueError("is not a day of the calendar") from None
    if day.year > _LAST_YEAR:
        raise ValueError("is too far ahead")
    return day


def _parse_clearable_day(value: Any) -> date | Literal[""]:
    return "" if value == "" else _parse_day(value)


# A format says as much as the pattern in half the characters; the gate accepts no other form than YYYY-MM-DD.
Day = Annotated[date, BeforeValidator(_parse_day), WithJsonSchema({"type": "string", "format": "date"})]
ClearableDay = Annotated[
    date | Literal[""],
    BeforeValidator(_parse_clearable_day),
    WithJsonSchema({"type": "string", "format": "date"}),
]


def _check_month(value: str) -> str:
    """Raises ValueError for what is no month of the calendar."""
    try:
        _parse_day(f"{value}-01")
    except ValueError as fault:
        raise ValueError(str(fault).replace(" day ", " month ")) from None
    return value


Month = Annotated[str, Field(pattern=r"^\d{4}-\d{2}$"), AfterValidator(_check_month)]


def limit_length(most: int) -> AfterValidator:
    """Checks a length that the schema leaves out, as models read it in every conversation: no name is longer."""

    def check(value: str) -> str:
        if len(value) > most:
            raise WrongValue("is too long", f"text, up to {most} characters")
        return value

    return AfterValidator(check)


AIRPORT_ANY_CASE = r"^[A-Za-z]{3}$"
Airport = Annotated[str, Field(pattern=AIRPORT_ANY_CASE), AfterValidator(str.upper)]  # either case, stored upper


def _find_place(value: str) -> str:
    """Raises WrongValue with the candidates or the nearest names; the tool refuses unknown codes."""
    try:
        return places.find_code(reference(), value, for_flights=True)
    except Candidates as several:
        problem = f"can be {' or '.join(several.facts['candidates'])}"
        raise WrongValue(problem, "one of these codes") from None
    except NotFound as unknown:
        near = ", ".join(unknown.facts["nearest"])
        problem = "is no known airport or city" + (f"; nearest: {near}" if near else "")
        raise WrongValue(problem, "an airport or a city by its code or name") from None


# An airport or a city by code or name, where the specification has no pattern; the tool gets the code.
AirportOrCity = Annotated[str, limit_length(60), AfterValidator(_find_place), PLACE]
AirportCapitals = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


def _take_place_name(value: Any) -> Any:
    """The code of the only place with this name; anything else as it is, for the pattern to judge."""
    if not isinstance(value, str) or not re.fullmatch(r"[^\W\d_][\w .'-]{3,59}", value):
        return value
    try:
        return places.find_code(reference(), value, for_flights=True)
    except (Candidates, NotFound):
        return value


# Where the specification has the pattern: a code of either, to search flights for, or the name of one place.
SearchedAirport = Annotated[Airport, PLACE, BeforeValidator(_take_place_name)]
WatchedAirport = Annotated[AirportCapitals, PLACE, BeforeValidator(_take_place_name)]
Currency = Annotated[str, Field(pattern=AIRPORT_ANY_CASE), AfterValidator(str.upper)]
Cabin = Literal["economy", "premium_economy", "business", "first"]


def at_most(maximum: int) -> AfterValidator:
    """Checks a bound of the database that the schema leaves out: nothing can exist beyond it."""

    def check(value: int) -> int:
        if value > maximum:
            raise ValueError("is too large")
        return value

    return AfterValidator(check)


def _uuid(value: Any) -> UUID:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or len(value) != 36:
        raise ValueError("is not a UUID")
    try:
        return UUID(value)
    except ValueError:
        raise ValueError("is not a UUID") from None


Uuid = Annotated[UUID, BeforeValidator(_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Page = Annotated[int, Field(ge=1), at_most(10**9)]
PerPage = Annotated[int, Field(ge=1, le=100)]
RowId = Annotated[int, Field(ge=1), at_most(2**63 - 1)]
TripId = RowId
CardId = Annotated[RowId, Field(description="From list_my_cards.")]
FlightBookingId = Annotated[RowId, Field(description="From list_flight_bookings.")]
HotelBookingId = Annotated[RowId, Field(description="From list_hotel_bookings.")]
ClientId = Annotated[RowId, Field(description="From list_client_portfolios.")]
Points = Annotated[int, Field(ge=1), at_most(2**31 - 1)]
WHOLE = BeforeValidator(partial(read_number, is_whole=True))  # of a number within an object that no schema describes
Position = Annotated[int, Field(ge=0), at_most(10**6)]
Passengers = Annotated[int, Field(ge=1, le=9)]
LooseName = Annotated[str, Field(max_length=60)]


def _text_from_number(value: Any) -> Any:
    """Turns a number into text: numeric ids often come as numbers."""
    return str(value) if isinstance(value, int) else value


HotelName = Annotated[
    str,
    BeforeValidator(_text_from_number),
    StringConstraints(max_length=80),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": 80,
            "description": "From search_hotels.",
        }
    ),
]


def _check_member(name: str) -> str:
    if not name.strip():
        raise WrongValue("is empty", "a name, or leave it out for the user's own")
    return name


Member = Annotated[
    str,
    limit_length(60),
    AfterValidator(_check_member),
    Field(description="Whose; absent: the user's."),
]
OtherMember = Annotated[str, limit_length(60), Field(description="Whose; empty string: the user's own.")]
AnyName = Annotated[str, limit_length(200)]


def _strip_text(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


NOT_BLANK = AfterValidator(_strip_text)  # required text whose schema states no least length


def line(max_characters: int) -> Any:
    """Required text of one line: never blank, stripped of surrounding spaces."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=max_characters)


_MAX_MONEY, _CENT = Decimal(10) ** 11, Decimal("0.01")


def _parse_number(value: Any) -> Decimal | Literal[""]:
    value = read_number(value, is_whole=False)
    if value == "":
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or value != value:
        raise ValueError("is not a number")
    number = Decimal(str(value))
    if number < 0:
        raise ValueError("is too small")
    if number > _MAX_MONEY:
        raise ValueError("is too large")
    return number.quantize(_CENT, ROUND_HALF_UP)


def _parse_count(value: Any) -> int | Literal[""]:
    value = read_number(value, is_whole=True)
    number = _parse_number(value)
    if number == "":
        return ""
    if number != Decimal(str(value)) or number != int(number):
        raise ValueError("is not a whole number")
    return int(number)


def _parse_amount(value: Any) -> Decimal:
    if (number := _parse_number(value)) == "":
        raise ValueError("is empty")
    return number


Amount = Annotated[Decimal, BeforeValidator(_parse_amount), WithJsonSchema({"type": "number", "minimum": 0})]
WINDOWS = (1, 2, 3, 6, 12)


def _parse_window(value: Any) -> int | Literal[""]:
    number = _parse_count(value) if value in ("", *WINDOWS) else None
    if number is None:
        raise WrongValue("is not one of the values", f"one of {', '.join(map(str, WINDOWS))}")
    return number


# "Empty clears": a number, the same number as text, or an empty string. The schema only has the number: hosts were
# known to drop all tools of a server because of a list of types or an enum of numbers.
ClearableMoney = Annotated[
    Decimal | Literal[""], BeforeValidator(_parse_number), WithJsonSchema({"type": "number", "minimum": 0})
]
ClearableCount = Annotated[
    int | Literal[""], BeforeValidator(_parse_count), WithJsonSchema({"type": "integer", "minimum": 0})
]
ClearableWindow = Annotated[
    int | Literal[""],
    BeforeValidator(_parse_window),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 12, "description": "1, 2, 3, 6 or 12."}),
]


def open_object(names: Iterable[str], **kinds: str) -> WithJsonSchema:
    """A published object schema: the names a model may send, text unless `kinds` says otherwise.

    A host that holds a model to the schema would let it send nothing in an object without names. Others are accepted.
    """
    nodes = {name: {"type": kinds.get(name, "string")} for name in names}
    return WithJsonSchema({"type": "object", "properties": nodes})


@dataclass(frozen=True)
class Pairs:
    """A map whose keys no schema can name, published as a list of pairs; a map is read as well."""

    key: str
    value: str
    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> Schema:
        pair = {self.key: {"type": "string"}, self.value: {"type": self.kind}}
        return {"type": "array", "items": {"type": "object", "properties": pair}}

    def _read(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        entries = {}
        for at, pair in enumerate(value):
            if not isinstance(pair, dict) or pair.keys() != {self.key, self.value}:
                raise WrongValue("is not such a pair", f"{self.key} and {self.value}", place=f"[{at}]")
            if not isinstance(name := pair[self.key], str) or name in entries:
                raise WrongValue("is not text, or comes twice", "each name once", place=f"[{at}].{self.key}")
            entries[name] = pair[self.value]
        return entries


def iso_country(value: str) -> str:
    return {"UK": "GB"}.get(value.upper(), value.upper())


def _take_country_name(value: Any) -> Any:
    """The code of a country called by its name; what is no such name is the pattern's to refuse."""
    is_name = isinstance(value, str) and 2 < len(value) <= 60
    return load_country_names().get(normalize_name(value), value) if is_name else value


_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


def _parse_clock(value: Any) -> time:
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not _CLOCK.fullmatch(value):
        raise ValueError("is not a time of day")
    return time.fromisoformat(value)


Clock = Annotated[time, BeforeValidator(_parse_clock), WithJsonSchema({"type": "string", "pattern": r"^\d{2}:\d{2}$"})]

_COUNTRY_NAME = BeforeValidator(_take_country_name)
ClearableCountry = Annotated[str, Field(pattern=r"^([A-Za-z]{2})?$"), AfterValidator(iso_country), _COUNTRY_NAME]
Country = Annotated[str, Field(pattern="^[A-Za-z]{2}$"), AfterValidator(iso_country), _COUNTRY_NAME]

ProgramSlug = Literal[
    "accor-live-limitless",
    "aegean-miles-and-bonus",
    "aer-lingus-aerclub",
    "aeromexico-rewards",
    "air-canada-aeroplan",
    "american-airlines-aadvantage",
    "amex-membership-rewards",
    "amex-membership-rewards-uk",
    "ana-mileage-club",
    "atmos-rewards",
    "avianca-lifemiles",
    "best-western-rewards",
    "bilt-rewards",
    "british-airways-club",
    "capital-one-miles",
    "cathay-asia-miles",
    "chase-ultimate-rewards",
    "choice-privileges",
    "citi-thankyou-rewards",
    "copa-connectmiles",
    "delta-skymiles",
    "emirates-skywards",
    "etihad-guest",
    "eva-air-infinity-mileagelands",
    "finnair-plus",
    "flying-blue",
    "hilton-honors",
    "hsbc-premier-rewards-uk",
    "i-prefer-hotel-rewards",
    "iberia-club",
    "icelandair-saga-club",
    "ihg-one-rewards",
    "jal-mileage-bank",
    "jetblue-trueblue",
    "korean-air-skypass",
    "leading-hotels-leaders-club",
    "lufthansa-miles-and-more",
    "malaysia-airlines-enrich",
    "marriott-bonvoy",
    "qantas-frequent-flyer",
    "qatar-airways-privilege-club",
    "radisson-rewards",
    "rove-miles",
    "sas-eurobonus",
    "singapore-krisflyer",
    "southwest-rapid-rewards",
    "tap-miles-and-go",
    "thai-royal-orchid-plus",
    "turkish-miles-and-smiles",
    "united-mileageplus",
    "virgin-atlantic-flying-club",
    "virgin-australia-velocity",
    "virgin-red",
    "vueling-club",
    "wells-fargo-rewards",
    "world-of-hyatt",
    "wyndham-rewards",
]


def _take_other_slugs(value: Any, check: Callable[[Any], str]) -> str:
    """Accepts unpublished known slugs and a person's own too, and none if a name is sent."""
    is_other = isinstance(value, str) and (not value or is_own(value) or value in reference().programs)
    return value if is_other else check(value)


def _take_names(value: Any, check: Callable[[Any], str]) -> str:
    """Any name of programmes with data here, which the tool tells apart; also the name of one without."""
    name = value[:80] if isinstance(value, str) else ""
    is_known = reference().find_programs(name) or len(reference().find_outside_names(name)) == 1
    return name if is_known else check(value)


AnyProgramSlug = Annotated[ProgramSlug, WrapValidator(_take_other_slugs)]
AnyProgram = Annotated[AnyProgramSlug, WrapValidator(_take_names)]
