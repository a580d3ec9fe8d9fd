"""Short forms of ids: random ids of rows in 22 characters, a route on a day in 48 bits."""

import base64
import binascii
from datetime import date, timedelta
from functools import lru_cache
from uuid import UUID

# Ids that are handed out hold these numbers, so neither the order nor the first day may change.
_CABINS = ("economy", "premium_economy", "business", "first")
_FIRST_DAY = date(2026, 1, 1)
_DAYS = 1 << 14  # 44 years
_CODES = 36**3  # of three letters or digits
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Cell = tuple[str, str, date, str]  # origin, destination, day, cabin


def shorten_uuid(id: UUID) -> str:
    """The same 128 bits in 22 characters instead of 36."""
    return base64.urlsafe_b64encode(id.bytes).decode().rstrip("=")


def read_uuid(text: str) -> UUID | None:
    """Reads the short form or the usual one; None where the text is neither."""
    try:
        return UUID(bytes=decode_base64(text + "==")) if len(text) == 22 else UUID(text)
    except ValueError:
        return None


def decode_base64(text: str) -> bytes:
    """Decodes the alphabet for URLs (RFC 4648, section 5). Raises ValueError where anything else is in it."""
    try:
        return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


@lru_cache(maxsize=4096)  # a search shows many offers of one day and cabin
def number_cell(cell: Cell) -> int | None:
    """A number below 2**48, or None for a place without a three-character code, or a day decades away."""
    origin, destination, day, cabin = cell
    days = (day - _FIRST_DAY).days
    if not (_is_code(origin) and _is_code(destination) and 0 <= days < _DAYS and cabin in _CABINS):
        return None
    return (int(origin + destination, 36) * _DAYS + days) * len(_CABINS) + _CABINS.index(cabin)


def read_cell(number: int) -> Cell | None:
    """The inverse of `number_cell`; None for a number that it never gives."""
    rest, cabin = divmod(number, len(_CABINS))
    codes, days = divmod(rest, _DAYS)
    origin, destination = divmod(codes, _CODES)
    if origin >= _CODES:
        return None
    return _write_code(origin), _write_code(destination), _FIRST_DAY + timedelta(days=days), _CABINS[cabin]


def _is_code(text: str) -> bool:
    return len(text) == 3 and set(text) <= set(_DIGITS)


def _write_code(number: int) -> str:
    return "".join(_DIGITS[number // place % 36] for place in (36 * 36, 36, 1))
