"""Checks for charges that should not stand on the bill, registered by the name the rules use."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from shared.domain.folio import rules
from shared.domain.folio.model import ZERO, Bill, Finding, FolioLine, FolioStay, Rule, Rulebook
from shared.domain.folio.settle import NOT_CHARGES, TAXES, TOLERANCE
from shared.domain.folio.stay import find_deposits
from shared.domain.parsing.dates import first_time

_CONVERSION = re.compile(r"\d\s?%|margin|mark-?up|marge|aufschlag|margen|margine|margem|rate\b")


@dataclass(slots=True)
class Case:
    """One bill under audit; `claimed` are the lines a finding already asks back."""

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
    """Registers a function under the name the rules' data use."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register


def make_finding(rule: Rule, case: Case, amount: Decimal | None, lines: Sequence[FolioLine], note: str = "") -> Finding:
    prefix = f"D-{case.stay.chain.upper()}-"
    ref = next((r for r in rule.dispute_refs if r.startswith(prefix)), next(iter(rule.dispute_refs), None))
    order = {id(x): at for at, x in enumerate(case.bill.lines)}
    return Finding(rule, amount, sorted(lines, key=lambda x: order[id(x)]), ref, note)


def _open_amount(line: FolioLine) -> Decimal:
    """What is left of a charge after reversals and food credits."""
    return line.net - line.food_credited


def _check_time(rule: Rule, line: FolioLine, stay: FolioStay) -> tuple[bool, str]:
    """Whether the guest left within the tier's time; a note says so where the bill shows no time."""
    limit = rule.until.get(rules.find_tier(rule, stay) or "")
    if limit is None:
        return True, ""
    checkout = stay.left_at or first_time(line.folded)
    if checkout is None:
        return True, f"The bill shows no checkout time: this holds if you left by {limit:%H:%M}."
    return checkout <= limit, f"You left at {checkout:%H:%M}; your tier's time is {limit:%H:%M}."


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
    """Lines of the rule's kinds that are still to be paid, with their tax."""
    lines, note = [], ""
    for line in case.list_charges():
        if case.is_open(line) and _open_amount(line) > 0 and rules.applies_to_line(rule, line, case.stay):
            good, time_note = _check_time(rule, line, case.stay)
            if good:
                lines.append(line)
                note = note or time_note
    lines = _limit_per_day(lines, rule.per_day)
    if not lines:
        return None
    taxes = [t for x in lines for t in x.taxes if case.is_open(t)] if rule.keeps_tax else []
    taxes = [t for t in taxes if t not in lines]
    return make_finding(rule, case, sum(map(_open_amount, [*lines, *taxes]), ZERO), [*lines, *taxes], note)


@check("conversion")
def check_conversion(rule: Rule, case: Case) -> Finding | None:
    """A conversion line; or words that the payment was converted with a margin, whose amount nobody printed."""
    if finding := check_charges(rule, case):
        return finding
    words = dict(case.book.kinds)["dcc"]
    paid = [x for x in case.bill.lines if x.kind == "payment" and words.search(x.folded)]
    noted = [h for h in case.bill.header.split("\n") if words.search(h) and _CONVERSION.search(h)]
    return make_finding(rule, case, None, paid, "The bill does not print the margin.") if paid or noted else None


@check("nights")
def check_nights(rule: Rule, case: Case) -> Finding | None:
    """Room lines beyond the nights; those outside the stay first, then the later ones. A half day is no night."""
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
    """Lines of one day, description and amount, beyond as many as are plausible for the guests and rooms."""
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
    """The lines against the printed balance, else the printed totals; not for bills with unread lines."""
    bill = case.bill
    if bill.unread:
        return None
    off = find_difference(bill)
    note = f"The lines add up to {bill.balance}; the bill does not print that."
    return make_finding(rule, case, off, [], note) if off > TOLERANCE else None


def find_difference(bill: Bill) -> Decimal:
    """How far the printed figures are from the lines; zero where nothing is printed."""
    if bill.printed_balance is not None:
        off = abs(bill.balance - bill.printed_balance)
        return off if off > TOLERANCE else _compare_totals(bill)
    if bill.printed_sum is not None:
        likely = (bill.balance, bill.charges, bill.charges - bill.credits_but_payments)
        return (
            ZERO
            if any(abs(x - bill.printed_sum) <= TOLERANCE for x in likely)
            else abs(bill.balance - bill.printed_sum)
        )
    return _compare_totals(bill)


def _compare_totals(bill: Bill) -> Decimal:
    """The totals of both columns; bills print credits among the credits or take them off the charges."""
    if bill.printed_totals is None:
        return ZERO
    charges, credits = bill.printed_totals
    likely = (bill.charges, bill.charges - bill.credits_but_payments)
    return max(abs(charges - credits - bill.balance), min(abs(charges - x) for x in likely))


@check("deposit")
def check_deposits(rule: Rule, case: Case) -> Finding | None:
    """A deposit the bill mentions and no line credits."""
    credits = [-x.amount for x in case.bill.lines if x.amount < 0]
    deposits = [-x.amount for x in case.bill.lines if x.amount < 0 and x.kind == "deposit"]
    missing = ZERO
    for amount in find_deposits(case.bill.header, dict(case.book.kinds)["deposit"]):
        if amount in credits:
            credits.remove(amount)
        elif not deposits:
            missing += amount
    return make_finding(rule, case, missing, []) if missing else None
