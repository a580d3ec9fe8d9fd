"""The audit of one bill: reading, checks in order of precedence, totals, benefits and the letter."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio import rules
from shared.domain.folio.checks import CHECKS, Case, check, is_read_whole, make_finding
from shared.domain.folio.kinds import FOOD
from shared.domain.folio.model import ZERO, Bill, Chain, Finding, FolioLine, FolioStay, Rule, Rulebook, StayType
from shared.domain.folio.reading import read_bill
from shared.domain.folio.stay import count_nights, read_stay
from shared.domain.parsing.amounts import first_amount

# Checks for benefits the guest should have received: credits, vouchers, free nights and walk compensation.

_NTH = {4: r"(?:night (?:no\.? )?4|4th night|fourth night)", 5: r"(?:night (?:no\.? )?5|5th night|fifth night)"}
_TIMES = re.compile(r"(\d{1,2})\s*(?:nights?)?\s*(?:[x*@×]|\bat\b)\s*(\d[\d.,']*\d)\s*(?:points?|pts)?")
_EACH = re.compile(r"(\d[\d.,']*\d)\s*(?:points?|pts)?\s*(?:per|a|each|/)\s*night")
_POINTS = re.compile(r"(\d[\d.,']*\d)\s*(?:[a-z]+ )?(?:points?|pts)\b|\bpoints?[^\n\d]{0,20}(\d[\d.,']*\d)")
_VOUCHERS = re.compile(r"(?<!\S)(\d) ?(?:x ?)?(?:usd ?20 )?(?:f ?& ?b|food (?:and|&) beverage) (?:reward|voucher)")
_WALKED = re.compile(r"reservation guarantee|\bwalked\b|relocated|\burg\b")
_VOUCHER = Decimal(20)


def _list_food(case: Case) -> list[FolioLine]:
    return [x for x in case.list_charges() if x.kind in FOOD and case.is_open(x)]


def _sum_net(lines: Sequence[FolioLine]) -> Decimal:
    return sum((x.net for x in lines), ZERO)


def _sum_credits(case: Case) -> Decimal:
    return -sum((x.amount for x in case.bill.lines if x.kind == "fnb_credit" and x.amount < 0), ZERO)


@check("daily_credit")
def check_daily_credit(rule: Rule, case: Case) -> Finding | None:
    """The brand's amount for up to two guests each night, up to the food spend, less what was credited."""
    # The brand with a daily credit whose name the hotel has; the longest match.
    fits = [b for b in case.book.food_credits if re.search(rf"\b{re.escape(b)}\b", case.bill.hotel)]
    brand, food = (case.book.food_credits[max(fits, key=len)] if fits else None), _list_food(case)
    if brand is None or not food:
        return None
    guests = min(case.stay.guests or 2, 2)
    nights = count_nights(case.bill, case.stay) or 1
    due = min(_sum_net(food), brand.usd_per_guest_day * guests * nights) - _sum_credits(case)
    guest_note = "" if case.stay.guests else " The bill names no guests: two are reckoned, as the benefit is written."
    note = (
        f"{brand.brand}: {brand.usd_per_guest_day} USD a guest and day, {guests} guests, {nights} nights.{guest_note}"
    )
    if due <= 0:
        return None
    return replace(make_finding(rule, case, due, food, note), sure=case.stay.guests is not None)


@check("voucher")
def check_vouchers(rule: Rule, case: Case) -> Finding | None:
    """The vouchers that the bill mentions, up to the food spend, unless a credit was given."""
    food, header = _list_food(case), case.bill.header
    number = int(m.group(1)) if (m := _VOUCHERS.search(header)) else 1
    match = rule.only_text.search(header) if rule.only_text else None
    printed = first_amount(header[match.end() : match.end() + 25]) if match else None
    credits = [-x.amount for x in case.bill.lines if x.amount < 0 and x.kind not in ("payment", "deposit")]
    credited = _sum_credits(case) or sum((c for c in credits if c == (printed or _VOUCHER)), ZERO)
    due = min(_sum_net(food), (printed or _VOUCHER) * number) - credited
    return make_finding(rule, case, due, food) if food and due > 0 else None


def _parse_points(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _count_free_points(rule: Rule, case: Case) -> int:
    """Points taken for free nights, from nights times points, or a price each night with a total."""
    words, nights = "\n".join((case.bill.header, *(x.folded for x in case.bill.lines))), case.stay.nights
    free = (nights or 0) // (rule.every or 1)
    if nth := re.search(rf"{_NTH.get(rule.every or 0, '$^')}[^\n\d]{{0,30}}(\d[\d.,']*\d)\s*(?:points|pts)", words):
        return _parse_points(nth.group(1)) if free else 0
    if times := _TIMES.search(words):
        count, each = int(times.group(1)), _parse_points(times.group(2))
        nights = nights or count
        free = nights // (rule.every or 1)
        return each * max(count - (nights - free), 0) if free and each >= 1000 else 0
    if not free or nights is None or not (each_night := _EACH.search(words)):
        return 0
    each = _parse_points(each_night.group(1))
    totals = [_parse_points(a or b) for a, b in _POINTS.findall(words)]
    return each * max(max(totals, default=0) // each - (nights - free), 0) if each >= 1000 else 0


@check("free_night")
def check_free_nights(rule: Rule, case: Case) -> Finding | None:
    """Points taken for every fifth or fourth night: by the posted nights, else by the bill's own statement."""
    nights = sorted((x for x in case.bill.lines if x.kind == "points_redemption" and x.day), key=lambda x: x.day or 0)
    days = list(dict.fromkeys(x.day for x in nights))
    together = all(a and b and (b - a).days == 1 for a, b in pairwise(days))
    every = rule.every or 1
    if together and len(nights) == len(days) >= every and any(x.points for x in nights):
        lines = [x for x in nights[every - 1 :: every] if x.points]
        points = sum(x.points or 0 for x in lines)
    else:
        lines, points = [], _count_free_points(rule, case)
    if not points:
        return None
    finding = make_finding(rule, case, Decimal(points), lines, f"{points:,} points were taken for the free night.")
    return replace(finding, points=(points, points))


@check("reported")
def report_words(rule: Rule, case: Case) -> Finding | None:
    """A finding from only the words of the bill; its amount depends on the brand."""
    finding = make_finding(
        rule, case, None, [], "The amount depends on the brand, which the reviewed data do not list."
    )
    return replace(finding, points=rule.points)


@check("walk_credit")
def check_walk_credit(rule: Rule, case: Case) -> Finding | None:
    """A guarantee's amount taken off the bill; named by the line, or by the bill if a round amount was taken off."""
    credits = [x for x in case.bill.lines if x.amount < 0 and x.kind in rule.line_kinds]
    compensations = [x for x in credits if x.kind == "walk_compensation" or _WALKED.search(x.folded)]
    if not compensations and _WALKED.search(case.bill.header):
        compensations = [x for x in credits if -x.amount in (100, 200)]
    if not compensations:
        return None
    finding = make_finding(rule, case, -sum((x.amount for x in compensations), ZERO), compensations)
    return replace(finding, points=rule.points)


def find_points(case: Case) -> int | None:
    """The points a booking cost, if the bill names them."""
    words = "\n".join((case.bill.header, *(x.folded for x in case.bill.lines)))
    return next((n for a, b in _POINTS.findall(words) if (n := _parse_points(a or b)) >= 1000), None)


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
        sure = ref.url and ref.confidence != "low"  # an unverified address must not be in a letter
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
    """Writes the letter; empty if there is nothing to dispute. It never has findings that only inform."""
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
# Two rules can claim the same line. The first wins: the chain's own, then these in order, then all others.
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
        """The money disputed, without points."""
        return sum((f.amount for f in self.findings if f.is_disputed and f.amount and f.rule.kind != "points"), ZERO)

    @property
    def points(self) -> tuple[int, int] | None:
        """The points the findings are about, where known."""
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
    if not _PENALTIES & finding.rule.line_kinds or not (points := find_points(case)):
        return finding
    return replace(finding, points=(points, points))


def list_expected_benefits(book: Rulebook, chain: str, tier: str | None) -> list[object]:
    """What a tier receives: its own benefits, and lower tiers' that it does not improve."""
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
    """Runs the whole audit. Without a readable line there are no findings."""
    bill = read_bill(text, book)
    stay = read_stay(bill, book.chains[chain], stay_type, tier, confirmation)
    findings = _find_all(Case(bill, stay, book)) if bill.lines else []
    if not is_read_whole(bill):
        findings = [f for f in findings if not f.is_disputed]
    letter = write_letter(findings, stay, bill, book.chains[chain], book)
    return BillAudit(bill, stay, findings, list_expected_benefits(book, chain, stay.tier), letter)
