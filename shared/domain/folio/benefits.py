"""Checks for benefits the guest should have received: credits, vouchers, free nights and walk compensation."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio.checks import Case, check, make_finding
from shared.domain.folio.kinds import FOOD
from shared.domain.folio.model import ZERO, Finding, FolioLine, Rule
from shared.domain.folio.stay import count_nights
from shared.domain.parsing.amounts import first_amount

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
    """The brand's amount for up to two guests and each night, not above the food spend, less what was credited."""
    # The brand with a daily credit whose name the hotel carries; the longest name that fits.
    fits = [b for b in case.book.food_credits if re.search(rf"\b{re.escape(b)}\b", case.bill.hotel)]
    brand, food = (case.book.food_credits[max(fits, key=len)] if fits else None), _list_food(case)
    if brand is None or not food:
        return None
    guests = min(case.stay.guests or 2, 2)
    nights = count_nights(case.bill, case.stay) or 1
    due = min(_sum_net(food), brand.usd_per_guest_day * guests * nights) - _sum_credits(case)
    counted = "" if case.stay.guests else " The bill names no guests: two are reckoned, as the benefit is written."
    note = f"{brand.brand}: {brand.usd_per_guest_day} USD a guest and day, {guests} guests, {nights} nights.{counted}"
    if due <= 0:
        return None
    return replace(make_finding(rule, case, due, food, note), sure=case.stay.guests is not None)


@check("voucher")
def check_vouchers(rule: Rule, case: Case) -> Finding | None:
    """The vouchers the bill mentions, not above the food spend, unless a credit was given."""
    food, header = _list_food(case), case.bill.header
    number = int(m.group(1)) if (m := _VOUCHERS.search(header)) else 1
    named = rule.only_text.search(header) if rule.only_text else None
    printed = first_amount(header[named.end() : named.end() + 25]) if named else None
    credits = [-x.amount for x in case.bill.lines if x.amount < 0 and x.kind not in ("payment", "deposit")]
    credited = _sum_credits(case) or sum((c for c in credits if c == (printed or _VOUCHER)), ZERO)
    due = min(_sum_net(food), (printed or _VOUCHER) * number) - credited
    return make_finding(rule, case, due, food) if food and due > 0 else None


def _parse_points(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _count_free_points(rule: Rule, case: Case) -> int:
    """Points of the free nights that were taken, from nights times points or a price each night with a total."""
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
    """Points taken for every fifth or fourth night: of the posted nights, else of what the bill says it took."""
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
    """A finding from the words of the bill alone; its amount depends on the brand."""
    finding = make_finding(
        rule, case, None, [], "The amount depends on the brand, which the reviewed data do not list."
    )
    return replace(finding, points=rule.points)


@check("walk_credit")
def check_walk_credit(rule: Rule, case: Case) -> Finding | None:
    """A guarantee's amount taken off the bill; named by the line, or by the bill where a round amount was taken off."""
    credits = [x for x in case.bill.lines if x.amount < 0 and x.kind in rule.line_kinds]
    named = [x for x in credits if x.kind == "walk_compensation" or _WALKED.search(x.folded)]
    if not named and _WALKED.search(case.bill.header):
        named = [x for x in credits if -x.amount in (100, 200)]
    if not named:
        return None
    finding = make_finding(rule, case, -sum((x.amount for x in named), ZERO), named)
    return replace(finding, points=rule.points)


def find_points(case: Case) -> int | None:
    """The points a booking cost, where the bill names them."""
    words = "\n".join((case.bill.header, *(x.folded for x in case.bill.lines)))
    return next((n for a, b in _POINTS.findall(words) if (n := _parse_points(a or b)) >= 1000), None)
