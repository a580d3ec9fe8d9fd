"""Written numbers: the values a text can mean, with any country's separators, and the one that a person typed."""

import re
from decimal import Decimal
from typing import Any

_MAX_LENGTH = 40  # characters
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u202f\u2007\u2009"), " ") | {ord("\u2019"): "'", ord("\u2212"): "-"}
_DECIMALS = r"(?:(?P<point>[.,])(?P<decimals>\d{1,6}))?"
_PLAIN = re.compile(rf"(?=[.,]?\d)(?P<whole>\d{{0,15}}){_DECIMALS}", re.ASCII)
# Groups of three digits, or in India of two before the last; no number starts with a zero group.
_GROUPED = re.compile(
    r"(?P<whole>[1-9]\d{0,2}(?:(?P<mark>[.,' ])\d{3})(?:(?P=mark)\d{3}){0,4}"
    rf"|[1-9]\d?(?:(?P<pair>[.,' ])\d\d)(?:(?P=pair)\d\d){{0,5}}(?P=pair)\d{{3}}){_DECIMALS}",
    re.ASCII,
)


class UnreadNumber(ValueError):
    """A text that is no number, or is ambiguous; `expected` says what to write, if certain.

    `place`: of the number in a list or a map.
    """

    place = ""

    def __init__(self, problem: str, expected: str | None = None) -> None:
        super().__init__(problem)
        self.expected = expected


def list_readings(text: str) -> list[Decimal]:
    """The meanings of an unsigned number: none, one, or first the one whose mark groups thousands.

    Never a part of the text: `1e5`, `12abc` and `1.2.3` mean nothing.
    """
    if len(text) > _MAX_LENGTH:
        return []
    text = text.translate(_BLANKS)
    readings = []
    if match := _GROUPED.fullmatch(text):
        mark = match["mark"] or match["pair"]
        if match["point"] != mark:
            readings.append(_join(match["whole"].replace(mark, ""), match["decimals"]))
    if match := _PLAIN.fullmatch(text):
        readings.append(_join(match["whole"] or "0", match["decimals"]))
    return readings


def _join(whole: str, decimals: str | None) -> Decimal:
    return Decimal(f"{whole}.{decimals}" if decimals else whole)


def read_number(value: Any, *, is_whole: bool) -> Any:
    """A typed text as a number; other values and empty text unchanged. Raises UnreadNumber.

    In a whole number the mark between groups of three groups, whichever it is. An amount of one group may mean both
    1,299 and 1.299. A sign of a currency is refused, because it may contradict the field that names the currency.
    """
    if not isinstance(value, str) or value == "":
        return value
    text = value.strip()
    text = text.translate(_BLANKS) if len(text) <= _MAX_LENGTH else ""
    digits = text.removeprefix("-")
    readings = list_readings(digits)
    if not readings:
        raise UnreadNumber("is not a plain number")
    number = readings[0]
    if is_whole and number != int(number):
        raise UnreadNumber("is not a whole number")
    if not is_whole and len(readings) > 1:
        grouped, plain = readings
        raise UnreadNumber(f"can mean {grouped:,} or {plain}", f"{grouped} or {plain:.2f}")
    if number != round(number, 2):
        raise UnreadNumber("has more than two decimals")  # amounts are stored with two, and never shortened
    number = number if digits == text else -number
    return int(number) if is_whole else number
