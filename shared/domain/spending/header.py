"""Detection of a table's layout: the known issuer's, or one made from the names of its columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from shared.domain.parsing.amounts import CODES, parse_amount
from shared.domain.parsing.dates import parse_day
from shared.domain.parsing.text import fold
from shared.domain.spending.headless import ANY_ORDER, build_headless_layouts, is_proved_by_balance
from shared.domain.spending.line_words import DIRECTION_NAMES, STATE_NAMES
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
    *("data", "transactiedatum", "boekdatum", "dato", "valutadatum", "kirjauspäivä", "消費日", "消費日期"),
)
_DESCRIPTION = (
    *("description", "transaction description", "merchant", "merchant name", "payee", "name", "details"),
    *("transaction details", "narrative", "counterparty", "memo", "text", "transaction", "reference"),
    *("beschreibung", "händler", "empfänger", "verwendungszweck", "buchungstext", "libellé", "concepto", "descripción"),
    *("comercio", "descrizione", "causale", "esercente", "descrição", "histórico", "omschrijving", "tekst"),
    *("tegenrekeninghouder", "händler (name, stadt & land)", "bezeichnung", "notification text", "desc", "note"),
    *("original description", "nimi", "otsikko", "消費明細"),
)
_AMOUNT = (
    # The billed amount comes before the shop's price in its own currency, and an instalment before the whole purchase.
    *("valor cuota mensual", "valor cuota", "valor da parcela"),
    *("billing amount", "billed amount", "settlement amount", "settled amount", "posted amount", "amount"),
    *("transaction amount", "value", "sum", "gross", "gross amount", "total"),
    *("betrag", "umsatz", "montant", "importe", "importo", "valor", "bedrag", "beløp", "monto", "monto operación"),
    *("新臺幣金額", "新台幣金額", "臺幣金額", "台幣金額"),
)
_DEBIT = (
    *(
        "debit",
        "debits",
        "debit amount",
        "amount debit",
        "money out",
        "paid out",
        "withdrawal",
        "withdrawals",
        "out",
        "spent",
    ),
    *("debet", "soll", "belastung", "débit", "cargo", "cargos", "addebito", "addebiti", "dare", "débito"),
)
_CREDIT = (
    *(
        "credit",
        "credits",
        "credit amount",
        "amount credit",
        "money in",
        "paid in",
        "deposit",
        "deposits",
        "in",
        "received",
    ),
    *("haben", "gutschrift", "crédit", "abono", "abonos", "accredito", "accrediti", "avere", "crédito"),
)
_CATEGORY = ("category", "merchant category", "kategorie", "catégorie", "categoría", "categoria", "categorie")
_MCC = ("mcc", "mcc code", "merchant category code")
_CURRENCY = (
    *("billing currency", "settlement currency", "currency", "account currency", "currency code"),
    *("währung", "devise", "divisa", "moneda", "valuta", "valutacode", "moeda", "munt"),
)
_BALANCE = (
    *("balance", "running balance", "account balance", "accountbalance", "balance after", "ledger balance"),
    *("saldo", "saldo na trn", "saldo na boeking", "saldo po operacji", "kontostand", "solde", "zůstatek", "egyenleg"),
)
_FEE = (
    *(
        "fee",
        "fees",
        "fee amount",
        "total fees",
        "commission",
        "transaction fee",
        "foreign transaction fee",
        "surcharge",
    ),
    *("gebühr", "gebühren", "frais", "comisión", "commissione", "tarifa", "avgift", "gebyr", "prowizja", "kosten"),
    *("komisyon", "комиссия", "手数料/利息", "手数料", "手续费", "手續費", "수수료", "poplatek", "díj", "ücret"),
)
DEFAULT_NAMES = {
    "date": _DATE,
    "description": _DESCRIPTION,
    "amount": _AMOUNT,
    "debit": _DEBIT,
    "credit": _CREDIT,
    "category": _CATEGORY,
    "mcc": _MCC,
    "currency": _CURRENCY,
    "status": STATE_NAMES,
    "direction": tuple(sorted(DIRECTION_NAMES)),
    "balance": _BALANCE,
    "fee": _FEE,
}
_YEAR_FIRST = re.compile(r"\d{4}")
_IN_TWO_LETTERS = re.compile(r"(?<=[aou])e")  # "waehrung" for "währung"
_MARKS_AROUND = "#*.: "
_IN_BRACKETS = re.compile(r" ?\((?:in )?[^()\s]{1,3}\)$")
_CODE_IN_NAME = re.compile(r"(?:(?: in)? ([a-z]{3})| ?\(([a-z]{3})\))$", re.ASCII)


def fold_name(cell: str) -> str:
    """A column name without case, quotes, byte order mark and repeated spaces; a small "İ" is two characters."""
    return " ".join(cell.replace("\ufeff", "").split()).strip("'\"").casefold().replace("\u0307", "")


@dataclass(frozen=True)
class TableShape:
    """The layouts a table may have, its columns by name, how many rows come before the lines, and its width."""

    layouts: Sequence[StatementLayout]
    columns: dict[str, int]
    skip: int
    width: int


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
            return TableShape(layouts, columns, position + 1, len(cells))
    skip = next((at for at, cells in enumerate(opening) if any(parse_day(c, ANY_ORDER) for c in cells)), 0)
    rows = [cells for cells in opening[skip:] if any(cell.strip() for cell in cells)]
    if any(len([cell for cell in cells if cell.strip()]) > 1 for cells in opening[:skip]):
        # A header in other words says nothing; what the columns hold is certain where a balance proves it.
        layouts = [layout for layout in build_headless_layouts(rows) if is_proved_by_balance(layout, rows)]
    else:
        layouts = _find_layouts_by_rows(rows, book) if rows else []
    width = layouts[0].width or 0 if layouts else 0
    columns = {str(at): at for at in range(width)}
    return TableShape(layouts, columns, skip, max(width, *map(len, rows))) if layouts else None


def _find_layouts_by_rows(rows: Sequence[Sequence[str]], book: StatementBook) -> list[StatementLayout]:
    """Without a header: by the columns' content. Rows like an issuer's say where its columns are, nothing else."""
    by_content = build_headless_layouts(rows)
    by_issuer = [layout for layout in book.layouts if layout.width and _fits_rows(layout, rows)]
    by_issuer = [
        layout for layout in by_issuer if not by_content or layout.descriptions[0] == by_content[0].descriptions[0]
    ]
    if by_content and by_issuer and all(layout.amount for layout in by_issuer):
        by_issuer = [
            replace(layout, dates=ANY_ORDER, charge=None, balance=by_content[0].balance) for layout in by_issuer
        ]
    return by_issuer or by_content


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
    # A header that is like an issuer's names the columns; the lines have to prove their dates and signs.
    return [
        replace(layout, dates=ANY_ORDER, currency=None, charge=layout.charge if layout.charge == "debit" else None)
        for likeness, layout in alike
        if likeness == most
    ]


def _rate_likeness(names: tuple[str, ...], layout: StatementLayout) -> float:
    needed = {layout.date, layout.amount, layout.debit, layout.credit, *layout.descriptions} - {None}
    if not layout.headers or not needed <= set(names):
        return 0
    telling = [set(header) for header in layout.headers if len(header) >= _MIN_COLUMNS]
    return max((len(set(names) & h) / len(set(names) | h) for h in telling), default=0)


def find_code(name: str) -> str | None:
    """The currency a column's name ends with: "amount (eur)", "bedrag in eur", "amount czk"."""
    match = _CODE_IN_NAME.search(name)
    code = (match[1] or match[2]).upper() if match else ""
    return code if code in CODES else None


@lru_cache(maxsize=4096)
def _simplify(name: str) -> str:
    """A column name as it is compared: banks leave out accents or write them in two letters, and add marks."""
    return _IN_TWO_LETTERS.sub("", fold(name).replace("ß", "ss")).replace("_", " ").strip(_MARKS_AROUND)


def _find_column(titles: Iterable[str], names: Sequence[str]) -> str | None:
    bare = {_simplify(_CODE_IN_NAME.sub("", _IN_BRACKETS.sub("", name))): name for name in reversed(names)}
    bare |= {_simplify(name): name for name in reversed(names)}
    return next((bare[key] for key in map(_simplify, titles) if key in bare), None)


def _find_columns(titles: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns of these names, each once, the better name first."""
    columns = (_find_column((word,), names) for word in titles)
    return list(dict.fromkeys(name for name in columns if name))


def find_billed_columns(names: Iterable[str], known: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The columns of an amount whose names tell its currency, by this currency."""
    titles = set(map(_simplify, known["amount"]))
    coded = ((find_code(name), name) for name in names if _simplify(_CODE_IN_NAME.sub("", name)) in titles)
    return {code: name for code, name in coded if code}


def find_fees(names: Iterable[str], known: Mapping[str, Sequence[str]]) -> tuple[str | None, str | None]:
    """The column of what was charged beside the amount, and that of the balance, which can prove it."""
    names = list(names)
    return _find_column(known["fee"], names), _find_column(known["balance"], names)


def find_sides(names: Iterable[str], known: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """The column of what was spent and that of what came in, where there are both."""
    names = list(names)
    out, back = (_find_column(known[side], names) for side in ("debit", "credit"))
    return (out, back) if out and back else None


def list_missing_columns(names: Sequence[str], known: Mapping[str, Sequence[str]]) -> list[str]:
    """The needed columns that this header does not name."""
    both = find_sides(names, known)
    columns = {
        "date": _find_column(known["date"], names),
        "description": _find_column(known["description"], names),
    }
    missing = [what for what, name in columns.items() if not name]
    return missing if both or _find_column(known["amount"], names) else [*missing, "amount"]


def _build_generic_layouts(names: tuple[str, ...], known: Mapping[str, Sequence[str]]) -> list[StatementLayout]:
    """A layout made from the header itself."""
    if list_missing_columns(names, known):
        return []
    whole = _find_column(known["amount"], names)
    currency = _find_column(known["currency"], names)
    billed = find_billed_columns(names, known)
    if whole and currency and len(billed) == 1:
        # Beside the price in the currency of the shop, which has a column of its own.
        whole = next(iter(billed.values()))
    code = find_code(whole) if whole else None
    direction = _find_column(known["direction"], names) if whole else None
    words = [name for name in _find_columns(known["description"], names) if name != direction]
    return [
        StatementLayout(
            slug="table",
            country=None,
            currency=code,
            headers=(),
            width=None,
            date=_find_column(known["date"], names) or "",
            dates=ANY_ORDER,
            descriptions=tuple(words[:2]),  # the second often fills what the first leaves empty
            amount=whole,
            debit=None if whole else _find_column(known["debit"], names),
            credit=None if whole else _find_column(known["credit"], names),
            charge=None if whole else "debit",
            category=_find_column(known["category"], names),
            mcc=_find_column(known["mcc"], names),
            currency_column=None if code else currency,
            status=_find_column(known["status"], names),
            direction=direction,
            balance=_find_column(known["balance"], names),
        )
    ]


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
