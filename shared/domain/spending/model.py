"""Data classes of statements: layouts, merchant rules, lines, and reasons for skipping lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from shared.domain.spending.merchants import ChainFinder, TaughtShops

EXCLUDED = "excluded:"  # prefix of the category of lines that are not spending
KINDS = ("payment", "refund", "fee_interest", "cash_advance", "transfer")  # of those lines
MAX_LINES = 50_000  # about a second of the processor


@dataclass(eq=False)
class UnreadableStatement(Exception):
    """The statement cannot be read. Both texts are our own and quote nothing of it."""

    problem: str
    expected: str
    field: str | None = None  # the parameter that is asked for, where it is not the statement itself


@dataclass(frozen=True)
class StatementLayout:
    """An issuer's line format. Columns are found by folded name, or by number without a header."""

    slug: str
    country: str | None
    currency: str | None
    headers: tuple[tuple[str, ...], ...]
    width: int | None
    date: str
    dates: tuple[str, ...]
    descriptions: tuple[str, ...]
    amount: str | None
    debit: str | None
    credit: str | None
    charge: str | None  # sign of a charge: positive, negative or debit; None: the lines have to prove it
    category: str | None = None
    mcc: str | None = None
    currency_column: str | None = None
    type: str | None = None
    status: str | None = None
    settled: str | None = None
    direction: str | None = None  # a column that says whether money went out or came in
    balance: str | None = None  # a column of what the account held after the line


@dataclass(frozen=True)
class StatementBook:
    """Layouts and merchant rules of the reference data, compiled, and the person's categories of shops."""

    layouts: Sequence[StatementLayout]
    columns: Mapping[str, tuple[str, ...]]  # what a column has -> its names at banks that have no layout
    merchants: Sequence[tuple[re.Pattern[str], str]]  # the first match wins
    any_merchant: re.Pattern[str]
    chains: ChainFinder
    mcc: Mapping[str, str]
    issuer_categories: Mapping[str, str]
    types: Mapping[tuple[str, str], str]  # (layout, type) -> kind of exclusion
    taught: TaughtShops = field(default_factory=TaughtShops)


@dataclass(frozen=True)
class Hints:
    """Facts from outside the statement that decide between two readings of its dates and amounts."""

    today: date
    currency: str | None = None  # stated by the user with the upload
    card_currency: str | None = None
    card_country: str | None = None
    own_currency: str | None = None
    own_country: str | None = None

    positive_is: str | None = None  # "spent" or "received": what the person answered
    date_order: str | None = None  # "day_first", "month_first" or "year_first"


class StatementLine(NamedTuple):
    """One line as written. The amount is positive where money was spent."""

    number: int
    day: date
    amount: Decimal
    description: str
    category: str  # of CATEGORIES, or excluded:...
    currency: str | None
    is_refund: bool = False  # the issuer itself says so


class Skipped(NamedTuple):
    line: int
    reason: str


@dataclass(frozen=True)
class StatementReading:
    """A statement read: by which layout, in which currency unless its lines say, and what could not be read."""

    layout: str
    currency: str | None  # as the file writes it
    lines: Sequence[StatementLine]
    skipped: Sequence[Skipped]
    issuer_currency: str | None = None  # of the one country the issuer of this very header is in
