"""Credit cards: fuzzy matching of a typed name with the catalogue, and the due dates of a held card."""

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from shared.domain.dates import add_months, format_day, format_weekday, next_anniversary

# Words that many card names share; by themselves they identify no card.
_FILLERS = ("a", "an", "and", "for", "from", "in", "my", "new", "of", "on", "our", "the", "with")
_EMPTY_WORDS = frozenset((*_FILLERS, "card", "cards", "charge", "credit", "mastercard", "rewards", "visa"))
_ADDITION = re.compile(r"\(.*?\)")  # "(CA)", "(formerly Traveler)"
_MAX_WORDS = 12
_MAX_CANDIDATES = 8


@dataclass(frozen=True)
class CatalogEntry:
    slug: str
    name: str
    issuer: str
    country: str


@dataclass(frozen=True)
class Candidate:
    """One catalogue entry that may be meant, and how well it fits, from 0 to 1."""

    slug: str
    score: float


@dataclass(frozen=True)
class CardMatch:
    """The exact entry, or candidates; both empty if the text matches no known card."""

    exact: str | None
    candidates: tuple[Candidate, ...] = ()


def match_card(text: str, catalogue: Iterable[CatalogEntry], country: str | None = None) -> CardMatch:
    """A slug, a whole name or an everyday name of one card is exact; everything else is at most a candidate.

    With a country only its cards are candidates as long as one fits, and everyday names are of its cards; a whole name
    of another country is then a candidate too.
    """
    entries = list(catalogue)
    typed = _normalize(text)
    exact = [e for e in entries if typed in (_normalize(e.slug), _normalize(e.name))]
    at_home = [e for e in exact if country in (None, e.country) or typed == _normalize(e.slug)]
    if not exact:
        at_home = [e for e in _find_everyday(text, entries) if country in (None, e.country)]
    if len(at_home) == 1:
        return CardMatch(at_home[0].slug)
    if not exact and at_home:
        return CardMatch(None, _limit([Candidate(e.slug, 1.0) for e in at_home]))
    ranked = rank_candidates(text, entries)  # of all: a word of a card abroad is no slip of one at home
    own_slugs = {e.slug for e in entries if country in (None, e.country)}
    home = [fit for fit in ranked if fit.slug in own_slugs]
    if not home:
        return CardMatch(exact[0].slug) if len(exact) == 1 else CardMatch(None, _limit(ranked))
    abroad = [Candidate(e.slug, 1.0) for e in exact if e not in at_home]
    return CardMatch(None, _limit([*home[: _MAX_CANDIDATES - len(abroad)], *abroad]))


def _find_everyday(text: str, entries: Sequence[CatalogEntry]) -> list[CatalogEntry]:
    """Cards whose name or slug has exactly the words of the text, apart from the issuer and common words.

    The issuer must be named, or a word that only this issuer's cards have, next to another one: "Amex Gold", "Sapphire
    Reserve", but not "Gold". A word too many or too few means another card.
    """
    typed = frozenset(_split_words(text)) - _EMPTY_WORDS
    issuers: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        for word in _list_words(entry):
            issuers[word].add(entry.issuer)

    def is_called_so(entry: CatalogEntry) -> bool:
        maker = {*_split_words(entry.issuer), *entry.slug.split("-")[1:2]}
        own = typed - maker
        products = [frozenset(_split_words(t)) for t in (_ADDITION.sub("", entry.name), entry.slug.partition("-")[2])]
        is_told = bool(typed & maker) or (len(own) > 1 and any(issuers[word] == {entry.issuer} for word in own))
        return bool(own) and is_told and own in [product - maker - _EMPTY_WORDS for product in products]

    return [entry for entry in entries if is_called_so(entry)]


def _limit(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    return tuple(candidates[:_MAX_CANDIDATES])


def rank_candidates(text: str, catalogue: Iterable[CatalogEntry]) -> list[Candidate]:
    """Every entry that has each word of the text, the best fit first: an extra word means another card."""
    # A typed brand, the second part of a slug, excludes other brands' cards as long as one of them fits.
    entries = list(catalogue)
    typed_words = [w for w in dict.fromkeys(_split_words(text)) if w not in _EMPTY_WORDS][:_MAX_WORDS]
    if not typed_words:
        return []
    words_by_slug = {e.slug: _list_words(e) for e in entries}
    spread = Counter(w for words in words_by_slug.values() for w in words)
    meant = {_correct_spelling(w, spread) for w in typed_words}
    likely = [Candidate(e.slug, _score_entry(e, meant)) for e in entries if meant <= words_by_slug[e.slug]]
    brands = meant & {brand for e in entries for brand in e.slug.split("-")[1:2]}
    of_brand = [f for f in likely if brands <= words_by_slug[f.slug]]
    return sorted(of_brand or likely, key=lambda f: (-f.score, f.slug))


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


@lru_cache(maxsize=4_096)  # the catalogue's names are looked up repeatedly
def _split_words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).replace("+", " plus ")
    return tuple(re.findall(r"[a-z0-9]+", plain))


def _list_words(entry: CatalogEntry) -> frozenset[str]:
    """Every word an entry goes by: of name, issuer and slug, two words written as one, and the name's initials."""
    name = _split_words(entry.name)
    initials = "".join(w[0] for w in name if w not in _EMPTY_WORDS)
    words = {*name, *_split_words(entry.issuer), *_split_words(entry.slug), *(a + b for a, b in pairwise(name))}
    return frozenset(words | ({initials} if len(initials) > 2 else set()))


def _correct_spelling(word: str, spread: Counter[str]) -> str:
    """The known word that starts with an unknown one long enough ("plat"), else the nearest (a slip)."""
    if word in spread or len(word) < 4:
        return word
    longer = [w for w in spread if w.startswith(word)]
    if longer:
        return max(longer, key=lambda w: spread[w])
    return next(iter(difflib.get_close_matches(word[:40], spread, 1, 0.8)), word)


def _score_entry(entry: CatalogEntry, meant: Collection[str]) -> float:
    """1, less a little for each untyped word of the name."""
    extra = sum(1 for w in _split_words(entry.name) if w not in _EMPTY_WORDS and w not in meant)
    return round(1 - 0.01 * min(extra, 9), 2)


def find_spend_deadline(opened_on: date | None, window_months: int | None) -> date | None:
    """The last day to spend, from the opening day and the window; None where one of them is unknown."""
    return None if opened_on is None or window_months is None else add_months(opened_on, window_months)


def choose_fee(
    stored: Decimal | None, stored_currency: str, catalogued: Decimal | None, catalogue_currency: str | None
) -> tuple[Decimal, str] | None:
    """The annual fee and its currency: the stored one, else the catalogue's; None when neither is known."""
    if stored is not None:
        return stored, stored_currency
    return None if catalogued is None or catalogue_currency is None else (catalogued, catalogue_currency)


def sum_by_currency(amounts: Iterable[tuple[Decimal, str]]) -> dict[str, Decimal]:
    """Totals of nonzero amounts by currency, in the order of the currencies' codes."""
    sums: dict[str, Decimal] = {}
    for amount, currency in amounts:
        sums[currency] = sums.get(currency, Decimal(0)) + amount
    return {currency: sums[currency] for currency in sorted(sums) if sums[currency]}


def find_next_fee_date(opened_on: date | None, closed_on: date | None, has_fee: bool, today: date) -> date | None:
    """The day the next annual fee falls due: the anniversary of the opening, unless the card ends before."""
    if opened_on is None or not has_fee:
        return None
    due = next_anniversary(opened_on, today)
    return None if closed_on is not None and closed_on <= due else due


@dataclass(frozen=True)
class BonusProgress:
    """Progress towards a welcome bonus's spending, by statements or as told by the person.

    `until` is the last day they cover. `is_most`: totals are by month, so it may include spending after the deadline.
    """

    spent: Decimal
    required: Decimal
    currency: str
    until: date
    deadline: date | None
    is_most: bool
    is_told: bool = False

    @property
    def remaining(self) -> Decimal:
        return max(self.required - self.spent, Decimal(0))


def find_bonus_progress(
    required: Decimal | None,
    currency: str,
    opened_on: date | None,
    deadline: date | None,
    months: Iterable[tuple[date, Decimal]],
    until: date | None,
) -> BonusProgress | None:
    """Spending from the opening of the card to the deadline. `months`: the first day of each, and its spending.

    None without a requirement, an opening day or a statement of the card.
    """
    if not required or opened_on is None or until is None:
        return None
    first = opened_on.replace(day=1)
    within = [(month, spent) for month, spent in months if first <= month and (deadline is None or month <= deadline)]
    spent = sum((amount for _, amount in within), Decimal(0))
    return BonusProgress(spent, required, currency, until, deadline, _may_exceed(within, deadline, until))


def _may_exceed(months: Iterable[tuple[date, Decimal]], deadline: date | None, until: date) -> bool:
    """Whether statements go beyond a deadline in a month with spending: its total includes both sides."""
    if deadline is None or until <= deadline or (deadline + timedelta(days=1)).day == 1:
        return False
    return any(month == deadline.replace(day=1) and amount for month, amount in months)


def describe_bonus_progress(progress: BonusProgress, today: date) -> str:
    """`4,120 of 6,000 USD spent by 31 Oct 2026 as far as statements show; 1,880 to go by Sat 20 Feb 2027.`"""
    most = "At most " if progress.is_most else ""
    amounts = f"{most}{_plain(progress.spent)} of {_plain(progress.required)} {progress.currency}"
    source = "as you told" if progress.is_told else "as far as statements show"
    spent = f"{amounts} spent by {format_day(progress.until)} {source}"
    rest = _plain(progress.remaining)
    if not progress.remaining:
        enough = "perhaps enough" if progress.is_most else "enough"
        return f"{spent}: {enough} for the bonus. Mark it as earned once it is paid."
    if progress.deadline is None:
        return f"{spent}; {rest} to go."
    if progress.deadline < today:
        return f"{spent}; {rest} short on {format_weekday(progress.deadline)}."
    return f"{spent}; {rest} to go by {format_weekday(progress.deadline)}."


def _plain(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,.2f}"


def count_bonus_days(status: str | None, deadline: date | None, today: date) -> int | None:
    """Days to earn a welcome bonus that is still open; a past deadline is listed with the other deadlines."""
    if deadline is None or deadline < today or status in ("earned", "missed"):
        return None
    return (deadline - today).days
