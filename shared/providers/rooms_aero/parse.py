"""Parser of rooms.aero's rows: the stays of hotels we recognise. A price of 0 means that it is not known."""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from shared.domain import hotel_match
from shared.domain.minor_units import from_minor_units
from shared.domain.names import normalize_name
from shared.providers.contract import HotelSpot, StayOffer, Unanswered

log = logging.getLogger(__name__)
ROOM = "standard room"
_PROGRAMS = {
    "choice": "choice-privileges",
    "hilton": "hilton-honors",
    "hyatt": "world-of-hyatt",
    "ihg": "ihg-one-rewards",
    "iprefer": "i-prefer-hotel-rewards",
    "marriott": "marriott-bonvoy",
    "wyndham": "wyndham-rewards",
}
_SOURCES = {program: source for source, program in _PROGRAMS.items()}


def source_name(program: str | None) -> str | None:
    """Their word for a programme of ours."""
    return _SOURCES.get(program or "")


def parse_page(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    answer = json.loads(body)
    rows = answer["data"] or []
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError
    return rows, bool(answer.get("has_more"))


def parse_stays(
    rows: Iterable[dict[str, Any]], hotels: Sequence[HotelSpot], first: date, last: date, nights: int
) -> tuple[StayOffer, ...]:
    """What is known of stays beginning in the window. A hotel that two rows could mean is left out."""
    listed: dict[str, list[tuple[hotel_match.ListedHotel, dict[str, Any]]]] = {}
    passed: Counter[str] = Counter()
    for row in rows:
        try:
            hotel = row["hotel"]
            near = len(hotels) == 1 and hotels[0].latitude is not None  # the search was around this hotel alone
            one = hotel_match.ListedHotel(str(hotel["id"]), str(hotel["name"]), near=near)
            if hotel["source"] in _PROGRAMS:
                listed.setdefault(_PROGRAMS[hotel["source"]], []).append((one, row))
            else:
                passed["program"] += 1
        except (KeyError, TypeError):
            passed["shape"] += 1
    offers = [o for spot in hotels if (o := _find_offer(spot, listed.get(spot.program or "", []), first, last, nights))]
    if passed:
        log.warning("rooms_aero: passed over %s", ", ".join(f"{n} of unknown {what}" for what, n in passed.items()))
    if passed["shape"] and not listed:
        raise Unanswered("down", "wrong_shape")
    return tuple(offers)


def _find_offer(
    spot: HotelSpot,
    listed: Sequence[tuple[hotel_match.ListedHotel, dict[str, Any]]],
    first: date,
    last: date,
    nights: int,
) -> StayOffer | None:
    """The city and country their row names must be those of the hotel, as far as it names them."""
    here = [(one, row) for one, row in listed if _is_in_city(spot, row["hotel"]) or one.near]
    one = hotel_match.find_same_hotel(spot.name, spot.city, spot.latitude, spot.longitude, [one for one, _ in here])
    return _parse_stay(spot, next(row for o, row in here if o == one), first, last, nights) if one else None


def _is_in_city(spot: HotelSpot, hotel: dict[str, Any]) -> bool:
    theirs, ours = (normalize_name(str(text)) for text in (hotel.get("city") or "", spot.city))
    return not theirs or not ours or theirs in ours or ours in theirs


def _parse_stay(spot: HotelSpot, row: dict[str, Any], first: date, last: date, nights: int) -> StayOffer | None:
    day = date.fromisoformat(row["standard_date"][:10]) if row.get("standard_date") else None
    points, cents, currency = row.get("lowest_award_standard"), row.get("lowest_cash_standard"), row["currency_code"]
    if day is None or not first <= day <= last or row.get("standard_nights") != nights:
        return None
    if first != last:
        cents = None  # of a window the cheapest cash may be that of another day
    if not points and not cents:
        return None
    return StayOffer(
        hotel_code=spot.hotel_code,
        check_in=day,
        check_out=day + timedelta(days=nights),
        available=True,
        points=int(points) if points else None,
        cash=from_minor_units(int(cents), currency) if cents else None,
        currency=currency if cents else None,
        room_type=ROOM,
        checked_at=_parse_time(row.get("last_checked_at") or row["hotel"]["last_checked_at"]),
    )


def _parse_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
