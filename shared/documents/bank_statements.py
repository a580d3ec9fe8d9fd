"""Transactions of statements that banks exchange: CAMT.052 and CAMT.053 (ISO 20022) and MT940 (SWIFT)."""

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from mt940.models import Transactions

from shared.domain.spending.model import UnreadableStatement

logging.getLogger("mt940").setLevel(logging.CRITICAL + 1)  # it logs lines of the statement that it cannot read

_CAMT = re.compile(r"camt\.05[23]\.\d{3}")
_MT940 = re.compile(r"^:61:\d{6}", re.MULTILINE)
_OPENING, _CLOSING = ("OPBD", "PRCD"), "CLBD"
_MAX_STATEMENTS = 1000  # in one file
_WANTED = "a file as the bank gives it, whole"


@dataclass(frozen=True)
class BankEntry:
    """One transaction as the bank states it: the amount is negative where money left the account."""

    number: int
    day: str
    amount: Decimal | None
    words: str
    currency: str | None
    is_pending: bool = False


def looks_like_camt(text: str) -> bool:
    return text.lstrip()[:1] == "<" and bool(_CAMT.search(text[:4000]))


def looks_like_mt940(text: str) -> bool:
    return ":60" in text and bool(_MT940.search(text))


def read_camt(text: str) -> list[BankEntry]:
    """Raises UnreadableStatement, also where its balances do not come to its entries."""
    try:
        document = fromstring(text)
    except (ParseError, DefusedXmlException, ValueError):
        raise UnreadableStatement("is XML that cannot be read", _WANTED) from None
    entries: list[BankEntry] = []
    for statement in (*document.iterfind(".//{*}Stmt"), *document.iterfind(".//{*}Rpt")):
        own = [_read_camt_entry(len(entries) + at, entry) for at, entry in enumerate(statement.iterfind("{*}Ntry"), 1)]
        balances = {_find(b, "Tp/CdOrPrtry/Cd"): _read_signed(b) for b in statement.iterfind("{*}Bal")}
        opening = next((balances[code] for code in _OPENING if code in balances), None)
        _check_balances(opening, balances.get(_CLOSING), own)
        entries += own
    return entries


def _find(node: Element, path: str) -> str:
    """The text at a path of names, in whatever version's namespace."""
    return (node.findtext("/".join(f"{{*}}{name}" for name in path.split("/"))) or "").strip()


def _read_signed(node: Element) -> Decimal | None:
    try:
        amount = Decimal(_find(node, "Amt"))
    except InvalidOperation:
        return None
    sign = {"DBIT": -1, "CRDT": 1}.get(_find(node, "CdtDbtInd"))
    return amount * sign if sign and amount.is_finite() else None


def _read_camt_entry(number: int, entry: Element) -> BankEntry:
    """The booking counts, also of a payment of several parts; whose name stands on it is the other party's."""
    amount = _read_signed(entry)
    party = "Cdtr" if amount is not None and amount < 0 else "Dbtr"
    details = "NtryDtls/TxDtls"
    words = (
        _find(entry, f"{details}/RltdPties/{party}/Nm") or _find(entry, f"{details}/RltdPties/{party}/Pty/Nm"),
        _find(entry, f"{details}/RmtInf/Ustrd"),
        _find(entry, "AddtlNtryInf"),
    )
    days = (_find(entry, f"{name}/{form}")[:10] for name in ("BookgDt", "ValDt") for form in ("Dt", "DtTm"))
    money = entry.find("{*}Amt")
    state = _find(entry, "Sts/Cd") or _find(entry, "Sts")
    return BankEntry(
        number,
        next(filter(None, days), ""),
        amount,
        " ".join(filter(None, words[:2])) or words[2],
        money.get("Ccy") if money is not None else None,
        is_pending=state not in ("BOOK", ""),
    )


def read_mt940(text: str) -> list[BankEntry]:
    """Raises UnreadableStatement, also where its balances do not come to its entries."""
    try:
        # Each statement of the file by itself, because each has its balances. `mt940.parse` would open files, too.
        parts = [_parse_mt940(part) for part in islice(_split_mt940(text), _MAX_STATEMENTS)]
    except Exception as fault:  # the library raises what its parts do
        raise UnreadableStatement("is MT940 that cannot be read", _WANTED) from fault
    entries: list[BankEntry] = []
    for part in parts:
        own = [_read_mt940_entry(len(entries) + at, row.data) for at, row in enumerate(part, 1) if "amount" in row.data]
        opening, closing = (part.data.get(f"final_{end}_balance") for end in ("opening", "closing"))
        _check_balances(opening and opening.amount.amount, closing and closing.amount.amount, own)
        entries += own
    return entries


def _parse_mt940(text: str) -> Transactions:
    transactions = Transactions()
    transactions.parse(text)
    return transactions


def _split_mt940(text: str) -> Iterator[str]:
    starts = [match.start() for match in re.finditer(r"^:20:", text, re.MULTILINE)] or [0]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield text[start:end]


def _read_mt940_entry(number: int, data: dict[str, object]) -> BankEntry:
    names = ("applicant_name", "purpose", "transaction_details", "posting_text", "extra_details")
    words = next((text for name in names if (text := str(data.get(name) or "").strip())), "")
    day = data.get("entry_date") or data.get("date")
    amount: Decimal | None = getattr(data["amount"], "amount", None)
    if amount is not None:  # the library takes the reversal of a credit for money that came in
        amount = -abs(amount) if data.get("status") in ("D", "RC") else abs(amount)
    return BankEntry(number, str(day or ""), amount, " ".join(words.split()), str(data.get("currency") or "") or None)


def _check_balances(opening: Decimal | None, closing: Decimal | None, entries: Iterable[BankEntry]) -> None:
    """What is booked takes the account from one balance to the next; otherwise an entry is missing or was misread."""
    booked = [entry.amount for entry in entries if not entry.is_pending]
    if opening is None or closing is None or None in booked:
        return
    if opening + sum((amount for amount in booked if amount is not None), Decimal(0)) != closing:
        raise UnreadableStatement("has balances that its transactions do not come to", _WANTED)
