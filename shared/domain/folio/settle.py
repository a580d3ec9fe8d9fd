"""Settlement of a bill's lines: taxes are joined to their charges, credits to what they reverse."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from heapq import nsmallest

from shared.domain.folio.kinds import FOOD, PARKING
from shared.domain.folio.model import TOLERANCE, ZERO, Bill, FolioLine

_PARENTS = {
    "resort_fee_tax": {"resort_fee"},
    "parking_tax": PARKING,
    "room_tax": {"room", "no_show", "cancellation"},  # penalties include the room tax
}
_TAX_OF = {"resort_fee": "resort_fee_tax", "room": "room_tax"} | dict.fromkeys(PARKING, "parking_tax")
NOT_CHARGES = frozenset({"payment", "deposit", "adjustment", "fnb_credit", "walk_compensation"})
_NOT_REVERSALS = frozenset({"payment", "deposit", "fnb_credit", "walk_compensation"})
TAXES = frozenset({"resort_fee_tax", "parking_tax", "room_tax", "tax", "city_tax_person"})
_HALF_CENT = Decimal("0.005")
_MAX_NEAR, _MAX_CHARGES = 40, 400  # charges compared with each credit; bounds the work for hostile texts


def settle_bill(bill: Bill) -> None:
    _settle_signs(bill)
    charges = [x for x in bill.lines if x.amount > 0 and x.kind not in NOT_CHARGES]
    _join_taxes(charges)
    open_lines = [(at, x) for at, x in enumerate(bill.lines) if x.amount > 0 and x.kind not in NOT_CHARGES][
        :_MAX_CHARGES
    ]
    for at, credit in enumerate(bill.lines):
        if credit.amount < 0 and credit.kind not in _NOT_REVERSALS:
            _apply_credit(credit, at, open_lines)
            open_lines = [(place, x) for place, x in open_lines if x.credited < x.amount]
    _apply_food_credits(bill.lines, charges)


def _settle_signs(bill: Bill) -> None:
    """Makes unsigned lines that sound like credits credits, unless the printed balance says otherwise."""
    unsure = [x for x in bill.lines if not x.settled]
    if not unsure:
        return
    change = 2 * sum((x.amount for x in unsure), ZERO)
    if bill.printed_balance is not None and abs(bill.balance - bill.printed_balance) <= TOLERANCE < abs(change):
        return
    for line in unsure:
        line.amount = -line.amount


def _join_taxes(charges: Sequence[FolioLine]) -> None:
    by_day: dict[date | None, list[tuple[int, FolioLine]]] = {}
    for at, charge in enumerate(charges):
        if charge.kind not in TAXES:
            by_day.setdefault(charge.day, []).append((at, charge))
    for at, tax in enumerate(charges):
        if tax.kind not in TAXES or tax.kind == "city_tax_person":
            continue
        kinds = _PARENTS.get(tax.kind) or ({tax.subject} if tax.subject else None)
        fits = [(place, x) for place, x in by_day.get(tax.day, ()) if kinds is None or x.kind in kinds]
        above = [x for place, x in fits if place < at]
        free = (x for x in reversed(above) if not any(t.folded == tax.folded for t in x.taxes))
        closest = next(free, None) or next(iter([*above[-1:], *(x for _, x in fits[:1])]), None)
        if closest is not None:
            tax.parent = closest
            tax.kind = _TAX_OF.get(tax.parent.kind, "tax") if tax.kind == "tax" else tax.kind
            tax.parent.taxes.append(tax)


def _list_open(lines: Iterable[FolioLine]) -> list[FolioLine]:
    return [x for x in lines if x.net > 0]


def _add_taxes(lines: Iterable[FolioLine]) -> list[FolioLine]:
    return [y for x in lines for y in (x, *_list_open(x.taxes))]


def _credit_lines(lines: Sequence[FolioLine], credit: Decimal) -> None:
    for line in lines:
        amount = min(line.net, credit)
        line.credited += amount
        credit -= amount


def _apply_credit(credit: FolioLine, at: int, open_lines: Sequence[tuple[int, FolioLine]]) -> None:
    """Finds what a credit reverses: a charge, a charge with its tax, a day's, all of the kind, or a part."""
    amount = -credit.amount
    mine = [(place, x) for place, x in open_lines if x.net > 0 and _matches_credit(credit, x)]
    near = [x for _, x in nsmallest(_MAX_NEAR, mine, key=lambda p: (p[1].day != credit.day, p[0] > at, abs(p[0] - at)))]
    for group in _list_groups(near, [x for _, x in mine], credit):
        if group and abs(sum((x.net for x in group), ZERO) - amount) <= _HALF_CENT:
            _credit_lines(group, amount)
            return
    if credit.subject:
        _credit_lines(near, amount)


def _matches_credit(credit: FolioLine, charge: FolioLine) -> bool:
    """Whether a credit can reverse a charge: the named one; for an award, rooms; without a name, any."""
    subject = credit.subject
    if subject == "points_redemption":
        return charge.kind in ("room", "room_tax")
    if subject in PARKING:
        return charge.kind in PARKING
    if subject == "tax":
        return charge.kind in TAXES
    return subject is None or charge.kind == subject


def _list_groups(near: list[FolioLine], mine: list[FolioLine], credit: FolioLine) -> Iterable[list[FolioLine]]:
    yield from ([x] for x in near)
    yield from (taxed for x in near if len(taxed := _add_taxes([x])) > 1)
    same_day = [x for x in mine if x.day == credit.day]
    wholes = [some for some in (same_day, mine) if credit.subject or len({x.kind for x in some}) == 1]
    wholes += [[x for x in mine if x.kind == kind] for kind in dict.fromkeys(x.kind for x in near)]
    for n, some in enumerate(wholes):
        if some in wholes[:n]:
            continue  # summing groups is the most expensive step
        yield some
        if len(taxed := _add_taxes(some)) > len(some):
            yield taxed


def _apply_food_credits(all_lines: Sequence[FolioLine], charges: Sequence[FolioLine]) -> None:
    """Food and drink credits go to breakfasts first; counted separately from reversals."""
    for credit in all_lines:
        if credit.kind != "fnb_credit" or credit.amount >= 0:
            continue
        unspent = -credit.amount
        for line in sorted((x for x in charges if x.kind in FOOD), key=lambda x: x.kind):
            amount = min(line.net - line.food_credited, unspent)
            line.food_credited += amount
            unspent -= amount
