"""schema.org FlightReservation and LodgingReservation items, as legs and stays."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from shared.domain.confirmations import prices
from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.model import NOT_CONFIRMED, Action, BookedLeg, BookedStay, Booking, Doubt, TravelFacts
from shared.domain.confirmations.phrases import find_cabin
from shared.domain.parsing.amounts import find_amounts
from shared.domain.parsing.text import fold

_MAX_DEPTH = 8
_MAX_ITEMS = 60
_MOMENT = re.compile(
    r"(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):?(\d{2})(?::?\d{2}(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)
_CODE = re.compile(r"[A-Z]{3}")
_RESERVATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]{1,24}", re.ASCII)
_FLIGHT = re.compile(r"\s*([A-Z][A-Z0-9]|[0-9][A-Z])?\s*-?0*(\d{1,4})[A-Z]?\s*", re.I)
Item = dict[str, Any]


def read_reservations(documents: list[Any], world: TravelFacts) -> tuple[list[Booking], list[Doubt]]:
    """What the reservations state; a reservation that is neither confirmed nor cancelled is a doubt."""
    reservations: list[Booking] = []
    doubts: list[Doubt] = []
    for item in _find_reservations(documents):
        status = _to_text(item.get("reservationStatus"))
        if re.search(r"pending|hold", status, re.I):
            doubts.append(NOT_CONFIRMED)
        action: Action = "cancel" if re.search(r"cancel", status, re.I) else "create"
        if _is_type(item, "FlightReservation"):
            reservations += [
                _read_leg(item, flight, action, world) for flight in _to_list(item.get("reservationFor"))[:12]
            ]
        elif _is_type(item, "LodgingReservation"):
            reservations.append(_read_stay(item, action, world))
    return _merge_travellers(reservations), doubts


def _find_reservations(node: Any, depth: int = 0) -> Iterator[Item]:
    """Every reservation of the documents, wherever it stands."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, list):
        for inner in node[:_MAX_ITEMS]:
            yield from _find_reservations(inner, depth + 1)
    elif isinstance(node, dict):
        if _is_type(node, "FlightReservation", "LodgingReservation"):
            yield node
        else:
            for inner in list(node.values())[:_MAX_ITEMS]:
                if isinstance(inner, dict | list):
                    yield from _find_reservations(inner, depth + 1)


def list_ticket_tokens(documents: list[Any]) -> list[str]:
    """The texts of the barcodes that reservations carry: "aztecCode:M1..."."""
    tokens: list[str] = []
    for item in _find_reservations(documents):
        for holder in (item, *(_to_dict(t) for t in _to_list(item.get("reservedTicket")))):
            token = _first_value(holder.get("ticketToken"))
            if isinstance(token, str) and len(tokens) < _MAX_ITEMS:
                tokens.append(re.sub(r"^\w+(?:[Cc]ode|[Bb]arcode|417):", "", token[:2000]))
    return tokens


def _is_type(item: Any, *names: str) -> bool:
    kinds = _to_list(item.get("@type") or item.get("type")) if isinstance(item, dict) else []
    return any(re.split(r"[/#:]", k)[-1] in names for k in kinds if isinstance(k, str))


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _first_value(value: Any) -> Any:
    return next(iter(_to_list(value)), None)


def _to_text(value: Any) -> str:
    """A text, also where it is wrapped in an object."""
    value = _first_value(value)
    if isinstance(value, dict):
        value = value.get("name") or value.get("@id") or value.get("@value") or value.get("value")
    return to_one_line(str(value), 200) if isinstance(value, str | int | float) and value is not True else ""


def _first(item: Item, *names: str) -> Any:
    return next((item[n] for n in names if item.get(n) not in (None, "", [])), None)


def _to_dict(value: Any) -> Item:
    value = _first_value(value)
    return value if isinstance(value, dict) else {"name": value} if isinstance(value, str) else {}


def _read_moment(value: Any, tz: str | None = None) -> tuple[date | None, time | None]:
    """Day and time as the place's own clock shows them; UTC moments are put on that clock where it is known."""
    match = _MOMENT.match(_to_text(value))
    if not match:
        return None, None
    year, month, day, hour, minute, zone = match.groups()
    try:
        if hour is None:
            return date(int(year), int(month), int(day)), None
        at = datetime(int(year), int(month), int(day), int(hour), int(minute))  # noqa: DTZ001 - a place's own clock
    except ValueError:
        return None, None
    if zone == "Z" and tz and (at.hour, at.minute) != (0, 0):
        at = at.replace(tzinfo=UTC).astimezone(ZoneInfo(tz)).replace(tzinfo=None)
    return at.date(), at.time()


def _read_number(item: Item) -> str | None:
    """Only text in the form of a booking number; a sentence is left out, and a person is asked."""
    text = _to_text(_first(item, "reservationNumber", "reservationId", "confirmationNumber"))
    text = text.lstrip("#")
    return text if _RESERVATION.fullmatch(text.replace(" ", "")) else None


def _read_price(item: Item) -> tuple[Decimal | None, str | None]:
    """The reservation's total and its currency, wherever of the usual places they stand."""
    holder = next(
        (h for h in (item, _to_dict(item.get("totalPaymentDue")), _to_dict(item.get("totalPrice"))) if _read_amount(h)),
        item,
    )
    currency = _to_text(_first(holder, "priceCurrency", "currency") or _first(item, "priceCurrency", "currency"))
    amount = _read_amount(holder)
    code = currency.upper() if _CODE.fullmatch(currency.upper()) else None
    if isinstance(item.get("totalPrice"), str) and (printed := next(find_amounts(item["totalPrice"][:60]), None)):
        amount, code = printed.value, code or printed.settle_currency(set())
    return (amount, code) if code and amount is not None else (None, None)


def _read_amount(item: Item) -> Decimal | None:
    value = _first(item, "totalPrice", "price", "value")
    return prices.parse_plain_number(str(value)) if isinstance(value, str | int | float) and value is not True else None


def _read_airport(value: Any, world: TravelFacts) -> str | None:
    """A code this world knows: stated as such, or in brackets behind a name."""
    item = _to_dict(value)
    for text in (_to_text(item.get("iataCode")), _to_text(item.get("identifier")), _to_text(item.get("name"))):
        code = text.strip().upper()
        if _CODE.fullmatch(code) and world.clock_of(code):
            return code
        if (match := re.search(r"\(([A-Z]{3})\)", text)) and world.clock_of(match[1]):
            return match[1]
    return None


def _read_flight_number(item: Item, flight: Item, world: TravelFacts) -> tuple[str | None, str | None]:
    """The airline's code, and the flight's number with it in front."""
    number = _FLIGHT.fullmatch(_to_text(flight.get("flightNumber")))
    named = _to_dict(_first(flight, "airline", "provider", "seller", "carrier") or _first(item, "provider", "airline"))
    code = _to_text(named.get("iataCode")).upper()
    if not re.fullmatch(r"[A-Z0-9]{2}", code):
        code = (number[1] or "").upper() if number else ""
    code = code or world.airline(_to_text(named.get("name"))) or ""
    if not code:
        return None, None
    return code, f"{(number[1] or code).upper()}{number[2]}" if number else None


def _read_leg(item: Item, value: Any, action: Action, world: TravelFacts) -> BookedLeg:
    flight = _to_dict(value)
    airline, number = _read_flight_number(item, flight, world)
    origin, destination = (_read_airport(flight.get(n), world) for n in ("departureAirport", "arrivalAirport"))
    departs = _read_moment(_first(flight, "departureTime", "departureDate"), world.clock_of(origin) if origin else None)
    arrives = _read_moment(flight.get("arrivalTime"), world.clock_of(destination) if destination else None)
    ticketed = _to_dict(_to_dict(item.get("reservedTicket")).get("ticketedSeat"))
    seats = (*(_first(h, "airplaneSeatClass", "bookingClass", "cabinClass") for h in (item, flight)), ticketed)
    seat = " ".join(_to_text(_first(s, "seatingType") if s is ticketed else s) for s in seats)
    cash, currency = _read_price(item)
    member = _first(item, "programMembershipUsed", "programMembership")
    program = world.program(_to_text(_first(_to_dict(member), "programName", "program", "name")))
    return BookedLeg(
        action=action,
        confirmation_number=_read_number(item),
        airline=airline,
        flight_number=number,
        origin=origin,
        destination=destination,
        departure_date=departs[0],
        departure_time=departs[1],
        arrival_date=arrives[0],
        arrival_time=arrives[1],
        cabin_class=find_cabin(fold(seat)) or world.only_cabin(airline or ""),
        program=program,
        cash_paid=cash,
        taxes_currency=currency,
        passengers=len({_to_text(p) for p in _to_list(item.get("underName")) if _to_text(p)}) or None,
    )


def _read_stay(item: Item, action: Action, world: TravelFacts) -> BookedStay:
    place = _to_dict(item.get("reservationFor"))
    name = to_one_line(_to_text(place.get("name")), 120) or None
    cash, currency = _read_price(item)
    room = _to_text(_first(item, "lodgingUnitType", "roomType", "lodgingUnitDescription"))
    return BookedStay(
        action=action,
        confirmation_number=_read_number(item),
        hotel_id=world.hotel(name) if name else None,
        hotel_name=name,
        check_in_date=_read_moment(_first(item, "checkinDate", "checkinTime", "checkInDate", "checkInTime"))[0],
        check_out_date=_read_moment(_first(item, "checkoutDate", "checkoutTime", "checkOutDate", "checkOutTime"))[0],
        cash_total=cash,
        cash_rate_currency=currency,
        room_type=room[:120] or None,
    )


def _merge_travellers(read_reservations: list[Booking]) -> list[Booking]:
    """One leg for each flight, however many travellers have a reservation of their own on it; stays each once."""
    legs: dict[Any, BookedLeg] = {}
    stays: dict[Any, BookedStay] = {}
    for b in read_reservations[:_MAX_ITEMS]:
        if isinstance(b, BookedStay):
            stays.setdefault((b.action, b.confirmation_number, b.hotel_name, b.check_in_date, b.check_out_date), b)
            continue
        key = (b.action, b.confirmation_number, b.flight_number, b.origin, b.destination, b.departure_date)
        leg = legs.get(key)
        if leg is None:
            legs[key] = b
        elif leg.passengers and b.passengers:
            legs[key] = replace(leg, passengers=leg.passengers + b.passengers)
    return [*legs.values(), *stays.values()]
