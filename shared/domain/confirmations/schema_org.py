"""schema.org FlightReservation and LodgingReservation items, as legs and stays."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.domain.confirmations import prices
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
from shared.domain.confirmations.place_choice import (
    Places,
    doubt_places,
    narrow_to_home,
    narrow_to_network,
    narrow_to_times,
)
from shared.domain.parsing.amounts import find_amounts, parse_number
from shared.domain.parsing.dates import find_times
from shared.domain.parsing.text import fold

# Values in items of schema.org as mails write them: texts, lists, moments in several forms, prices and points.

Item = dict[str, Any]
Moment = tuple[date | None, time | None]
_ISO = re.compile(
    r"\s*((?:19|20)\d{2})-?(\d{2})-?(\d{2})(?!\d)"
    r"(?:[T ](\d{2}):?(\d{2})(?::?\d{2}(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)
_CODE = re.compile(r"[A-Z]{3}")
_UNIT = r"(?:miles?|points?|pts|avios|meilen|punkte|puntos|millas|pontos|milhas|punti|miglia)"
_POINTS = re.compile(rf"(\d[\d.,' ]{{0,14}})\s?(?:[a-z][a-z+&'-]*\s){{0,3}}{_UNIT}\b")


def to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def first_value(value: Any) -> Any:
    return next(iter(to_list(value)), None)


def to_text(value: Any) -> str:
    """A text, also where it is wrapped in an object."""
    value = first_value(value)
    if isinstance(value, dict):
        value = value.get("name") or value.get("@id") or value.get("@value") or value.get("value")
    return to_one_line(str(value), 200) if isinstance(value, str | int | float) and value is not True else ""


def first_of(item: Item, *names: str) -> Any:
    return next((item[n] for n in names if item.get(n) not in (None, "", [])), None)


def to_dict(value: Any) -> Item:
    value = first_value(value)
    return value if isinstance(value, dict) else {"name": value} if isinstance(value, str) else {}


def read_moment(value: Any, dates: MailDates, clock: str | None = None) -> Moment:
    """Day and time as the place's own clock shows them; what the text does not settle is None."""
    text = to_text(value)
    if match := _ISO.match(text):
        return _read_iso(match, clock)
    small = fold(text)
    day = dates.first(small)
    times = list(find_times(small[day.end :])) if day else []
    return (day.day, times[0] if len(times) == 1 else None) if day and day.day else (None, None)


def _read_iso(match: re.Match[str], clock: str | None) -> Moment:
    year, month, day, hour, minute, zone = match.groups()
    try:
        at = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0))  # noqa: DTZ001 - local
        if hour is None or (zone == "Z" and (at.hour, at.minute) == (0, 0)):  # a day written as a moment
            return at.date(), None
        return _settle_zone(at, zone, clock) if zone else (at.date(), at.time())
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None, None


def _settle_zone(at: datetime, zone: str, clock: str | None) -> Moment:
    """A moment in UTC on the clock of the place. Another zone than the place's may be wrong or be meant: then only what
    both readings share is certain."""
    if clock is None:
        return (None, None) if zone == "Z" else (at.date(), at.time())
    local = datetime.fromisoformat(at.isoformat() + zone).astimezone(UTC).astimezone(ZoneInfo(clock))
    local = local.replace(tzinfo=None)
    if zone == "Z" or local == at:
        return local.date(), local.time()
    return (at.date() if local.date() == at.date() else None), None


def settle_days(stated: Moment, day: Moment) -> Moment:
    """A moment and a day stated next to it; when they differ, neither is certain."""
    if stated[0] and day[0] and stated[0] != day[0]:
        return None, stated[1]
    return stated[0] or day[0], stated[1]


def read_price(item: Item) -> tuple[Decimal | None, str | None]:
    """The reservation's total and its currency, wherever of the usual places they stand."""
    holder = next(
        (h for h in (item, to_dict(item.get("totalPaymentDue")), to_dict(item.get("totalPrice"))) if _read_amount(h)),
        item,
    )
    currency = to_text(first_of(holder, "priceCurrency", "currency") or first_of(item, "priceCurrency", "currency"))
    amount = _read_amount(holder)
    code = currency.upper() if _CODE.fullmatch(currency.upper()) and currency.upper() != "PTS" else None
    if isinstance(item.get("totalPrice"), str):
        text = item["totalPrice"][:60]
        if printed := next(find_amounts(text), None):
            amount, code = printed.value, code or printed.settle_currency(set())
        elif _POINTS.search(fold(text)):
            return None, None
    return (amount, code) if code and amount is not None else (None, None)


def read_points(item: Item) -> int | None:
    """The points a reservation says it cost: "60000 miles", or a number whose currency is miles."""
    texts = [to_text(item.get(name)) for name in ("totalPrice", "price")]
    currency = fold(to_text(first_of(item, "priceCurrency", "currency")))
    for text in texts:
        small = f"{fold(text)} {currency if re.fullmatch(_UNIT, currency) else ''}"
        if (match := _POINTS.search(small)) and (value := parse_number(match[1].strip(" .,'"))) is not None:
            return int(value) if value == int(value) and value >= 100 else None
    return None


def _read_amount(item: Item) -> Decimal | None:
    value = first_of(item, "totalPrice", "price", "value")
    return prices.parse_plain_number(str(value)) if isinstance(value, str | int | float) and value is not True else None


_MAX_DEPTH = 8
_MAX_ITEMS = 60
_RESERVATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]{1,24}", re.ASCII)
_FLIGHT = re.compile(r"\s*([A-Z][A-Z0-9]|[0-9][A-Z])?\s*-?0*(\d{1,4})[A-Z]?\s*", re.I)
_HOUR_IN_UTC = re.compile(r"T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)$")
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
        if status and not _SETTLED.search(status):
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


def says_confirmed(documents: list[Any]) -> bool:
    """Whether the reservations state that they are confirmed; a page without a status says nothing of it."""
    states = [to_text(item.get("reservationStatus")) for item in list(_find_reservations(documents))[:_MAX_ITEMS]]
    return any(re.search(r"confirm", status, re.I) and not _OPEN.search(status) for status in states)


_CHANGED = re.compile(r"chang|modif|rebook", re.I)
_OPEN = re.compile(r"\bnot|un|pending|await|wait|hold", re.I)
_SETTLED = re.compile(
    rf"^(?!.*(?:{_OPEN.pattern})).*(?:confirm|cancel|complete|ticketed|booked|{_CHANGED.pattern})", re.I
)


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
    """Reads only text in the form of a booking number; a sentence is left out, and a person is asked."""
    text = to_text(first_of(item, "reservationNumber", "reservationId", "confirmationNumber"))
    text = text.lstrip("#")
    return text if _RESERVATION.fullmatch(text.replace(" ", "")) else None


def _read_airports(value: Any, world: TravelFacts) -> frozenset[str]:
    """A code this world knows: stated as such, or in brackets behind a name; else the airports of its name."""
    item = to_dict(value)
    name = to_text(item.get("name"))
    for text in (to_text(item.get("iataCode")), to_text(item.get("identifier")), name):
        code = text.strip().upper()
        if _CODE.fullmatch(code) and world.clock_of(code):
            return frozenset((code,))
        if (match := re.search(r"\(([A-Z]{3})\)", text)) and world.clock_of(match[1]):
            return frozenset((match[1],))
    city = to_text(to_dict(item.get("address")).get("addressLocality"))
    if airport := world.airport(f"{name} {city}".strip()) if name else None:
        return frozenset((airport,))
    named = {codes for _, _, codes in world.places(name)} if name else set()
    return named.pop() if len(named) == 1 else frozenset()


def _choose_airports(flight: Item, airline: str | None, dates: MailDates, world: TravelFacts) -> Places:
    """The airports of both ends; of those that share a name the ones its times and its airline's network leave."""
    places: Places = tuple(_read_airports(flight.get(name), world) for name in ("departureAirport", "arrivalAirport"))
    departs, arrives = (_read_end(flight, end, dates, None) for end in ("departure", "arrival"))
    if departs[0] and departs[1] and arrives[1] and all(places):
        places = narrow_to_times(places, (departs[0], departs[1]), arrives[1], arrives[0], world)
        places = narrow_to_home(airline or "", places, world)
    return narrow_to_network(airline or "", places, world) if all(places) else places


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
    places = _choose_airports(flight, airline, dates, world)
    origin, destination = (next(iter(codes)) if len(codes) == 1 else None for codes in places)
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
        doubts=list(doubt_places(places, number or "")),
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
    days = {"check_in_date": _read_night(arrives, dates, _ARRIVAL_HOURS)}
    days["check_out_date"] = _read_night(leaves, dates, _LEAVING_HOURS)
    if _are_midnights(to_text(arrives), to_text(leaves)):
        days = dict.fromkeys(days)
    doubts: list[Doubt] = []
    for (field, day), value in zip(days.items(), (arrives, leaves), strict=True):
        start, clock = read_moment(to_text(value).removesuffix("Z"), dates)
        if day is None and start and clock and _HOUR_IN_UTC.search(to_text(value)):
            moments = (datetime.combine(start, clock) + timedelta(hours=hours) for hours in (-11, 14))
            near = sorted({moment.date().isoformat() for moment in moments})  # somewhere on earth
            doubts.append(Doubt(field, _IN_UTC, tuple(near), name or ""))
    return BookedStay(
        action=action,
        confirmation_number=_read_number(item),
        hotel_id=world.hotel(name) if name else None,
        hotel_name=name,
        check_in_date=days["check_in_date"],
        check_out_date=days["check_out_date"],
        doubts=doubts,
        original_points=read_points(item),
        cash_total=cash,
        cash_rate_currency=currency,
        room_type=room[:120] or None,
    )


_IN_UTC = "The day is written as a moment in UTC, which may be of another day at the hotel."


def _are_midnights(arrives: str, leaves: str) -> bool:
    """Whether both days of a stay stand as one hour of UTC: no guest comes and leaves at the same hour, so that it is
    midnight at the hotel, whose clock is not known."""
    hours = [match[1] for text in (arrives, leaves) if (match := _HOUR_IN_UTC.search(text))]
    return len(hours) == 2 and hours[0] == hours[1] != "00:00"


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
