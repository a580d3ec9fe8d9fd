"""The audit of one bill: reading, checks in their order of precedence, totals, benefits and the letter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from shared.domain.folio import benefits, rules
from shared.domain.folio.checks import CHECKS, Case
from shared.domain.folio.model import ZERO, Bill, Chain, Finding, FolioLine, FolioStay, Rule, Rulebook, StayType
from shared.domain.folio.reading import read_bill
from shared.domain.folio.stay import read_stay

# The dispute letter: findings and stay in the chain's own terms.


def _format_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _quote_line(line: FolioLine) -> str:
    """A line in quotation marks, so that its text cannot be taken for part of the letter."""
    when = f"{line.day.isoformat()} " if line.day else ""
    return f'{when}"{line.text.replace(chr(34), chr(39))}" {line.amount:,.2f}'


def _format_amount(finding: Finding, currency: str | None) -> str:
    if finding.amount is None:
        return ""
    if finding.rule.kind == "points":
        return f" ({finding.amount:,.0f} points)"
    return f" ({finding.amount:,.2f} {currency})" if currency else f" ({finding.amount:,.2f})"


def _write_item(number: int, finding: Finding, chain: Chain, bill: Bill, book: Rulebook) -> str:
    claim = finding.claim.replace("{award}", chain.award).replace("{member}", chain.member)
    what = f"{finding.rule.title}{_format_amount(finding, bill.currency)}"
    sentence = f"{claim[0].upper()}{claim[1:]}" if claim.startswith("The ") else f"This {claim}"
    lines = [f"{number}. {what}. {sentence}"]
    if finding.lines:
        lines.append("   Postings: " + "; ".join(map(_quote_line, finding.lines)))
    ref = book.dispute_refs.get(finding.dispute_ref or "")
    if ref is not None:
        sure = ref.url and ref.confidence != "low"  # an unverified address must not stand in a letter
        lines.append(f"   Reference: {ref.title}" + (f", {ref.url}" if sure else ""))
    return "\n".join(lines)


def _add_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def _describe_stay(stay: FolioStay) -> str:
    parts = [f"confirmation {stay.confirmation}"] if stay.confirmation else []
    if stay.arrival and stay.departure:
        parts.append(f"stay of {_format_day(stay.arrival)} to {_format_day(stay.departure)}")
    return ", ".join(parts)


def write_letter(findings: Sequence[Finding], stay: FolioStay, bill: Bill, chain: Chain, book: Rulebook) -> str:
    """Empty when there is nothing to dispute. Findings that are information only are never in it."""
    disputed = [f for f in findings if f.is_disputed]
    if not disputed:
        return ""
    about = _describe_stay(stay)
    tier = (stay.tier or "").replace("_", " ").title()
    who = "I stayed with you"
    if tier:
        who += f" as {_add_article(chain.member)}{'' if stay.tier == chain.tiers[0] else f' with {tier} status'}"
    kind = {"award": f" on {_add_article(chain.award)}", "points_advance": " on a Points Advance award"}.get(
        stay.stay_type, ""
    )
    subject = f"Subject: Request for correction of my folio{f', {about}' if about else ''}"
    items = [_write_item(n, f, chain, bill, book) for n, f in enumerate(disputed, 1)]
    total = sum((f.amount for f in disputed if f.amount and f.rule.kind != "points"), start=type(bill.balance)(0))
    come = f"{total:,.2f} {bill.currency or ''}".rstrip()
    if_all = "" if all(f.sure for f in disputed) else "If all of them apply, the"
    money = f" {if_all or 'The'} corrections come to {come}; please return what I have paid of them." if total else ""
    return "\n".join(
        (
            subject,
            "",
            f"Dear {chain.name} team,",
            "",
            f"{who}{kind}. Under {chain.terms} and the folio itself I ask you to correct the following:",
            "",
            *items,
            "",
            f"Please send a corrected folio.{money}",
            f"If the hotel cannot settle this, please pass it to {chain.programme} customer care.",
        )
    )


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
