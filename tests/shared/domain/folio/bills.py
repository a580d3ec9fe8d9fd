"""Bills for the tests: postings printed in one of the layouts hotels use."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from shared.domain.folio.audit import BillAudit, audit_folio
from shared.domain.folio.model import Rulebook
from shared.reference.folio import build_rulebook
from shared.reference.load import reference

Posting = tuple[str, str, str]  # day (ISO), description, amount with a minus for credits


@cache
def book() -> Rulebook:
    return build_rulebook(reference())


def posting(line: str) -> Posting:
    """ "2026-03-04 Resort Fee 45.00" -> its parts."""
    day, rest = line.split(" ", 1)
    text, amount = rest.rsplit(" ", 1)
    return day, text, amount


def balance(lines: Sequence[Posting]) -> Decimal:
    return sum((Decimal(a) for _, _, a in lines), Decimal(0))


def columns(header: str, lines: Sequence[Posting]) -> str:
    """Two columns, charges and credits, right aligned; month first."""
    out = [header, "", f"{'Date':<12}{'Description':<40}{'Charges':>12}{'Credits':>12}", "-" * 76]
    for day, text, amount in lines:
        d = date.fromisoformat(day)
        rest, right = ("", amount[1:]) if amount.startswith("-") else (amount, "")
        out.append(f"{d:%m-%d-%y}    {text:<40}{rest:>12}{right:>12}")
    charges = sum((Decimal(a) for _, _, a in lines if not a.startswith("-")), Decimal(0))
    return "\n".join([*out, "-" * 76, f"{'Total':<52}{charges:>12}{charges - balance(lines):>12}", _balance(lines)])


def _balance(lines: Sequence[Posting]) -> str:
    return f"Balance        {balance(lines):.2f} USD"


def posting_codes(header: str, lines: Sequence[Posting]) -> str:
    out = [header, ""]
    for at, (day, text, amount) in enumerate(lines):
        out.append(f"{date.fromisoformat(day):%d/%m/%y}   {4100 + 7 * at}  {text:<40}{Decimal(amount):>12,.2f}")
    return "\n".join([*out, "", f"BALANCE DUE USD {balance(lines):,.2f}"])


def pipes(header: str, lines: Sequence[Posting]) -> str:
    return "\n".join([header, "Date|Item|Amount", *("|".join(x) for x in lines), f"Total|USD|{balance(lines):.2f}"])


def dots(header: str, lines: Sequence[Posting]) -> str:
    out = [header, ""]
    for day, text, amount in lines:
        money = f"-${amount[1:]}" if amount.startswith("-") else f"${amount}"
        out.append(f"{date.fromisoformat(day):%m/%d/%y} {text} {'.' * (50 - len(text))} {money}")
    return "\n".join([*out, f"Amount owed .................................... ${balance(lines):.2f}"])


def comma(header: str, lines: Sequence[Posting]) -> str:
    """Decimal comma, a point between thousands, days first, a trailing minus."""
    out = [header, "", f"{'Datum':<12}{'Text':<40}{'Betrag USD':>16}"]
    for day, text, amount in lines:
        money = f"{abs(Decimal(amount)):,.2f}".translate(str.maketrans(",.", ".,"))
        minus = "-" if amount.startswith("-") else ""
        out.append(f"{date.fromisoformat(day):%d.%m.%Y}  {text:<40}{money + minus:>16}")
    return "\n".join([*out, "", f"Saldo    {balance(lines):.2f}".replace(".", ",")])


def months(header: str, lines: Sequence[Posting]) -> str:
    """Days like 04OCT26 and credits marked CR."""
    out = [header, ""]
    for day, text, amount in lines:
        money = f"{amount[1:]} CR" if amount.startswith("-") else amount
        out.append(f"{date.fromisoformat(day):%d%b%y}".upper() + f"     {text:<40}  {money}")
    return "\n".join([*out, f"Balance due   USD {balance(lines):.2f}"])


LAYOUTS: dict[str, Callable[[str, Sequence[Posting]], str]] = {
    f.__name__: f for f in (columns, posting_codes, pipes, dots, comma, months)
}


def bill(header: str, *lines: str, layout: str = "pipes", currency: str = "USD") -> str:
    return LAYOUTS[layout](header, [posting(x) for x in lines]).replace("USD", currency)


def audit(text: str, chain: str, *said: Any) -> BillAudit:
    """audit(text, chain, stay_type, tier)."""
    return audit_folio(text, chain, book(), *said)


def rules_in(done: BillAudit) -> list[str]:
    return [f.rule.id for f in done.findings]


def one(done: BillAudit, rule: str) -> tuple[Decimal | None, list[str]]:
    """Amount and descriptions of the one finding of a rule."""
    (result,) = [f for f in done.findings if f.rule.id == rule]
    return result.amount, [x.text for x in result.lines]
