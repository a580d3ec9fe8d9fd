"""Parser of TripIt's trips. Every scalar of theirs is text, and a list of one element is that element."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from typing import Any

from shared.providers.connectors import Leg, Pulled, Stay

_CARRIER = re.compile(r"[A-Z0-9]{2}")
_AIRPORT = re.compile(r"[A-Z]{3}")
_NUMBER = re.compile(r"\d{1,4}[A-Z]?")
CABINS = {"economy": "economy", "premium economy": "premium_economy", "business": "business", "first": "first"}


def count_pages(document: Mapping[str, Any]) -> int:
    text = str(document.get("max_page", "1"))
    return int(text) if text.isdecimal() and len(text) < 4 else 1


def parse_trips(documents: Sequence[Mapping[str, Any]]) -> Pulled:
    """All pages together; an object that stands on two pages counts once."""
    air = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("AirObject")))
    lodging = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("LodgingObject")))
    listed = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("Trip")))
    segments = [(entry, number, s) for entry in air for number, s in enumerate(_list_objects(entry.get("Segment")), 1)]
    legs = [_parse_leg(entry, number, segment) for entry, number, segment in segments]
    stays = [_parse_stay(entry) for entry in lodging]
    return Pulled(
        legs=tuple(leg for leg in legs if leg),
        stays=tuple(stay for stay in stays if stay),
        trips=len(listed),
        unreadable=legs.count(None) + stays.count(None),
    )


def _list_objects(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [entry for entry in values if isinstance(entry, dict)]


def _drop_duplicates(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({str(entry.get("id")): entry for entry in entries}.values())


def _parse_leg(entry: Mapping[str, Any], number: int, segment: Mapping[str, Any]) -> Leg | None:
    carrier = _match_text(_CARRIER, segment.get("marketing_airline_code"))
    origin, destination = (_match_text(_AIRPORT, segment.get(f"{end}_airport_code")) for end in ("start", "end"))
    leaves, arrives = _parse_time(segment.get("StartDateTime")), _parse_time(segment.get("EndDateTime"))
    if not carrier or not origin or not destination or leaves[0] is None:
        return None
    flight = _match_text(_NUMBER, segment.get("marketing_flight_number"))
    return Leg(
        ref=f"tripit:air:{_clean_id(entry)}:{_clean_id(segment) or number}",
        airline=carrier,
        flight_number=f"{carrier}{flight}" if flight else None,
        origin=origin,
        destination=destination,
        departure_date=leaves[0],
        departure_time=leaves[1],
        arrival_date=arrives[0],
        arrival_time=arrives[1],
        cabin=CABINS.get(str(segment.get("service_class", "")).strip().lower()),
        confirmation_number=_clean_text(entry.get("supplier_conf_num"), 20),
    )


def _parse_stay(entry: Mapping[str, Any]) -> Stay | None:
    (first, _), (last, _) = _parse_time(entry.get("StartDateTime")), _parse_time(entry.get("EndDateTime"))
    name = _clean_text(entry.get("supplier_name"), 160) or _clean_text(entry.get("display_name"), 160)
    if first is None or last is None or last <= first or not name:
        return None
    return Stay(
        f"tripit:lodging:{_clean_id(entry)}", name, first, last, _clean_text(entry.get("supplier_conf_num"), 20)
    )


def _clean_id(entry: Mapping[str, Any]) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "", str(entry.get("id", "")))[:40]


def _clean_text(value: Any, most: int) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text[:most] or None


def _match_text(pattern: re.Pattern[str], value: Any) -> str | None:
    text = str(value or "").strip().upper()
    return text if pattern.fullmatch(text) else None


def _parse_time(value: Any) -> tuple[date | None, time | None]:
    """Local to its place, as they tell it."""
    fields = value if isinstance(value, dict) else {}
    try:
        day = date.fromisoformat(str(fields["date"]))
    except (KeyError, ValueError):
        return None, None
    try:
        return day, time.fromisoformat(str(fields["time"])).replace(tzinfo=None)
    except (KeyError, ValueError):
        return day, None
