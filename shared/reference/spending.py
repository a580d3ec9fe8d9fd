"""Layouts and merchant rules of card statements, compiled from their files, and the checks of those files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from shared.domain.card_value import CATEGORIES
from shared.domain.spending.header import DEFAULT_NAMES, fold_name
from shared.domain.spending.merchants import ChainFinder
from shared.domain.spending.model import EXCLUDED, KINDS, StatementBook, StatementLayout
from shared.reference.reference import Reference
from shared.reference.rows.fact import build_from

_FOLDER = "statements/"
TABLES = tuple(
    f"{_FOLDER}{name}.csv"
    for name in ("layouts", "headers", "columns", "merchants", "chains", "mcc", "issuer_categories", "line_types")
)
_ORDERS = ("mdy", "dmy", "ymd")
_CHARGES = ("positive", "negative", "debit")
_COLUMNS = ("amount", "debit", "credit", "category", "mcc", "currency_column", "type", "status")
_ELSEWHERE = "ofx"  # a layout of line_types.csv that is not a table


def find_faults(tables: Mapping[str, Mapping[int, Any]]) -> Iterator[str]:
    """The faults of the statement files, each with file and line."""
    categories = {*CATEGORIES, *(EXCLUDED + kind for kind in KINDS)}
    layouts = {row.layout: row for row in tables["statements/layouts.csv"].values()}
    for name in ("merchants", "chains", "mcc", "issuer_categories"):
        for number, row in tables[f"{_FOLDER}{name}.csv"].items():
            if row.category not in categories:
                yield f"{_FOLDER}{name}.csv:{number}: category {row.category!r} is not known"
    for number, row in tables["statements/merchants.csv"].items():
        try:
            re.compile(row.words)
        except re.error as error:
            yield f"statements/merchants.csv:{number}: words is no pattern: {error}"
        if row.words != row.words.lower():
            yield f"statements/merchants.csv:{number}: words are written in small letters"
    for number, row in tables["statements/line_types.csv"].items():
        if row.layout not in (*layouts, _ELSEWHERE) or row.kind not in KINDS:
            yield f"statements/line_types.csv:{number}: {row.layout} {row.kind} is not known"
    yield from _check_columns(tables["statements/columns.csv"])
    yield from _check_layouts(tables)
    yield from _check_headers(tables, layouts)


def _check_columns(rows: Mapping[int, Any]) -> Iterator[str]:
    for number, row in rows.items():
        if row.holds not in DEFAULT_NAMES or row.name != fold_name(row.name):
            yield f"{_FOLDER}columns.csv:{number}: {row.holds} {row.name!r} is not known or not in small letters"


def _check_layouts(tables: Mapping[str, Mapping[int, Any]]) -> Iterator[str]:
    headed = {row.layout for row in tables["statements/headers.csv"].values()}
    for number, row in tables["statements/layouts.csv"].items():
        where = f"statements/layouts.csv:{number}"
        if row.charge not in _CHARGES or (row.charge == "debit") != (row.amount is None):
            yield f"{where}: charge {row.charge!r} does not fit the columns"
        if row.amount is None and (row.debit is None or row.credit is None):
            yield f"{where}: there is neither an amount nor debit and credit"
        if not row.dates or any(order not in _ORDERS for order in row.dates):
            yield f"{where}: dates are of {', '.join(_ORDERS)}"
        if (row.width is None) != (row.layout in headed):
            yield f"{where}: a layout has a header or a width"


def _check_headers(tables: Mapping[str, Mapping[int, Any]], layouts: Mapping[str, Any]) -> Iterator[str]:
    for number, row in tables["statements/headers.csv"].items():
        where = f"statements/headers.csv:{number}"
        if (layout := layouts.get(row.layout)) is None:
            yield f"{where}: there is no layout {row.layout}"
            continue
        needed = (layout.date, layout.amount, layout.debit, layout.credit, *layout.descriptions)
        for name in needed:
            if name is not None and name not in row.columns:
                yield f"{where}: the column {name} of the layout is missing"


def _build_layout(row: Any, headers: list[tuple[str, ...]]) -> StatementLayout:
    return build_from(
        StatementLayout,
        row,
        slug=row.layout,
        headers=tuple(tuple(map(fold_name, columns)) for columns in headers),
        date=fold_name(row.date),
        descriptions=tuple(map(fold_name, row.descriptions)),
        **{name: fold_name(cell) if (cell := getattr(row, name)) else None for name in _COLUMNS},
    )


def _merge_columns(rows: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """Names in search order: a bank's own first, because it is more specific."""
    names = {
        holds: [row.name for row in sorted(rows, key=lambda r: r.rank) if row.holds == holds] for holds in DEFAULT_NAMES
    }
    return {holds: tuple(dict.fromkeys((*own, *DEFAULT_NAMES[holds]))) for holds, own in names.items()}


def _sort_codes(rows: Sequence[Any]) -> dict[str, str]:
    """The category of every code, also within `3000-3350`: airlines, car rentals and hotels each have their own."""
    categories: dict[str, str] = {}
    for row in rows:
        first, _, last = row.mcc.partition("-")
        categories |= {f"{code:04}": row.category for code in range(int(first), int(last or first) + 1)}
    return categories


@lru_cache(maxsize=2)
def build_book(reference: Reference) -> StatementBook:
    """Builds the book once for each load of the reference data."""
    headers: dict[str, list[tuple[str, ...]]] = {}
    for row in reference.rows("statements/headers.csv"):
        headers.setdefault(row.layout, []).append(row.columns)
    rules = sorted(reference.rows("statements/merchants.csv"), key=lambda r: r.rank)
    return StatementBook(
        layouts=[_build_layout(row, headers.get(row.layout, [])) for row in reference.rows("statements/layouts.csv")],
        columns=_merge_columns(reference.rows("statements/columns.csv")),
        merchants=[(re.compile(rule.words), rule.category) for rule in rules],
        any_merchant=re.compile("|".join(f"(?:{rule.words})" for rule in rules)),
        chains=ChainFinder((row.name, row.category) for row in reference.rows("statements/chains.csv")),
        mcc=_sort_codes(reference.rows("statements/mcc.csv")),
        issuer_categories={
            row.name.lower(): row.category for row in reference.rows("statements/issuer_categories.csv")
        },
        types={(row.layout, row.type): row.kind for row in reference.rows("statements/line_types.csv")},
    )
