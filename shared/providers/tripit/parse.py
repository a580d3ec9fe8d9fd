"""TripIt's pages of trips go in, flights and stays come out; every scalar of theirs is text, one thing is no list."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from typing import Any

from shared.providers.connectors import Leg, Pulled, Stay

_CARRIER = re.compile(r"[A-Z0-9]{2}")
_AIRPORT = re.compile(r"[A-Z]{3}")
_NUMBER = re.compile(r"\d{1,4}[A-Z]?")
CABINS = {"economy": "economy", "premium economy": "premium_economy", "business": "business", "first": "first"}


def pages(document: Mapping[str, Any]) -> int:
    told = str(document.get("max_page", "1"))
    return int(told) if told.isdecimal() and len(told) < 4 else 1


def trips(documents: Sequence[Mapping[str, Any]]) -> Pulled:
    """All pages together; an object that stands on two pages counts once."""
    air = _unique(entry for d in documents for entry in _many(d.get("AirObject")))
    lodging = _unique(entry for d in documents for entry in _many(d.get("LodgingObject")))
    listed = _unique(entry for d in documents for entry in _many(d.get("Trip")))
    segments = [(entry, number, s) for entry in air for number, s in enumerate(_many(entry.get("Segment")), 1)]
    legs = [_leg(entry, number, segment) for entry, number, segment in segments]
    stays = [_stay(entry) for entry in lodging]
    return Pulled(
        legs=tuple(leg for leg in legs if leg),
        stays=tuple(stay for stay in stays if stay),
        trips=len(listed),
        unreadable=legs.count(None) + stays.count(None),
    )


def _many(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else [value]
    return [entry for entry in found if isinstance(entry, dict)]


def _unique(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({str(entry.get("id")): entry for entry in entries}.values())


def _leg(entry: Mapping[str, Any], number: int, segment: Mapping[str, Any]) -> Leg | None:
    carrier = _fit(_CARRIER, segment.get("marketing_airline_code"))
    origin, destination = (_fit(_AIRPORT, segment.get(f"{end}_airport_code")) for end in ("start", "end"))
    leaves, arrives = _when(segment.get("StartDateTime")), _when(segment.get("EndDateTime"))
    if not carrier or not origin or not destination or leaves[0] is None:
        return None
    flight = _fit(_NUMBER, segment.get("marketing_flight_number"))
    return Leg(
        ref=f"tripit:air:{_id(entry)}:{_id(segment) or number}",
        airline=carrier,
        flight_number=f"{carrier}{flight}" if flight else None,
        origin=origin,
        destination=destination,
        departure_date=leaves[0],
        departure_time=leaves[1],
        arrival_date=arrives[0],
        arrival_time=arrives[1],
        cabin=CABINS.get(str(segment.get("service_class", "")).strip().lower()),
        confirmation_number=_text(entry.get("supplier_conf_num"), 20),
    )


def _stay(entry: Mapping[str, Any]) -> Stay | None:
    (first, _), (last, _) = _when(entry.get("StartDateTime")), _when(entry.get("EndDateTime"))
    name = _text(entry.get("supplier_name"), 160) or _text(entry.get("display_name"), 160)
    if first is None or last is None or last <= first or not name:
        return None
    return Stay(f"tripit:lodging:{_id(entry)}", name, first, last, _text(entry.get("supplier_conf_num"), 20))


def _id(entry: Mapping[str, Any]) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "", str(entry.get("id", "")))[:40]


def _text(value: Any, most: int) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text[:most] or None


def _fit(pattern: re.Pattern[str], value: Any) -> str | None:
    text = str(value or "").strip().upper()
    return text if pattern.fullmatch(text) else None


def _when(value: Any) -> tuple[date | None, time | None]:
    """Local to its place, as they tell it."""
    told = value if isinstance(value, dict) else {}
    try:
        day = date.fromisoformat(str(told["date"]))
    except (KeyError, ValueError):
        return None, None
    try:
        return day, time.fromisoformat(str(told["time"])).replace(tzinfo=None)
    except (KeyError, ValueError):
        return day, None
