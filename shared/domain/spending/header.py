"""Detection of a table's layout: the known issuer's, or one made from the names of its columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shared.domain.parsing.amounts import CODES, parse_amount
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.headless import build_headless_layouts
from shared.domain.spending.model import StatementBook, StatementLayout

MAX_PREAMBLE_ROWS = 40  # rows that may come before the header
_MIN_LIKENESS = 0.7  # of the columns of a known header and of this one
_MIN_COLUMNS = 4  # headers with fewer columns are similar to any table
# Column names of unknown issuers, the more specific first.
_DATE = (
    *("transaction date", "trans. date", "trans date", "date of transaction", "purchase date", "date", "booking date"),
    *("posting date", "posted date", "post date", "posted", "completed date", "value date"),
    *("buchungsdatum", "buchungstag", "belegdatum", "transaktionsdatum", "datum", "date d'opération", "date opération"),
    *("date de l'opération", "fecha de operación", "fecha operación", "fecha", "data operazione", "data movimento"),
    *("data", "transactiedatum", "boekdatum", "dato"),
)
_DESCRIPTION = (
    *("description", "transaction description", "merchant", "merchant name", "payee", "name", "details"),
    *("transaction details", "narrative", "counterparty", "memo", "text", "transaction", "reference"),
    *("beschreibung", "händler", "empfänger", "verwendungszweck", "buchungstext", "libellé", "concepto", "descripción"),
    *("comercio", "descrizione", "causale", "esercente", "descrição", "omschrijving", "tekst"),
)
_AMOUNT = (
    *("amount", "transaction amount", "billing amount", "billed amount", "value", "sum", "total"),
    *("betrag", "umsatz", "montant", "importe", "importo", "valor", "bedrag", "beløp"),
)
_DEBIT = (
    *("debit", "debits", "debit amount", "money out", "paid out", "withdrawal", "withdrawals", "out", "spent"),
    *("soll", "belastung", "débit", "cargo", "cargos", "addebito", "addebiti", "dare", "débito"),
)
_CREDIT = (
    *("credit", "credits", "credit amount", "money in", "paid in", "deposit", "deposits", "in", "received"),
    *("haben", "gutschrift", "crédit", "abono", "abonos", "accredito", "accrediti", "avere", "crédito"),
)
_CATEGORY = ("category", "merchant category", "kategorie", "catégorie", "categoría", "categoria", "categorie")
_MCC = ("mcc", "mcc code", "merchant category code")
_CURRENCY = (
    *("currency", "billing currency", "account currency", "currency code"),
    *("währung", "devise", "divisa", "moneda", "valuta", "moeda"),
)
_STATUS = ("status", "state")
_DIRECTION = ("af bij", "af/bij", "debit/credit", "credit/debit", "debet/credit", "soll/haben", "d/c", "s/h")
DEFAULT_NAMES = {
    "date": _DATE,
    "description": _DESCRIPTION,
    "amount": _AMOUNT,
    "debit": _DEBIT,
    "credit": _CREDIT,
    "category": _CATEGORY,
    "mcc": _MCC,
    "currency": _CURRENCY,
    "status": _STATUS,
    "direction": _DIRECTION,
}
_YEAR_FIRST = re.compile(r"\d{4}")
_IN_BRACKETS = re.compile(r" ?\([a-z$£€]{1,3}\)$")
_CODE_IN_NAME = re.compile(r"(?: in)? \(?([a-z]{3})\)?$", re.ASCII)


def fold_name(cell: str) -> str:
    """A column name without case, quotes, byte order mark and repeated spaces."""
    return " ".join(cell.replace("\ufeff", "").split()).strip("'\"").casefold()


@dataclass(frozen=True)
class TableShape:
    """The layouts a table may have, its columns by name, and how many rows come before the lines."""

    layouts: Sequence[StatementLayout]
    columns: dict[str, int]
    skip: int


def find_shape(opening: Sequence[Sequence[str]], book: StatementBook) -> TableShape | None:
    """Finds the shape; None without a header that names the needed columns, where the rows fit no known issuer."""
    for position, cells in enumerate(opening):
        names = _trim(cells)
        if len(names) > 1 and (
            layouts := _find_known_layouts(names, book) or _build_generic_layouts(names, book.columns)
        ):
            columns: dict[str, int] = {}
            for at, name in enumerate(names):
                columns.setdefault(name, at)
            return TableShape(layouts, columns, position + 1)
    rows = [cells for cells in opening if any(cell.strip() for cell in cells)]
    layouts = [layout for layout in book.layouts if layout.width and _fits_rows(layout, rows)] if rows else []
    layouts = layouts or build_headless_layouts(rows)
    return TableShape(layouts, {str(at): at for at in range(layouts[0].width or 0)}, 0) if layouts else None


def _trim(cells: Sequence[str]) -> tuple[str, ...]:
    names = [fold_name(cell) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _find_known_layouts(names: tuple[str, ...], book: StatementBook) -> list[StatementLayout]:
    """Layouts with this very header; else those most like it that have every column they need."""
    same = [layout for layout in book.layouts if names in layout.headers]
    if same:
        return same
    alike = [
        (likeness, layout) for layout in book.layouts if (likeness := _rate_likeness(names, layout)) >= _MIN_LIKENESS
    ]
    most = max((likeness for likeness, _ in alike), default=0)
    return [replace(layout, currency=None) for likeness, layout in alike if likeness == most]


def _rate_likeness(names: tuple[str, ...], layout: StatementLayout) -> float:
    needed = {layout.date, layout.amount, layout.debit, layout.credit, *layout.descriptions} - {None}
    if not layout.headers or not needed <= set(names):
        return 0
    telling = [set(header) for header in layout.headers if len(header) >= _MIN_COLUMNS]
    return max((len(set(names) & h) / len(set(names) | h) for h in telling), default=0)


def find_code(name: str) -> str | None:
    """The currency a column's name ends with: "amount (eur)", "bedrag in eur", "amount czk"."""
    match = _CODE_IN_NAME.search(name)
    code = match[1].upper() if match else ""
    return code if code in CODES else None


def _find_column(titles: Iterable[str], names: Sequence[str]) -> str | None:
    bare = {_CODE_IN_NAME.sub("", _IN_BRACKETS.sub("", name)): name for name in reversed(names)} | {n: n for n in names}
    return next((bare[name] for name in titles if name in bare), None)


def _find_columns(titles: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns of these names, each once, the better name first."""
    columns = (_find_column((word,), names) for word in titles)
    return list(dict.fromkeys(name for name in columns if name))


def list_missing_columns(names: Sequence[str], known: Mapping[str, Sequence[str]]) -> list[str]:
    """The needed columns that this header does not name."""
    both = _find_column(known["debit"], names) and _find_column(known["credit"], names)
    columns = {
        "date": _find_column(known["date"], names),
        "description": _find_column(known["description"], names),
        "amount": _find_column(known["amount"], names) or both,
    }
    return [what for what, name in columns.items() if not name]


def _build_generic_layouts(names: tuple[str, ...], known: Mapping[str, Sequence[str]]) -> list[StatementLayout]:
    """A layout made from the header itself, once for each order its dates can have."""
    if list_missing_columns(names, known):
        return []
    whole = _find_column(known["amount"], names)
    code = find_code(whole) if whole else None
    direction = _find_column(known["direction"], names) if whole else None
    layout = StatementLayout(
        slug="table",
        country=None,
        currency=code,
        headers=(),
        width=None,
        date=_find_column(known["date"], names) or "",
        dates=("dmy", "ymd"),
        descriptions=tuple(
            _find_columns(known["description"], names)[:2]
        ),  # the second often fills what the first leaves empty
        amount=whole,
        debit=None if whole else _find_column(known["debit"], names),
        credit=None if whole else _find_column(known["credit"], names),
        charge="positive" if direction else None if whole else "debit",
        category=_find_column(known["category"], names),
        mcc=_find_column(known["mcc"], names),
        currency_column=None if code else _find_column(known["currency"], names),
        status=_find_column(known["status"], names),
        unsettled="pending",
        direction=direction,
    )
    return [layout, replace(layout, dates=("mdy", "ymd"))]


def _fits_rows(layout: StatementLayout, rows: Sequence[Sequence[str]]) -> bool:
    """Rows without a header: the first and four in five of all look like this issuer's."""
    fitting = [_fits_row(layout, cells) for cells in rows]
    return fitting[0] and sum(fitting) >= 0.8 * len(fitting)


def _fits_row(layout: StatementLayout, cells: Sequence[str]) -> bool:
    width = layout.width or 0
    if len(cells) < width or any(cell.strip() for cell in cells[width:]):
        return False
    when = cells[int(layout.date)].strip()
    if _YEAR_FIRST.match(when) or parse_day(when, layout.dates) is None:
        return False
    words = [cells[int(column)] for column in layout.descriptions]
    columns = [column for column in (layout.amount, layout.debit, layout.credit) if column]
    money = [cells[int(column)] for column in columns]
    read = [parse_amount(cell) is not None for cell in money if cell.strip()]
    return bool(read) and all(read) and all(parse_amount(word) is None for word in words)
