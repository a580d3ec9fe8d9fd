"""Parsers of LiteAPI's hotel lists and rates."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from shared.domain import hotel_match
from shared.providers.contract import HotelSpot, StayOffer, Unanswered

SOLD_OUT_CODE = 2001  # their code of an answer without rooms
MAX_LABEL_CHARACTERS = 80


def _parse_json(body: bytes) -> Any:
    return json.loads(body, parse_float=Decimal)


def find_hotel(body: bytes, hotel: HotelSpot) -> str | None:
    """Their name of a hotel of ours, if exactly one of those listed can be it."""
    rows = _parse_json(body)["data"] or []
    listed = [
        hotel_match.ListedHotel(
            str(row["id"]), str(row["name"]), _parse_degrees(row.get("latitude")), _parse_degrees(row.get("longitude"))
        )
        for row in rows
    ]
    one = hotel_match.find_same_hotel(hotel.name, hotel.city, hotel.latitude, hotel.longitude, listed)
    return one.key if one else None


def _parse_degrees(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) and value else None


def is_sold_out(body: bytes) -> bool:
    try:
        error = _parse_json(body)["error"]
        return bool(error["code"] == SOLD_OUT_CODE)
    except (ValueError, KeyError, TypeError):
        return False


def parse_offers(body: bytes, theirs: Mapping[str, str], day: date, nights: int) -> tuple[StayOffer, ...]:
    """The cheapest room of each hotel, with what is paid on the spot. A hotel without rates is absent: others may
    still sell it."""
    if is_sold_out(body):
        return ()
    answer = _parse_json(body)
    if answer.get("sandbox"):
        raise Unanswered("not_permitted", "test_data")
    offers = []
    for hotel in answer["data"] or []:
        rates = list(_parse_rates(hotel))
        if hotel["hotelId"] in theirs and rates:
            offers.append(_build_offer(theirs[hotel["hotelId"]], day, nights, *min(rates)))
        elif hotel["roomTypes"] and not rates:
            raise ValueError("no rate can be read")
    return tuple(offers)


def _parse_rates(hotel: Mapping[str, Any]) -> Iterator[tuple[Decimal, str, str]]:
    """Those whose parts are not all in one currency are passed over."""
    for room in hotel["roomTypes"]:
        for rate in room["rates"]:
            total = rate["retailRate"]["total"][0]
            extra = [f for f in rate["retailRate"].get("taxesAndFees") or [] if not f.get("included")]
            if all(fee.get("currency") == total["currency"] for fee in extra):
                price = Decimal(total["amount"]) + sum(Decimal(fee["amount"]) for fee in extra)
                yield (
                    price,
                    str(total["currency"]),
                    " ".join(str(rate.get("name") or "").split())[:MAX_LABEL_CHARACTERS],
                )


def _build_offer(code: str, day: date, nights: int, price: Decimal, currency: str, room: str) -> StayOffer:
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
