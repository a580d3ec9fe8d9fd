"""Rows about card statements: how issuers lay them out, and the words and codes that tell what a line was for."""

from dataclasses import dataclass

from shared.reference.rows.fact import Fact


@dataclass(frozen=True, slots=True)
class StatementLayout(Fact):
    """How one issuer writes a line. Columns go by name, or by number (from 0) where the file has no header."""

    layout: str
    issuer: str
    country: str
    currency: str | None  # where this header is written in one country and one currency only
    width: int | None  # columns of a file without a header
    date: str
    dates: tuple[str, ...]  # mdy, dmy or ymd, the likelier first
    descriptions: tuple[str, ...]
    amount: str | None
    debit: str | None
    credit: str | None
    charge: str  # the sign of a charge: positive, negative, or debit where it has its own column
    category: str | None
    mcc: str | None
    currency_column: str | None
    type: str | None
    status: str | None
    settled: str | None  # the one status that counts


@dataclass(frozen=True, slots=True)
class StatementHeader:
    """One header an issuer writes; 0 is the present one."""

    layout: str
    number: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatementColumn(Fact):
    """What banks without a layout of their own call a column. The first by rank that a header has is taken."""

    holds: str
    rank: int
    name: str
    bank: str


@dataclass(frozen=True, slots=True)
class MerchantWords:
    """Words of a merchant's name, in small letters: a rule of this product, no fact. The first by rank decides."""

    rank: int
    category: str
    words: str


@dataclass(frozen=True, slots=True)
class MerchantChain(Fact):
    """A chain in one of its countries, by the name it begins a line of a statement with."""

    name: str
    country: str
    category: str


@dataclass(frozen=True, slots=True)
class MerchantCode(Fact):
    """A merchant category code and its name. The category is the one this product sums it under."""

    mcc: str
    category: str
    name: str


@dataclass(frozen=True, slots=True)
class IssuerCategory(Fact):
    """What an issuer itself calls a category."""

    issuer: str
    name: str
    category: str


@dataclass(frozen=True, slots=True)
class LineType(Fact):
    """A type of line that is no spending, as the issuer writes it."""

    layout: str
    type: str
    kind: str


STATEMENT_FILES: dict[str, type] = {
    "statements/layouts.csv": StatementLayout,
    "statements/headers.csv": StatementHeader,
    "statements/columns.csv": StatementColumn,
    "statements/merchants.csv": MerchantWords,
    "statements/chains.csv": MerchantChain,
    "statements/mcc.csv": MerchantCode,
    "statements/issuer_categories.csv": IssuerCategory,
    "statements/line_types.csv": LineType,
}
