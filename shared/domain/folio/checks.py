"""Checks for charges that should not stand on the bill, registered by the name the rules use."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from shared.domain.folio import rules
from shared.domain.folio.model import TOLERANCE, ZERO, Bill, Finding, FolioLine, FolioStay, Rule, Rulebook
from shared.domain.folio.settle import NOT_CHARGES, TAXES
from shared.domain.folio.stay import find_deposits
from shared.domain.folio.sums import adds_up, find_difference
from shared.domain.parsing.dates import first_time

_CONVERSION = re.compile(r"\d\s?%|margin|mark-?up|marge|aufschlag|margen|margine|margem|rate\b|\bat \d")


@dataclass(slots=True)
class Case:
    """One bill under audit; `claimed` are lines already disputed."""

    bill: Bill
    stay: FolioStay
    book: Rulebook
    claimed: set[int] = field(default_factory=set)

    def is_open(self, line: FolioLine) -> bool:
        return line.net > 0 and id(line) not in self.claimed

    def list_charges(self) -> list[FolioLine]:
        return [x for x in self.bill.lines if x.amount > 0 and x.kind not in NOT_CHARGES]


Check = Callable[[Rule, Case], Finding | None]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Registers a function under the name used in the rules' data."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register


def make_finding(rule: Rule, case: Case, amount: Decimal | None, lines: Sequence[FolioLine], note: str = "") -> Finding:
    prefix = f"D-{case.stay.chain.upper()}-"
    ref = next((r for r in rule.dispute_refs if r.startswith(prefix)), next(iter(rule.dispute_refs), None))
    order = {id(x): at for at, x in enumerate(case.bill.lines)}
    sure = rules.is_sure(rule, case.bill)
    return Finding(rule, amount, sorted(lines, key=lambda x: order[id(x)]), ref, note, sure=sure)


def _open_amount(line: FolioLine) -> Decimal:
    """The rest of a charge after reversals and food credits."""
    return line.net - line.food_credited


def _check_time(rule: Rule, line: FolioLine, stay: FolioStay) -> tuple[bool | None, str]:
    """Whether the guest left within the tier's time; None and a note where the bill shows no time."""
    limit = rule.until.get(rules.find_tier(rule, stay) or "")
    if limit is None:
        return True, ""
    checkout = stay.left_at or first_time(line.folded)
    if checkout is None:
        return None, f"The bill shows no checkout time: this holds if you left by {limit:%H:%M}."
    return checkout <= limit, f"The bill shows checkout at {checkout:%H:%M}; the tier's time is {limit:%H:%M}."


def _limit_per_day(lines: Sequence[FolioLine], most: int | None) -> list[FolioLine]:
    counts: dict[object, int] = {}
    lines_kept = []
    for line in lines:
        counts[line.day] = counts.get(line.day, 0) + 1
        if most is None or counts[line.day] <= most:
            lines_kept.append(line)
    return lines_kept


@check("charged")
def check_charges(rule: Rule, case: Case) -> Finding | None:
    """The unpaid lines of the rule's kinds, with their tax."""
    lines, note, sure = [], "", True
    for line in case.list_charges():
        if case.is_open(line) and _open_amount(line) > 0 and rules.applies_to_line(rule, line, case.stay):
            in_time, time_note = _check_time(rule, line, case.stay)
            if in_time is not False:
                lines.append(line)
                note, sure = note or time_note, sure and in_time is not None
    lines = _limit_per_day(lines, rule.per_day)
    if not lines:
        return None
    taxes = [t for x in lines for t in x.taxes if case.is_open(t)] if rule.keeps_tax else []
    taxes = [t for t in taxes if t not in lines]
    finding = make_finding(rule, case, sum(map(_open_amount, [*lines, *taxes]), ZERO), [*lines, *taxes], note)
    return finding if sure else replace(finding, sure=False)


@check("conversion")
def check_conversion(rule: Rule, case: Case) -> Finding | None:
    """A conversion line, or words that the payment was converted with a margin, whose amount is not printed."""
    if finding := check_charges(rule, case):
        return finding
    words = dict(case.book.kinds)["dcc"]
    paid = [x for x in case.bill.lines if x.kind == "payment" and words.search(x.folded)]
    noted = [h for h in case.bill.header.split("\n") if words.search(h) and _CONVERSION.search(h)]
    return make_finding(rule, case, None, paid, "The bill does not print the margin.") if paid or noted else None


@check("nights")
def check_nights(rule: Rule, case: Case) -> Finding | None:
    """Room lines beyond the nights; those outside the stay first, then the latest. A half day is no night."""
    stay = case.stay
    if stay.nights is None:
        return None
    rooms = [x for x in case.list_charges() if x.kind == "room" and x.net > 0 and not _is_half_day(x, case)]
    covered = len(stay.award_days - {x.day for x in rooms if x.day})
    extra = len(rooms) + covered - stay.nights * stay.rooms
    if extra <= 0:
        return None
    free = [x for x in rooms if case.is_open(x)]
    free.sort(key=lambda x: (_is_within_stay(x, stay), not _is_repeated(x, rooms)))
    late = [x for x in free if not _is_within_stay(x, stay) or _is_repeated(x, rooms)]
    extra_rooms = (late or free[::-1])[: min(extra, len(free))]
    if not extra_rooms:
        return None
    lines = [y for x in extra_rooms for y in (x, *x.taxes) if case.is_open(y)]
    return make_finding(rule, case, sum((x.net for x in lines), ZERO), lines)


def _is_within_stay(line: FolioLine, stay: FolioStay) -> bool:
    if line.day is None or stay.departure is None or stay.arrival is None:
        return True
    return stay.arrival <= line.day < stay.departure


def _is_repeated(line: FolioLine, rooms: Sequence[FolioLine]) -> bool:
    return any(x.day == line.day for x in rooms[: rooms.index(line)])


def _is_half_day(line: FolioLine, case: Case) -> bool:
    same = (x for x in case.bill.lines if x.kind == "room" and x is not line)
    return line.day is not None and line.day == case.stay.departure and any(x.amount == 2 * line.amount for x in same)


@check("twice")
def check_repeats(rule: Rule, case: Case) -> Finding | None:
    """Repeated lines (day, description, amount) beyond what the guests and rooms explain."""
    groups: dict[tuple[object, ...], list[FolioLine]] = {}
    for line in case.list_charges():
        if case.is_open(line):
            parent = id(line.parent) if line.kind in TAXES else 0
            groups.setdefault((line.day, line.folded, line.amount, parent), []).append(line)
    extra = [x for g in groups.values() for x in g[_count_plausible(g[0], case.stay) :]]
    for group in groups.values():
        for line in (x for x in group[1:] if x in extra and len(x.taxes) == len(group[0].taxes)):
            extra += [t for t in line.taxes if case.is_open(t) and t not in extra]
    return make_finding(rule, case, sum((x.net for x in extra), ZERO), extra) if extra else None


def _count_plausible(line: FolioLine, stay: FolioStay) -> int:
    if line.kind in ("breakfast", "city_tax_person"):
        return max(stay.guests or 2, 1) * stay.rooms
    return stay.rooms


@check("tax_left")
def check_taxes(rule: Rule, case: Case) -> Finding | None:
    lines = [
        x
        for x in case.list_charges()
        if x.kind in rule.line_kinds and case.is_open(x) and x.parent is not None and x.parent.is_reversed
    ]
    return make_finding(rule, case, sum((x.net for x in lines), ZERO), lines) if lines else None


@check("adds_up")
def check_sums(rule: Rule, case: Case) -> Finding | None:
    """Checks the lines against the printed sums; only if every line was understood."""
    bill = case.bill
    if not is_understood(bill):
        return None
    off = find_difference(bill)
    note = f"The lines add up to {bill.balance}; the bill does not print that."
    return make_finding(rule, case, off, [], note) if off > TOLERANCE else None


def is_read_whole(bill: Bill) -> bool:
    """Whether the lines add up to the printed sums, or no unread line could explain why they do not."""
    return adds_up(bill) or is_understood(bill)


def is_understood(bill: Bill) -> bool:
    """Whether each line was read, is in the bill's currency, and is known to be a charge or a credit."""
    return not (bill.unread or bill.foreign or bill.uncertain or any(x.kind == "other" for x in bill.lines))


@check("deposit")
def check_deposits(rule: Rule, case: Case) -> Finding | None:
    """A deposit that the bill mentions but no line credits."""
    credits = [-x.amount for x in case.bill.lines if x.amount < 0]
    deposits = [-x.amount for x in case.bill.lines if x.amount < 0 and x.kind == "deposit"]
    missing = ZERO
    for amount in find_deposits(case.bill.header, dict(case.book.kinds)["deposit"]):
        if amount in credits:
            credits.remove(amount)
        elif not deposits:
            missing += amount
    return make_finding(rule, case, missing, []) if missing else None
