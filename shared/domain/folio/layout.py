"""Columns of a bill's table, from its heading: which amount of a line was posted, and as what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.parsing.amounts import Amount

_WORDS = {
    "charge": r"charges?|debits?|belastung(?:en)?|soll|cargos?|addebit[oi]|dare|debitos?",
    "credit": r"credits?|gutschrift(?:en)?|haben|abonos?|accredit[oi]|avere|creditos?|credito|payments?|zahlungen",
    "amount": r"amount|betrag|montant|importe|importo|valor|total(?:e)?|gesamt|preis|price|prix|bedrag|totaal",
    "balance": r"(?:running )?balance|saldo|solde",
    "other": r"qty|quantity|menge|anzahl|qte|unit(?: price)?|einzelpreis|prix unitaire|rate|"
    r"mwst|vat|tax|tva|iva|net|netto",
    "text": r"description|item|text|details?|particulars|beschreibung|leistung|bezeichnung|libelle|designation|"
    r"omschrijving|descripcion|concepto|descrizione|descricao|transaction|service|reference|code|ref",
    "date": r"date|datum|fecha|data|jour",
}
_WORD = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()))
_MONEY = ("charge", "credit", "amount", "balance")
_BARS = ("|", "\t", ";")


@dataclass(frozen=True, slots=True)
class Column:
    means: str
    start: int
    end: int
    cell: int


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    bar: str | None

    def means(self, amount: Amount, line: str) -> str:
        """The column an amount stands in: by its cell, or by the nearest heading."""
        if self.bar and self.bar in line:
            cell = line.count(self.bar, 0, amount.end - 1)
            return next((c.means for c in self.columns if c.cell == cell), "amount")
        return min(self.columns, key=lambda c: _measure_distance(c, amount)).means

    def meanings(self, amounts: Sequence[Amount], line: str) -> list[str]:
        """As many amounts as headings stand in their order, even where the text lost its columns."""
        headed = [c.means for c in self.columns if c.means in (*_MONEY, "other")]
        if len(amounts) == len(headed) > 1 and not (self.bar and self.bar in line):
            return headed
        return [self.means(a, line) for a in amounts]

    @property
    def two_sided(self) -> bool:
        return {"charge", "credit"} <= {c.means for c in self.columns}


def _measure_distance(column: Column, amount: Amount) -> int:
    if column.means not in (*_MONEY, "other"):
        return 10_000
    if column.start < amount.end and amount.start < column.end:
        return 0
    return min(abs(column.end - amount.end), abs(column.start - amount.start))


def read_heading(folded: str) -> Table | None:
    """The table a line announces; None when the line is no heading."""
    if re.search(r"\d[.,]\d\d\b|\d{4}|:", folded) or len(folded) < 8:
        return None
    bar = next((b for b in _BARS if b in folded), None)
    if bar is None and "  " not in folded.strip():
        return None  # runs of spaces were collapsed, so positions of columns are lost
    columns = [
        Column(m.lastgroup or "", m.start(), m.end(), folded.count(bar, 0, m.start()) if bar else 0)
        for m in _WORD.finditer(folded)
    ]
    means = {c.means for c in columns}
    if not means & {"charge", "credit", "amount"} or not means & {"text", "date"} or len(columns) > 12:
        return None
    return Table(columns, bar)


def find_posted(amounts: Sequence[Amount], table: Table | None, line: str) -> tuple[Amount, str] | None:
    """Of the amounts of a line the one that was posted, and the meaning of its column ("" without a table)."""
    if not amounts:
        return None
    if table is None:
        return amounts[-1], ""
    placed = list(zip(amounts, table.meanings(amounts, line), strict=True))
    money = [p for p in placed if p[1] in ("charge", "credit", "amount")]
    return next((p for p in reversed(money) if p[0].value), None) or (money or [(amounts[-1], "")])[-1]
