"""Rows of the folio audit: its rules, the words for a bill's lines, and the benefits of each tier of a chain."""

from decimal import Decimal

from shared.reference.rows.fact import Fact, rows_of


@rows_of("folio/rules.csv", key="id")
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
    sure_text: str | None  # words of a bill without which the claim depends on the guest
    claim: str | None
    claim_if: str | None  # the claim if the bill does not say it
    test: str
    action: str
    amount_basis: str
    exceptions: str | None
    dispute_refs: tuple[str, ...]


@rows_of("folio/line_kinds.csv", key="rank language")
class FolioLineKind:
    """Words of one language for a kind of line. Kinds are tried by rank; the first match counts."""

    rank: int
    kind: str
    language: str
    words: str


@rows_of("folio/benefits.csv", key="chain tier benefit")
class FolioBenefit(Fact):
    chain: str
    tier: str
    benefit: str
    value: str
    scope: str | None


@rows_of("folio/food_credits.csv", key="chain brand")
class FolioFoodCredit(Fact):
    chain: str
    brand: str
    usd_per_guest_day: Decimal
    high_cost_city_usd: Decimal | None


@rows_of("folio/dispute_refs.csv", key="id")
class FolioDisputeRef(Fact):
    id: str
    title: str
    url: str | None


@rows_of("folio/chains.csv", key="chain")
class FolioChain:
    """A chain's own terms; `tiers` from the lowest up, `apart` those that do not include the tiers below."""

    chain: str
    name: str
    programme: str
    member: str
    award: str
    terms: str
    tiers: tuple[str, ...]
    apart: tuple[str, ...]
