"""Lines that print a sum in many languages, and whether a bill's lines add up to them."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from typing import Literal

from shared.domain.folio.model import TOLERANCE, ZERO, Bill, FolioLine, PrintedSum

_PASSED = r"(?:brought|carried) forward|previous|opening|繰越|ubertrag|a reporter|riporto|suma y sigue"
_BALANCE = (
    r"(?:current |closing |remaining |outstanding |net )?balance|amount (?:owed|due|payable)|(?:total )?due\b|"
    r"total (?:amount )?(?:due|owed|payable)|saldo|solde|"
    r"(?:noch )?zu zahlen|offener? (?:betrag|posten)|restbetrag|reste a payer|(?:net|montant|total) a payer|"
    r"montant du|(?:total|importe|saldo) (?:a pagar|pendiente|debido)|(?:totale|saldo|importo) (?:da pagare|dovuto)|"
    r"(?:valor|total|saldo) (?:a pagar|em divida|em aberto|devedor)|(?:totaal )?te betalen|openstaand(?: bedrag)?|"
    r"a betale\b|att betala|at betale|bakiye|kalan tutar|余额|餘額|应付(?:金额)?|"
    r"(?:差引)?残高|[こ御]?請求(?:額|金額)|お?支払い?(?:額|金額)|未収金"
)
_TOTAL = (
    r"(?:grand |folio |invoice )?total|(?:gesamt|rechnungs)(?:summe|betrag)?|summe|importe total|totale|"
    r"montant total|valor total|sum\b|summa\b|toplam(?: tutar)?|合计|总计|總計|소계|합계|총액|"
    r"totaal(?:bedrag)?|eindtotaal|(?:総|お)?合計(?:金額)?|総額"
)
_PART = (
    r"sub-?total|zwischensumme|sous-total|subtotale|subtotaal|net\b|netto|"
    r"total (?:charges|credits|payments|tax|taxes|vat|net|ht|debits?)|total (?:cargos|abonos)|of which|davon|dont|"
    r"taxable|tax summary|vat summary|小計|内税|税抜|うち|消費税(?:等|額)?(?=.{0,12}対象)"
)
_START = re.compile(
    rf"[\s|;*]*(?:(?P<passed>.*(?:{_PASSED}))|(?P<part>{_PART})|(?P<balance>{_BALANCE})|(?P<total>{_TOTAL}))(?![a-z])"
    r"(?P<rest>[^\d]*)"
)
_COUNTS = re.compile(r"point|pts|night|guest|room|page")
Sum = Literal["balance", "total", "part"]


def classify_sum(folded: str) -> Sum | None:
    """Which sum a line is, or None for any other line."""
    match = _START.match(folded)
    if match is None or len(re.sub(r"[^a-z]", "", match["rest"])) > 14 or _COUNTS.search(match["rest"]):
        return None
    if match["passed"] or match["part"]:
        return "part"
    return "balance" if match["balance"] else "total"


def adds_up(bill: Bill) -> bool:
    return find_difference(bill) <= TOLERANCE


def find_difference(bill: Bill) -> Decimal:
    """The difference between printed figures and lines; zero if nothing is printed.

    A sum may be of all lines before it or, where one paper has several folios, of those since the last sum.
    """
    groups = [(at, list(sums)) for at, sums in groupby(bill.sums, key=lambda s: s.at)]
    if not groups:
        return ZERO
    last, sums = groups[-1]
    whole = _compare_lines(bill.lines[:last], sums)
    if whole <= TOLERANCE or len(groups) == 1:
        return whole
    starts = [0, *(at for at, _ in groups)]
    parts = [
        min(_compare_lines(bill.lines[start:at], sums), _compare_lines(bill.lines[:at], sums))
        for start, (at, sums) in zip(starts, groups, strict=False)
    ]
    return whole if max(parts) > TOLERANCE else ZERO


def _compare_lines(lines: Sequence[FolioLine], sums: Sequence[PrintedSum]) -> Decimal:
    """Compares with the last balance, else any of the totals, else the totals of both columns."""
    charges = sum((x.amount for x in lines if x.amount > 0), ZERO)
    balance = sum((x.amount for x in lines), ZERO)
    taken_off = -sum((x.amount for x in lines if x.amount < 0 and x.kind not in ("payment", "deposit")), ZERO)
    balances = [s.values[0] for s in sums if s.kind == "balance"]
    totals = [s.values[0] for s in sums if s.kind == "total"]
    columns = [s.values for s in sums if s.kind == "totals"]
    if balances and abs(balance - balances[-1]) > TOLERANCE:
        return abs(balance - balances[-1])
    if totals and not balances:
        likely = (balance, charges, charges - taken_off)
        return min(abs(x - total) for x in likely for total in totals)
    if not columns:
        return ZERO
    # Bills list credits separately, or subtract them from charges.
    debit, credit = columns[-1]
    return max(abs(debit - credit - balance), min(abs(debit - x) for x in (charges, charges - taken_off)))
