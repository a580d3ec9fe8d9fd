"""Detection of a table's layout: the known issuer's, or one made from the names of its columns."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shared.domain.parsing.amounts import parse_amount
from shared.domain.parsing.dates import parse_day
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
_YEAR_FIRST = re.compile(r"\d{4}")
_IN_BRACKETS = re.compile(r" ?\([a-z$£€]{1,3}\)$")


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
    """None without a header that names the needed columns, where the rows fit no known issuer either."""
    for position, cells in enumerate(opening):
        names = _trim(cells)
        if len(names) > 1 and (layouts := _find_known_layouts(names, book) or _build_generic_layouts(names)):
            columns: dict[str, int] = {}
            for at, name in enumerate(names):
                columns.setdefault(name, at)
            return TableShape(layouts, columns, position + 1)
    rows = [cells for cells in opening if any(cell.strip() for cell in cells)]
    if rows and (layouts := [layout for layout in book.layouts if layout.width and _fits_rows(layout, rows)]):
        return TableShape(layouts, {str(at): at for at in range(layouts[0].width or 0)}, 0)
    return None


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
    return [layout for likeness, layout in alike if likeness == most]


def _rate_likeness(names: tuple[str, ...], layout: StatementLayout) -> float:
    needed = {layout.date, layout.amount, layout.debit, layout.credit, *layout.descriptions} - {None}
    if not layout.headers or not needed <= set(names):
        return 0
    telling = [set(header) for header in layout.headers if len(header) >= _MIN_COLUMNS]
    return max((len(set(names) & h) / len(set(names) | h) for h in telling), default=0)


def _find_column(titles: Iterable[str], names: Sequence[str]) -> str | None:
    bare = {_IN_BRACKETS.sub("", name): name for name in reversed(names)}
    return next((bare[name] for name in titles if name in bare), None)


def _find_columns(titles: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns of these names, each once, the better name first."""
    columns = (_find_column((word,), names) for word in titles)
    return list(dict.fromkeys(name for name in columns if name))


def list_missing_columns(names: Sequence[str]) -> list[str]:
    """The needed columns that this header does not name."""
    has_amount = _find_column(_AMOUNT, names) or (_find_column(_DEBIT, names) and _find_column(_CREDIT, names))
    columns = {
        "date": _find_column(_DATE, names),
        "description": _find_column(_DESCRIPTION, names),
        "amount": has_amount,
    }
    return [what for what, name in columns.items() if not name]


def _build_generic_layouts(names: tuple[str, ...]) -> list[StatementLayout]:
    """A layout made from the header itself, once for each order its dates can have."""
    if list_missing_columns(names):
        return []
    whole = _find_column(_AMOUNT, names)
    layout = StatementLayout(
        slug="table",
        country=None,
        currency=None,
        headers=(),
        width=None,
        date=_find_column(_DATE, names) or "",
        dates=("dmy", "ymd"),
        descriptions=tuple(
            _find_columns(_DESCRIPTION, names)[:2]
        ),  # the second often fills what the first leaves empty
        amount=whole,
        debit=None if whole else _find_column(_DEBIT, names),
        credit=None if whole else _find_column(_CREDIT, names),
        charge=None if whole else "debit",
        category=_find_column(_CATEGORY, names),
        mcc=_find_column(_MCC, names),
        currency_column=_find_column(_CURRENCY, names),
        status=_find_column(_STATUS, names),
        unsettled="pending",
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
