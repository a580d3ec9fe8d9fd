"""Lines that print a sum: balances, totals and subtotals in many languages."""

import re
from typing import Literal

_PASSED = r"(?:brought|carried) forward|previous|opening|ubertrag|a reporter|riporto|suma y sigue"
_BALANCE = (
    r"(?:current |closing |remaining |outstanding |net )?balance|amount (?:owed|due|payable)|(?:total )?due\b|"
    r"total (?:amount )?(?:due|owed|payable)|saldo|solde|"
    r"(?:noch )?zu zahlen|offener? (?:betrag|posten)|restbetrag|reste a payer|(?:net|montant|total) a payer|"
    r"montant du|(?:total|importe|saldo) (?:a pagar|pendiente|debido)|(?:totale|saldo|importo) (?:da pagare|dovuto)|"
    r"(?:valor|total|saldo) (?:a pagar|em divida|em aberto|devedor)|(?:totaal )?te betalen|openstaand(?: bedrag)?"
)
_TOTAL = (
    r"(?:grand |folio |invoice )?total|(?:gesamt|rechnungs)(?:summe|betrag)?|summe|importe total|totale|"
    r"montant total|valor total|totaal(?:bedrag)?|eindtotaal"
)
_PART = (
    r"sub-?total|zwischensumme|sous-total|subtotale|subtotaal|net\b|netto|"
    r"total (?:charges|credits|payments|tax|taxes|vat|net|ht|debits?)|total (?:cargos|abonos)|of which|davon|dont|"
    r"taxable|tax summary|vat summary"
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
