"""Values in items of schema.org as mails write them: texts, lists, moments in several forms, prices and points."""

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.domain.confirmations import prices
from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.parsing.amounts import find_amounts, parse_number
from shared.domain.parsing.dates import find_times
from shared.domain.parsing.text import fold

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
    moved = datetime.fromisoformat(at.isoformat() + zone).astimezone(UTC).astimezone(ZoneInfo(clock))
    moved = moved.replace(tzinfo=None)
    if zone == "Z" or moved == at:
        return moved.date(), moved.time()
    return (at.date() if moved.date() == at.date() else None), None


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
