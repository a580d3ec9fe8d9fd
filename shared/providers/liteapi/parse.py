"""LiteAPI's answers: bytes go in, the hotel that is meant, or what stays cost, comes out."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from shared.domain import hotel_match
from shared.providers.contract import HotelSpot, StayOffer, Unanswered

NOTHING_LEFT = 2001  # their code of an answer without rooms
LABEL = 80


def _read(body: bytes) -> Any:
    return json.loads(body, parse_float=Decimal)


def find(body: bytes, hotel: HotelSpot) -> str | None:
    """Their name of a hotel of ours, if exactly one of those listed can be it."""
    rows = _read(body)["data"] or []
    listed = [
        hotel_match.ListedHotel(
            str(row["id"]), str(row["name"]), _degrees(row.get("latitude")), _degrees(row.get("longitude"))
        )
        for row in rows
    ]
    one = hotel_match.find_same_hotel(hotel.name, hotel.city, hotel.latitude, hotel.longitude, listed)
    return one.key if one else None


def _degrees(given: Any) -> float | None:
    return float(given) if isinstance(given, int | float | Decimal) and given else None


def nothing_left(body: bytes) -> bool:
    try:
        error = _read(body)["error"]
        return bool(error["code"] == NOTHING_LEFT)
    except (ValueError, KeyError, TypeError):
        return False


def offers(body: bytes, theirs: Mapping[str, str], day: date, nights: int) -> tuple[StayOffer, ...]:
    """The cheapest room of each hotel, with what is paid on the spot. A hotel without rates is absent: others may
    still sell it."""
    if nothing_left(body):
        return ()
    told = _read(body)
    if told.get("sandbox"):
        raise Unanswered("not_permitted", "test_data")
    found = []
    for hotel in told["data"] or []:
        rates = list(_rates(hotel))
        if hotel["hotelId"] in theirs and rates:
            found.append(_offer(theirs[hotel["hotelId"]], day, nights, *min(rates)))
        elif hotel["roomTypes"] and not rates:
            raise ValueError("no rate can be read")
    return tuple(found)


def _rates(hotel: Mapping[str, Any]) -> Iterator[tuple[Decimal, str, str]]:
    """Those whose parts are not all in one currency are passed over."""
    for room in hotel["roomTypes"]:
        for rate in room["rates"]:
            total = rate["retailRate"]["total"][0]
            extra = [f for f in rate["retailRate"].get("taxesAndFees") or [] if not f.get("included")]
            if all(fee.get("currency") == total["currency"] for fee in extra):
                price = Decimal(total["amount"]) + sum(Decimal(fee["amount"]) for fee in extra)
                yield price, str(total["currency"]), " ".join(str(rate.get("name") or "").split())[:LABEL]


def _offer(code: str, day: date, nights: int, price: Decimal, currency: str, room: str) -> StayOffer:
    return StayOffer(
        hotel_code=code,
        check_in=day,
        check_out=day + timedelta(days=nights),
        available=True,
        points=None,
        cash=price,
        currency=currency,
        room_type=room or None,
        checked_at=None,
    )
