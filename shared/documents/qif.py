"""Transactions of QIF files (Quicken Interchange Format), as their fields state them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LOOKS = re.compile(r"\s*!(?:Type|Account|Option|Clear)", re.IGNORECASE)
_SECTION = re.compile(r"!Type:\s*(bank|ccard|cash|oth [al])", re.IGNORECASE)
_MAX_CHARACTERS = 400
# "1/15'26" and "1/15' 6" are years of this century; blanks stand for zeros.
_APOSTROPHE = re.compile(r"'\s*(\d{1,4})$")


@dataclass(frozen=True)
class QifEntry:
    """One transaction as written; a field that is missing is empty. None of it is checked."""

    number: int
    day: str
    amount: str
    payee: str
    memo: str
    category: str


def looks_like_qif(text: str) -> bool:
    return bool(_LOOKS.match(text))


def read_entries(text: str) -> Iterator[QifEntry]:
    """Each transaction of an account or a card; lists of categories, securities and accounts are passed over."""
    fields: dict[str, str] = {}
    number, is_money = 0, False
    for line in text.splitlines():
        line = line.strip()[:_MAX_CHARACTERS]
        if line.startswith("!"):
            is_money, fields = bool(_SECTION.match(line)), {}
        elif line.startswith("^"):
            if is_money and "D" in fields:
                number += 1
                yield _build_entry(number, fields)
            fields = {}
        elif line:
            fields.setdefault(line[0], line[1:].strip())
    if is_money and {"D", "T"} <= set(fields):  # the last mark is sometimes left out
        yield _build_entry(number + 1, fields)


def _build_entry(number: int, fields: dict[str, str]) -> QifEntry:
    return QifEntry(
        number,
        day=_clean_day(fields.get("D", "")),
        amount=fields.get("T") or fields.get("U", ""),
        payee=fields.get("P", ""),
        memo=fields.get("M", ""),
        category=fields.get("L", "").strip("[]").split(":")[-1],
    )


def _clean_day(text: str) -> str:
    day = _APOSTROPHE.sub(lambda m: f"/{2000 + int(m[1]) if len(m[1]) < 3 else m[1]}", text)
    return re.sub(r"(?<=[/.-]) (?=\d)|^ ", "0", day)
