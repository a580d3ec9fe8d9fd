"""The audit of one bill: reading, checks in their order of precedence, totals, benefits and the letter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from shared.domain.folio import benefits, rules
from shared.domain.folio.checks import CHECKS, Case
from shared.domain.folio.letter import write_letter
from shared.domain.folio.model import ZERO, Bill, Finding, FolioStay, Rule, Rulebook, StayType
from shared.domain.folio.reading import read_bill
from shared.domain.folio.stay import read_stay

__all__ = ["CHECKS", "BillAudit", "audit_folio"]

_SEVERITIES = ("high", "medium", "low", "info")
# Two rules can claim the same line. The first wins: the chain's own, then in this order, then all others.
_PRECEDENCE = {"tax_left": 1, "nights": 2, "charged": 3, "conversion": 3, "twice": 4}
_PENALTIES = frozenset({"no_show", "cancellation"})


@dataclass(frozen=True, slots=True)
class BillAudit:
    bill: Bill
    stay: FolioStay
    findings: Sequence[Finding]
    benefits: Sequence[object]  # rows of the reference data
    letter: str

    @property
    def disputed_amount(self) -> Decimal:
        """Money asked back, without points."""
        return sum((f.amount for f in self.findings if f.is_disputed and f.amount and f.rule.kind != "points"), ZERO)

    @property
    def points(self) -> tuple[int, int] | None:
        """Points the findings are about, as far as they are known."""
        points = [f.points for f in self.findings if f.is_disputed and f.points]
        return (sum(p[0] for p in points), sum(p[1] for p in points)) if points else None


def _rank(rule: Rule) -> tuple[object, ...]:
    """Rules with more conditions come first, such as Your24 before late checkout."""
    own = rule.chain != "any" and rule.check == "charged"
    return (0 if own else _PRECEDENCE.get(rule.check, 5), rule.only_text is None, rule.id)


def _find_all(case: Case) -> list[Finding]:
    findings = []
    for rule in sorted(case.book.rules, key=_rank):
        if not rules.applies_to_stay(rule, case.stay, case.bill):
            continue
        if finding := CHECKS[rule.check](rule, case):
            findings.append(_add_points(finding, case))
            if finding.is_disputed and rule.kind == "charge":
                case.claimed |= {id(x) for x in finding.lines}
    return sorted(findings, key=lambda f: (_SEVERITIES.index(f.severity), f.rule.id))


def _add_points(finding: Finding, case: Case) -> Finding:
    """A penalty on an award puts the points of the booking at stake."""
    if not _PENALTIES & finding.rule.line_kinds or not (points := benefits.find_points(case)):
        return finding
    return replace(finding, points=(points, points))


def list_expected_benefits(book: Rulebook, chain: str, tier: str | None) -> list[object]:
    """What a tier receives: its own benefits, and of the tiers below those it has no better form of."""
    ladder = book.chains[chain]
    if tier is None:
        return []
    below = ladder.tiers[: ladder.tiers.index(tier) + 1]
    steps = [ladder.tiers[0], tier] if tier in ladder.apart else below
    best = {b.benefit: b for step in steps for b in book.benefits if (b.chain, b.tier) == (chain, step)}
    return list(best.values())


def audit_folio(
    text: str,
    chain: str,
    book: Rulebook,
    stay_type: StayType | None = None,
    tier: str | None = None,
    confirmation: str | None = None,
) -> BillAudit:
    """The whole audit. Without a readable line the result has no findings."""
    bill = read_bill(text, book)
    stay = read_stay(bill, book.chains[chain], stay_type, tier, confirmation)
    findings = _find_all(Case(bill, stay, book)) if bill.lines else []
    letter = write_letter(findings, stay, bill, book.chains[chain], book)
    return BillAudit(bill, stay, findings, list_expected_benefits(book, chain, stay.tier), letter)
