"""Phone numbers as the networks know them (E.164): a plus, the country's code, at most 15 digits in all."""

import re

_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_BETWEEN = re.compile(r"[\s().\-/\u2010-\u2015\u202a-\u202e\u2066-\u2069]")  # inserted by people and address books
SHOWN_DIGITS = 3


def parse_phone_number(text: str) -> str | None:
    """The number without separators; None if it is not a phone number."""
    number = _BETWEEN.sub("", text[:60])
    return number if _E164.fullmatch(number) else None


def find_ending(number: str) -> str:
    """The last digits, which may be shown."""
    return number[-SHOWN_DIGITS:]
