"""Data classes of the audit: lines and facts of a bill, rules with their data, findings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import Any, Literal

StayType = Literal["award", "cash", "points_advance"]
Severity = Literal["high", "medium", "low", "info"]
FindingKind = Literal["charge", "benefit", "points"]
ZERO = Decimal(0)
TOLERANCE = Decimal("0.02")


@dataclass(slots=True, eq=False)
class FolioLine:
    """One posting. Credits are negative; `credited` is the part that other lines took back."""

    day: date | None
    text: str
    folded: str
    amount: Decimal
    kind: str
    subject: str | None = None  # for a tax or a credit: the kind of line it belongs to
    points: int | None = None
    settled: bool = True  # the bill itself says whether it is a charge or a credit
    credited: Decimal = ZERO
    food_credited: Decimal = ZERO
    parent: "FolioLine | None" = None
    taxes: "list[FolioLine]" = field(default_factory=list)

    @property
    def net(self) -> Decimal:
        """The part of a charge that was not credited."""
        rest = self.amount - self.credited
        return rest if rest > ZERO else ZERO

    @property
    def is_reversed(self) -> bool:
        return self.amount > 0 and self.net <= 0


@dataclass(frozen=True, slots=True)
class PrintedSum:
    """A sum printed after the bill's first `at` lines; `totals` are charges and credits."""

    kind: Literal["balance", "total", "totals"]
    values: tuple[Decimal, ...]
    at: int
    currencies: tuple[str, ...]  # what its sign or code can mean


@dataclass(frozen=True, slots=True)
class Bill:
    """A parsed bill: its lines, its printed sums, and the other text, folded."""

    lines: Sequence[FolioLine]
    unread: int
    foreign: int  # lines in another currency, in no sum
    header: str
    hotel: str
    currency: str | None
    country: str | None  # of the hotel, from its address
    sums: Sequence[PrintedSum]
    order: Literal["dmy", "mdy"]
    european: bool  # its dates are certainly written with the day first
    uncertain: bool  # its numbers can be read in two ways

    @property
    def printed_balance(self) -> Decimal | None:
        """The last balance; for several folios in one bill their sum, unless a total balance is printed."""
        balances = [s for s in self.sums if s.kind == "balance"]
        by_folio = {s.at: s.values[0] for s in balances}
        if len(by_folio) < 2 or abs(by_folio[max(by_folio)] - self.balance) <= TOLERANCE:
            return balances[-1].values[0] if balances else None
        whole = sum(by_folio.values(), ZERO)
        return whole if abs(whole - self.balance) <= TOLERANCE else balances[-1].values[0]

    @property
    def final_sum(self) -> Decimal | None:
        """The bill's final figure: a balance, else a total, else charges less credits."""
        if self.printed_balance is not None or self.printed_sum is not None:
            return self.printed_balance if self.printed_balance is not None else self.printed_sum
        return next((s.values[0] - s.values[1] for s in reversed(self.sums) if s.kind == "totals"), None)

    @property
    def printed_sum(self) -> Decimal | None:
        return next((s.values[0] for s in reversed(self.sums) if s.kind == "total"), None)

    @property
    def charges(self) -> Decimal:
        return sum((x.amount for x in self.lines if x.amount > 0), ZERO)

    @property
    def credits(self) -> Decimal:
        return -sum((x.amount for x in self.lines if x.amount < 0), ZERO)

    @property
    def balance(self) -> Decimal:
        return self.charges - self.credits


@dataclass(frozen=True, slots=True)
class FolioStay:
    """What the bill and the caller say about the stay; None is unknown."""

    chain: str
    stay_type: StayType
    tier: str | None
    guest_of_honor: bool
    arrival: date | None
    departure: date | None
    left_at: time | None
    nights: int | None
    guests: int | None
    rooms: int
    in_us: bool | None
    award_days: frozenset[date]
    mixed: bool  # some nights are paid
    confirmation: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the reference data, compiled."""

    id: str
    chain: str
    title: str
    severity: Severity
    kind: FindingKind
    stay_types: frozenset[str]
    tiers: frozenset[str]
    line_kinds: frozenset[str]
    check: str
    keeps_tax: bool
    whole_stay: bool
    country: str | None
    per_day: int | None
    every: int | None
    until: Mapping[str, time]
    only_text: re.Pattern[str] | None
    only_hotel: re.Pattern[str] | None
    unless_text: re.Pattern[str] | None
    unless_hotel: re.Pattern[str] | None
    unless_line: re.Pattern[str] | None
    sure_text: re.Pattern[str] | None  # words without which the claim depends on the guest
    claim: str
    claim_if: str  # the claim where the bill does not say whether it is true
    test: str
    action: str
    exceptions: str
    dispute_refs: Sequence[str]
    points: tuple[int, int] | None
    fact: Any = field(repr=False)  # the row: source, dates and trust


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a bill breaks. Money has a currency; points have none."""

    rule: Rule
    amount: Decimal | None
    lines: Sequence[FolioLine]
    dispute_ref: str | None
    note: str
    points: tuple[int, int] | None = None
    sure: bool = True  # the bill or the caller states the rule's conditions

    @property
    def is_disputed(self) -> bool:
        return self.rule.severity != "info"

    @property
    def severity(self) -> Severity:
        """The severity: low until the guest confirms what the bill does not say."""
        return self.rule.severity if self.sure or not self.is_disputed else "low"

    @property
    def claim(self) -> str:
        return self.rule.claim if self.sure or not self.rule.claim_if else self.rule.claim_if


@dataclass(frozen=True, slots=True)
class Chain:
    chain: str
    name: str
    programme: str
    member: str
    award: str
    terms: str
    tiers: Sequence[str]
    apart: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Everything the audit knows, compiled once from the reference data."""

    rules: Sequence[Rule]
    kinds: Sequence[tuple[str, re.Pattern[str]]]
    words: Mapping[str, re.Pattern[str]]
    chains: Mapping[str, Chain]
    benefits: Sequence[Any]
    food_credits: Mapping[str, Any]
    dispute_refs: Mapping[str, Any]
    countries: Mapping[str, str]  # folded name -> ISO 3166 code
    cities: Mapping[str, str]  # folded name of a city or state -> code of the one country that has it
