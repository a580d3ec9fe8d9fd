"""Rows of the folio audit: its rules, the words that name a bill's lines, and what each tier of a chain receives."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Fact


@dataclass(frozen=True, slots=True)
class FolioRule(Fact):
    """One rule. `check` names the function that applies it; the word patterns see text in small letters, no accents."""

    id: str
    chain: str
    title: str
    severity: str
    kind: str
    stay_types: tuple[str, ...]
    tiers: tuple[str, ...]  # empty = every guest
    line_kinds: tuple[str, ...]
    check: str
    keeps_tax: bool
    whole_stay: bool
    country: str | None
    per_day: int | None
    every: int | None
    until: tuple[str, ...]
    points: tuple[str, ...]
    only_text: str | None
    only_hotel: str | None
    unless_text: str | None
    unless_hotel: str | None
    unless_line: str | None
    sure_text: str | None  # words of a bill without which the claim depends on what the guest says
    claim: str | None
    claim_if: str | None  # the claim where the bill does not say it
    test: str
    action: str
    amount_basis: str
    exceptions: str | None
    dispute_refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FolioLineKind:
    """Words of one language that name a kind of line. Kinds are asked by rank; the first that fits names the line."""

    rank: int
    kind: str
    language: str
    words: str


@dataclass(frozen=True, slots=True)
class FolioBenefit(Fact):
    chain: str
    tier: str
    benefit: str
    value: str
    scope: str | None


@dataclass(frozen=True, slots=True)
class FolioFoodCredit(Fact):
    chain: str
    brand: str
    usd_per_guest_day: Decimal
    high_cost_city_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class FolioDisputeRef(Fact):
    id: str
    title: str
    url: str | None


@dataclass(frozen=True, slots=True)
class FolioChain:
    """How a chain names its things; `tiers` from the lowest up, `apart` those that do not include the tiers below."""

    chain: str
    name: str
    programme: str
    member: str
    award: str
    terms: str
    tiers: tuple[str, ...]
    apart: tuple[str, ...]


FOLIO_FILES: dict[str, type] = {
    "folio/rules.csv": FolioRule,
    "folio/line_kinds.csv": FolioLineKind,
    "folio/benefits.csv": FolioBenefit,
    "folio/food_credits.csv": FolioFoodCredit,
    "folio/dispute_refs.csv": FolioDisputeRef,
    "folio/chains.csv": FolioChain,
}
