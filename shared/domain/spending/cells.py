"""Dates and amounts as statements write them: a cell's text goes in; a day or an amount comes out, or None."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from shared.domain.spending.model import MOST_AMOUNT

CENT = Decimal("0.01")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = re.compile(r"(\d{1,4})([./ -])(\d{1,2})\2(\d{4}|\d{2})(?:(?:t|,? )\d{1,2}:\d{2}.{0,20})?", re.ASCII)
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[ ./-]?([a-z]{3,9})\.?,?[ ./-]?(\d{4}|\d{2})", re.ASCII)
_MONTH_DAY = re.compile(r"([a-z]{3,9})\.? ?(\d{1,2})(?:st|nd|rd|th)?,? (\d{4}|\d{2})", re.ASCII)
_SOLID = re.compile(r"(\d{4})(\d{2})(\d{2})(?:\d{4,6})?(?:[.\[].{0,30})?", re.ASCII)

_PLAIN = re.compile(r"-?\d{1,9}(?:\.\d{1,2})?", re.ASCII)
_GROUPED = re.compile(r"(?:\d{1,12}|\d{1,3}(?:,\d{2,3})*,\d{3})?(?:\.\d{1,6})?", re.ASCII)
_SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2012": "-", "\u00a0": "", "\u202f": "", " ": "", "'": ""})
_MONEY = re.compile(r"[A-Z]{0,3}[$£€¥₹]?|[$£€¥₹][A-Z]{0,3}")
_CURRENCIES = {"£": "GBP", "€": "EUR", "₹": "INR"}
CODES = ("USD", "GBP", "EUR", "CAD", "AUD")
_DECIMAL_COMMA = re.compile(r"\d,\d{1,2}(?!\d)", re.ASCII)
_DECIMAL_POINT = re.compile(r"\.\d{1,2}(?!\d)", re.ASCII)


def day(text: str, orders: Iterable[str]) -> date | None:
    """The first reading in one of these orders (mdy, dmy, ymd) that is a day of the calendar."""
    text = text.strip().lower()
    if len(text) > 40:
        return None
    if found := _SOLID.fullmatch(text):
        return _made(found[1], found[2], found[3])
    if found := _DAY_MONTH.fullmatch(text):
        return _made(found[3], _month(found[2]), found[1])
    if found := _MONTH_DAY.fullmatch(text):
        return _made(found[3], _month(found[1]), found[2])
    if not (found := _NUMBERS.fullmatch(text)):
        return None
    first, second, last = found[1], found[3], found[4]
    if len(first) == 4:
        return _made(first, second, last)
    readings = {"mdy": (last, first, second), "dmy": (last, second, first)}
    days = (_made(*readings[order]) for order in orders if order in readings)
    return next((d for d in days if d), None)


def _month(word: str) -> str:
    return str(_MONTHS.index(word[:3]) + 1) if word[:3] in _MONTHS else "0"


def _made(year: str, month: str, number: str) -> date | None:
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(number))
    except ValueError:
        return None


def decimal_comma(cells: Iterable[str]) -> bool:
    """Whether these amounts are written 1.234,56."""
    commas = points = 0
    for cell in cells:
        commas += bool(_DECIMAL_COMMA.search(cell))
        points += bool(_DECIMAL_POINT.search(cell))
    return commas > points


def amount(text: str, comma: bool = False) -> Decimal | None:
    """Signed as written: a minus on either side, brackets and CR make it negative. None when it is no amount."""
    text = text.strip()
    if not comma and _PLAIN.fullmatch(text):
        return Decimal(text) + 0  # turns -0.00 into 0
    if not text or len(text) > 40:
        return None
    text = text.upper().translate(_SIGNS)
    bare = text.removeprefix("(").removesuffix(")")
    negative = len(text) - len(bare) == 2
    for ending, below in (("CR", True), ("DR", False), ("-", True), ("+", False)):
        if bare.endswith(ending):
            bare, negative = bare[: -len(ending)], negative or below
            break
    number = _without_currency(bare)
    if number[:1] in ("-", "+"):
        negative, number = negative or number[0] == "-", number[1:]
    number = _without_currency(number)
    if comma:
        number = number.translate({ord("."): ",", ord(","): "."})
    if not any(c.isdigit() for c in number) or not _GROUPED.fullmatch(number):
        return None
    value = Decimal(number.replace(",", "")).quantize(CENT, ROUND_HALF_UP)
    return None if value >= MOST_AMOUNT else -value + 0 if negative else value


def currency(cells: Iterable[str]) -> str | None:
    """The one currency these amounts are written in; a dollar can be any country's."""
    written = "".join(cell for cell in cells if not _PLAIN.fullmatch(cell)).upper()
    found = {code for sign, code in _CURRENCIES.items() if sign in written} | {c for c in CODES if c in written}
    return found.pop() if len(found) == 1 else None


def _without_currency(text: str) -> str:
    """The number without a code or sign of a currency before or behind it."""
    before = _MONEY.match(text)
    text = text[before.end() :] if before else text
    at = len(text)
    while at and not text[at - 1].isdigit() and text[at - 1] not in ".-+":
        at -= 1
    return text[:at] if _MONEY.fullmatch(text[at:]) else text
