"""Spending category of a line: the person's choice for its shop, words, merchant code, chain, issuer's category."""

from collections.abc import Callable, Iterable
from decimal import Decimal

from shared.domain.card_value import OTHER
from shared.domain.spending.model import EXCLUDED, StatementBook

_MAX_CHARACTERS = 200  # of a description; addresses follow after that

Categorise = Callable[[str, str, str], str]


def clean_description(description: str) -> str:
    """A description in the form that merchant rules and hashes use."""
    return " ".join(description[:_MAX_CHARACTERS].split()).lower()


def build_categoriser(book: StatementBook) -> Categorise:
    """Builds one per statement, with a cache: the same merchants appear many times."""
    categories: dict[tuple[str, str, str], str] = {}

    def categorise(description: str, mcc: str, native: str) -> str:
        """The category of a cleaned description (`clean_description`)."""
        key = (description, mcc, native)
        if (category := categories.get(key)) is None:
            category = categories[key] = _find_category(book, *key)
        return category

    return categorise


def _find_category(book: StatementBook, description: str, mcc: str, native: str) -> str:
    if taught := book.taught.find(description):
        return taught
    if book.any_merchant.search(description):
        return next(category for words, category in book.merchants if words.search(description))
    code = mcc.strip()
    by_chain = book.mcc.get(code) or book.chains.find(description)
    return by_chain or book.issuer_categories.get(native.strip().lower()) or OTHER


def describe_uncategorised(amounts: Iterable[tuple[str, Decimal]]) -> list[str]:
    """The share of spending at unknown shops; empty if all are known."""
    whole = unknown = Decimal(0)
    for category, amount in amounts:
        whole += amount
        unknown += amount if category == OTHER else 0
    if unknown <= 0 or whole <= 0:
        return []
    percent = min(max(round(100 * unknown / whole), 1), 100)
    return [f"{percent}% of this spending has no category: its shops are not known."]


def exclude_kind(kind: str) -> str:
    return EXCLUDED + kind
