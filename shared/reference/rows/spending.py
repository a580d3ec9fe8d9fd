"""Rows about card statements: issuers' layouts, and words and codes for categories."""

from shared.reference.rows.fact import Fact, rows_of


@rows_of("statements/layouts.csv", key="layout")
class StatementLayout(Fact):
    """One issuer's line format. Columns are found by name, or by number (from 0) without a header."""

    layout: str
    issuer: str
    country: str
    currency: str | None  # if this header exists in only one country and currency
    width: int | None  # columns of a file without a header
    date: str
    dates: tuple[str, ...]  # mdy, dmy or ymd, the likelier first
    descriptions: tuple[str, ...]
    amount: str | None
    debit: str | None
    credit: str | None
    charge: str  # the sign of a charge: positive, negative, or debit if it has its own column
    category: str | None
    mcc: str | None
    currency_column: str | None
    type: str | None
    status: str | None
    settled: str | None  # the one status that counts


@rows_of("statements/headers.csv", key="layout number")
class StatementHeader:
    """One header of an issuer; 0 is the current one."""

    layout: str
    number: int
    columns: tuple[str, ...]


@rows_of("statements/columns.csv")
class StatementColumn(Fact):
    """What banks without a known layout call a column. The first by rank that a header has is taken."""

    holds: str
    rank: int
    name: str
    bank: str


@rows_of("statements/merchants.csv", key="rank")
class MerchantWords:
    """Words of a merchant's name, in small letters: a rule of this product, not a fact. The first by rank decides."""

    rank: int
    category: str
    words: str


@rows_of("statements/chains.csv", key="name country")
class MerchantChain(Fact):
    """A chain in one of its countries, by its name at the start of a statement line."""

    name: str
    country: str
    category: str


@rows_of("statements/mcc.csv", key="mcc")
class MerchantCode(Fact):
    """A merchant category code and its name. The category is this product's."""

    mcc: str
    category: str
    name: str


@rows_of("statements/issuer_categories.csv", key="issuer name")
class IssuerCategory(Fact):
    """An issuer's own name for a category."""

    issuer: str
    name: str
    category: str


@rows_of("statements/line_types.csv", key="layout type")
class LineType(Fact):
    """A type of non-spending line, in the issuer's words."""

    layout: str
    type: str
    kind: str
