"""schema.org FlightReservation and LodgingReservation items, as legs and stays."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import (
    NOT_CONFIRMED,
    Action,
    BookedLeg,
    BookedStay,
    Booking,
    Doubt,
    TravelFacts,
)
from shared.domain.confirmations.phrases import find_cabin
from shared.domain.confirmations.schema_org_values import (
    Item,
    Moment,
    first_of,
    first_value,
    read_moment,
    read_points,
    read_price,
    settle_days,
    to_dict,
    to_list,
    to_text,
)
from shared.domain.parsing.text import fold

_MAX_DEPTH = 8
_MAX_ITEMS = 60
_CODE = re.compile(r"[A-Z]{3}")
_RESERVATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]{1,24}", re.ASCII)
_FLIGHT = re.compile(r"\s*([A-Z][A-Z0-9]|[0-9][A-Z])?\s*-?0*(\d{1,4})[A-Z]?\s*", re.I)
_OFFERS = ("Offer", "AggregateOffer", "DiscountOffer", "Product", "PromotionCard")  # what may be bought, not what was
_ARRIVAL_HOURS = (0, *range(11, 22))  # of a stay, in the hotel's own time
_LEAVING_HOURS = (0, *range(6, 15))


def read_reservations(
    documents: list[Any], world: TravelFacts, posted: date | None = None
) -> tuple[list[Booking], list[Doubt]]:
    """What the reservations state; a reservation that is neither confirmed nor cancelled is a doubt."""
    reservations: list[tuple[Booking, frozenset[str]]] = []
    doubts: list[Doubt] = []
    items = list(_find_reservations(documents))[:_MAX_ITEMS]
    dates = MailDates(fold(" ; ".join(_list_moments(items))), posted)
    for item in items:
        status = to_text(item.get("reservationStatus"))
        if re.search(r"pending|hold|wait", status, re.I):
            doubts.append(NOT_CONFIRMED)
        action: Action = (
            "cancel" if re.search(r"cancel", status, re.I) else "change" if _CHANGED.search(status) else "create"
        )
        names = frozenset(text for p in to_list(item.get("underName")) if (text := to_text(p)))
        if _is_type(item, "FlightReservation"):
            flights = to_list(item.get("reservationFor"))[:12]
            reservations += [(_read_leg(item, flight, action, dates, world), names) for flight in flights]
        else:
            reservations.append((_read_stay(item, action, dates, world), names))
    return _merge_travellers(reservations), list(dict.fromkeys(doubts))


_CHANGED = re.compile(r"chang|modif|rebook", re.I)


def _list_moments(items: list[Item]) -> list[str]:
    """All texts that may be moments, by which the order of day and month is found."""
    holders = [h for item in items for h in (item, *(to_dict(f) for f in to_list(item.get("reservationFor"))[:12]))]
    return [to_text(v)[:40] for h in holders for name, v in h.items() if re.search(r"time|date|day", name, re.I)]


def _find_reservations(node: Any, depth: int = 0) -> Iterator[Item]:
    """Every reservation of the documents, wherever it stands but in an offer."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, list):
        for inner in node[:_MAX_ITEMS]:
            yield from _find_reservations(inner, depth + 1)
    elif isinstance(node, dict) and not _is_type(node, *_OFFERS):
        if _is_type(node, "FlightReservation", "LodgingReservation"):
            yield node
            yield from _find_reservations(node.get("subReservation"), depth + 1)
        else:
            for inner in list(node.values())[:_MAX_ITEMS]:
                if isinstance(inner, dict | list):
                    yield from _find_reservations(inner, depth + 1)


def list_ticket_tokens(documents: list[Any]) -> list[str]:
    """The texts of the barcodes that reservations carry: "aztecCode:M1..."."""
    tokens: list[str] = []
    for item in _find_reservations(documents):
        for holder in (item, *(to_dict(t) for t in to_list(item.get("reservedTicket")))):
            token = first_value(holder.get("ticketToken"))
            if isinstance(token, str) and len(tokens) < _MAX_ITEMS:
                tokens.append(re.sub(r"^\w+(?:[Cc]ode|[Bb]arcode|417):", "", token[:2000]))
    return tokens


def _is_type(item: Any, *names: str) -> bool:
    kinds = to_list(item.get("@type") or item.get("type")) if isinstance(item, dict) else []
    return any(re.split(r"[/#:]", k)[-1] in names for k in kinds if isinstance(k, str))


def _read_number(item: Item) -> str | None:
    """Only text in the form of a booking number; a sentence is left out, and a person is asked."""
    text = to_text(first_of(item, "reservationNumber", "reservationId", "confirmationNumber"))
    text = text.lstrip("#")
    return text if _RESERVATION.fullmatch(text.replace(" ", "")) else None


def _read_airport(value: Any, world: TravelFacts) -> str | None:
    """A code this world knows: stated as such, or in brackets behind a name; else the one airport of its name."""
    item = to_dict(value)
    name = to_text(item.get("name"))
    for text in (to_text(item.get("iataCode")), to_text(item.get("identifier")), name):
        code = text.strip().upper()
        if _CODE.fullmatch(code) and world.clock_of(code):
            return code
        if (match := re.search(r"\(([A-Z]{3})\)", text)) and world.clock_of(match[1]):
            return match[1]
    city = to_text(to_dict(item.get("address")).get("addressLocality"))
    return world.airport(f"{name} {city}".strip()) if name else None


def _read_flight_number(item: Item, flight: Item, world: TravelFacts) -> tuple[str | None, str | None]:
    """The airline's code, and the flight's number with it in front."""
    number = _FLIGHT.fullmatch(to_text(flight.get("flightNumber")))
    named = to_dict(
        first_of(flight, "airline", "provider", "seller", "carrier") or first_of(item, "provider", "airline")
    )
    code = to_text(named.get("iataCode")).upper()
    if not re.fullmatch(r"[A-Z0-9]{2}", code):
        code = (number[1] or "").upper() if number else ""
    code = code or world.airline(to_text(named.get("name"))) or ""
    if not code:
        return None, None
    return code, f"{(number[1] or code).upper()}{number[2]}" if number else None


def _read_leg(item: Item, value: Any, action: Action, dates: MailDates, world: TravelFacts) -> BookedLeg:
    flight = to_dict(value)
    airline, number = _read_flight_number(item, flight, world)
    origin, destination = (_read_airport(flight.get(n), world) for n in ("departureAirport", "arrivalAirport"))
    departs, arrives = (
        _read_end(flight, end, dates, world.clock_of(airport) if airport else None)
        for end, airport in (("departure", origin), ("arrival", destination))
    )
    ticketed = to_dict(to_dict(item.get("reservedTicket")).get("ticketedSeat"))
    seats = (*(first_of(h, "airplaneSeatClass", "bookingClass", "cabinClass") for h in (item, flight)), ticketed)
    seat = " ".join(to_text(first_of(s, "seatingType") if s is ticketed else s) for s in seats)
    cash, currency = read_price(item)
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
        points_spent=read_points(item),
        cash_paid=cash,
        taxes_currency=currency,
    )


def _read_end(flight: Item, end: str, dates: MailDates, clock: str | None) -> Moment:
    """Day and time of one end of a flight; the day may also stand on its own."""
    day = read_moment(first_of(flight, f"{end}Day", f"{end}Date"), dates, clock)
    return settle_days(read_moment(flight.get(f"{end}Time"), dates, clock), (day[0], None))


def _read_stay(item: Item, action: Action, dates: MailDates, world: TravelFacts) -> BookedStay:
    place = to_dict(item.get("reservationFor"))
    name = to_one_line(to_text(place.get("name")), 120) or None
    cash, currency = read_price(item)
    room = to_text(first_of(item, "lodgingUnitType", "roomType", "lodgingUnitDescription"))
    arrives = first_of(item, "checkinDate", "checkinTime", "checkInDate", "checkInTime")
    leaves = first_of(item, "checkoutDate", "checkoutTime", "checkOutDate", "checkOutTime")
    return BookedStay(
        action=action,
        confirmation_number=_read_number(item),
        hotel_id=world.hotel(name) if name else None,
        hotel_name=name,
        check_in_date=_read_night(arrives, dates, _ARRIVAL_HOURS),
        check_out_date=_read_night(leaves, dates, _LEAVING_HOURS),
        original_points=read_points(item),
        cash_total=cash,
        cash_rate_currency=currency,
        room_type=room[:120] or None,
    )


def _read_night(value: Any, dates: MailDates, hours: tuple[int, ...]) -> date | None:
    """The day of a stay. One in UTC is the hotel's own where its hour is one at which guests come or leave."""
    text = to_text(value)
    if not text.endswith("Z"):
        return read_moment(value, dates)[0]
    day, clock_time = read_moment(text.removesuffix("Z"), dates)
    return day if clock_time is None or clock_time.hour in hours else None


def _merge_travellers(reservations: list[tuple[Booking, frozenset[str]]]) -> list[Booking]:
    """One leg for each flight, however many travellers have a reservation of their own on it; stays each once."""
    legs: dict[Any, tuple[BookedLeg, frozenset[str]]] = {}
    stays: dict[Any, BookedStay] = {}
    for b, names in reservations[:_MAX_ITEMS]:
        if isinstance(b, BookedStay):
            stays.setdefault((b.action, b.confirmation_number, b.hotel_name, b.check_in_date, b.check_out_date), b)
            continue
        key = (b.action, b.confirmation_number, b.flight_number, b.origin, b.destination, b.departure_date)
        leg, others = legs.get(key, (b, frozenset()))
        legs[key] = (leg, others | names)
    return [*(replace(leg, passengers=len(names) or None) for leg, names in legs.values()), *stays.values()]
