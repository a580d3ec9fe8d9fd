"""Transactions of OFX and QFX statements, as their tags state them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bankfile.ofx.sgml import Node, parse_tags

_LOOKS = re.compile(r"\s*(?:OFXHEADER|<\?xml|<\?OFX|<OFX>)", re.IGNORECASE)
_BEGINS = re.compile(r"<STMTTRN>", re.IGNORECASE)
_ENDS = re.compile(r"</STMTTRN>", re.IGNORECASE)
_CURRENCY = re.compile(r"<CURDEF>\s*([A-Za-z]{3})\b", re.ASCII | re.IGNORECASE)
_STATEMENT = re.compile(r"<(?:CC)?STMTRS>", re.IGNORECASE)
# Of one transaction. Taken by itself, none can hold up the reader, whatever another does.
_MAX_CHARACTERS, _MAX_TAGS = 4096, 100


@dataclass(frozen=True)
class OfxEntry:
    """One transaction as written; a tag that is missing is empty. None of it is checked."""

    number: int
    posted: str
    amount: str
    name: str
    memo: str
    kind: str
    mcc: str
    currency: str | None


def looks_like_ofx(text: str) -> bool:
    return bool(_LOOKS.match(text)) and "<ofx" in text[:100_000].lower()


def read_entries(text: str) -> Iterator[OfxEntry]:
    """Each transaction, with the currency of its statement unless it has one of its own."""
    parts = _BEGINS.split(text)
    currency = _find_currency(parts[0], None)
    for number, part in enumerate(parts[1:], 1):
        end = _ENDS.search(part)
        yield _read_entry(number, part[: end.start()] if end else part, currency)
        if end:
            currency = _find_currency(part[end.end() :], currency)


def _find_currency(between: str, before: str | None) -> str | None:
    """The currency that holds for what follows; another statement begins with none."""
    match = _CURRENCY.search(between)
    if match:
        return match[1].upper()
    return None if _STATEMENT.search(between) else before


def _read_entry(number: int, part: str, currency: str | None) -> OfxEntry:
    part = part[:_MAX_CHARACTERS]
    if part.count("<") > _MAX_TAGS:
        return OfxEntry(number, "", "", "", "", "", "", None)
    tags = _collect_tags(parse_tags(part)[0])
    symbol = tags.get("CURSYM")
    return OfxEntry(
        number,
        posted=tags.get("DTPOSTED", ""),
        amount=tags.get("TRNAMT", ""),
        name=tags.get("NAME", ""),
        memo=tags.get("MEMO", ""),
        kind=tags.get("TRNTYPE", ""),
        mcc=tags.get("SIC", ""),
        currency=symbol.upper() if symbol else currency,
    )


def _collect_tags(root: Node) -> dict[str, str]:
    """The first value of each tag. What was paid in before it was converted is left out."""
    tags: dict[str, str] = {}
    waiting = list(root.children[::-1])
    while waiting:
        node = waiting.pop()
        if node.value is not None:
            tags.setdefault(node.tag, node.value)
        elif node.tag != "ORIGCURRENCY":
            waiting += node.children[::-1]
    return tags
