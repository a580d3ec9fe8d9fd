"""Transactions of OFX and QFX statements, as their tags state them."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LOOKS = re.compile(r"\s*(?:OFXHEADER|<\?xml|<\?OFX|<OFX>)", re.IGNORECASE)
_BEGINS = re.compile(r"<STMTTRN>", re.IGNORECASE)
_ENDS = re.compile(r"</STMTTRN>", re.IGNORECASE)
_CURRENCY = re.compile(r"<CURDEF>\s*([A-Za-z]{3})\b", re.ASCII | re.IGNORECASE)
_STATEMENT = re.compile(r"<(?:CC)?STMTRS>", re.IGNORECASE)
# Of one transaction. Each is read by itself, so that a broken one costs no more than these bounds.
_MAX_CHARACTERS, _MAX_TAGS = 4096, 100
_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<[?!][^>]*>"
    r"|</(?P<end>[A-Za-z_][\w.:-]*)\s*>|<(?P<start>[A-Za-z_][\w.:-]*)[^<>]*?(?P<empty>/?)\s*>",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|amp|lt|gt|quot|apos|nbsp);", re.IGNORECASE)


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
    tags = _read_tags(part)
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


class _Tags:
    """The tags of one transaction, in SGML (OFX 1.x) and XML (2.x) alike.

    SGML leaves out end tags: a start tag ends the element before it where that has text, and an end tag ends all
    that is open above its own start.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.open: list[str] = []
        self.texts: list[str] = []  # of the innermost element
        self.leaf = False  # nothing stands inside the innermost element so far

    def add_text(self, text: str) -> None:
        if self.leaf and text.strip():
            self.texts.append(text)

    def start(self, tag: str, empty: bool) -> None:
        if self.texts:
            self.end(self.open[-1])
        self.open.append(tag)
        self.leaf = True
        if empty:
            self.end(tag)

    def end(self, tag: str) -> None:
        """The first value of a tag counts. What was paid in before it was converted is left out."""
        if tag not in self.open:
            return
        if self.texts and "ORIGCURRENCY" not in self.open[:-1]:
            self.values.setdefault(self.open[-1], "".join(self.texts).strip())
        while self.open.pop() != tag:
            pass
        self.texts, self.leaf = [], False


def _read_tags(part: str) -> dict[str, str]:
    tags, position = _Tags(), 0
    for token in _TOKEN.finditer(part):
        tags.add_text(_unescape(part[position : token.start()]))
        position = token.end()
        if token["cdata"] is not None:
            tags.add_text(token["cdata"])
        elif token["end"]:
            tags.end(token["end"].upper())
        elif token["start"]:
            tags.start(token["start"].upper(), bool(token["empty"]))
    tags.add_text(_unescape(part[position:]))
    if tags.open:
        tags.end(tags.open[0])
    return tags.values


def _unescape(text: str) -> str:
    """Only the entities OFX names: others, such as "&copy" in "BED&COPY", are left as they are written."""
    return _ENTITY.sub(lambda match: html.unescape(match[0].lower()), text)
