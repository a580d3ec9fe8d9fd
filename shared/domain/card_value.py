"""Value of a credit card for a year's spending: earning, bonus, credits and fee, in the card's currency."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, get_args

Spending = Mapping[str, Decimal]  # category -> amount of a year, in the card's currency

Category = Literal[
    "groceries",
    "dining",
    "airfare",
    "hotels",
    "travel_other",
    "transit",
    "fuel",
    "streaming",
    "telecom_utilities",
    "online_retail",
    "retail",
    "home_improvement",
    "pharmacy_health",
    "entertainment",
    "business_services",
    "insurance_tax_gov",
    "rent",
    "tax",
    "other",
]
CATEGORIES: tuple[str, ...] = get_args(Category)
OTHER = "other"
# Other names for categories; the published list has each once.
_CALLED = {
    "flights": "airfare",
    "gas": "fuel",
    "restaurants": "dining",
    "supermarkets": "groceries",
    "taxes": "tax",
    "travel": "travel_other",
    "utilities": "telecom_utilities",
}


def find_category(name: str) -> str:
    """The category a name means, else the name as sent."""
    plain = name.strip().lower().replace(" ", "_")
    return _CALLED.get(plain, plain)


# Large sums that are seldom paid by card, and then mostly for a fee: they decide on no card unless requested.
APART = frozenset({"rent", "tax"})
# Rates of the catalogue for parts of spending categories, or under a condition (of no category). Spending
# says nothing about either, so such a rate is named, and counts only if it is below the base rate.
PARTS: dict[str, tuple[str, ...]] = {
    "advertising": ("business_services",),
    "brand": (),
    "car_rental": ("travel_other",),
    "brand_groceries": ("groceries",),
    "dining_or_groceries": (),
    "fitness": ("other",),
    "foreign": (),
    "government": ("insurance_tax_gov", "tax"),
    "hotels_brand": ("hotels",),
    "hotels_portal": ("hotels",),
    "office_supplies": ("business_services",),
    "online_groceries": ("groceries",),
    "partner_airlines": ("airfare",),
    "portal": (),
    "portal_flights": ("airfare",),
    "portal_hotels": ("hotels",),
    "rotating": (),
    "shipping": ("business_services",),
    "top2_categories": (),
    "top3_categories": (),
    "top_category": (),
    "vacation_rentals": ("travel_other",),
}
BASE = "base"
_CENT = Decimal("0.01")
_ANNIVERSARY = re.compile(r"([\d,]+) anniversary (?:points|miles)")
FIRST_YEAR_FREE = "first year free"


@dataclass(frozen=True)
class CategoryRate:
    """Points, or percent of cash back, for one unit spent in a category; beyond the cap of a year the base rate."""

    category: str
    multiplier: Decimal
    annual_cap: Decimal | None
    percent: bool = False
    cap_group: str | None = None  # rates of one group share the cap
    cap_months: int = 12  # calendar months that the cap covers


@dataclass(frozen=True)
class CardOffer:
    """A card's costs and returns. `point` is a point's worth in the card's currency, None if unknown.

    `credits` are a year's credits that count as money; None if no credit of the card is known.
    """

    fee: Decimal | None
    currency: str
    benefits: Sequence[str]
    rates: Sequence[CategoryRate]
    bonus: int | None
    bonus_spend: Decimal | None
    bonus_months: int | None
    point: Decimal | None
    credits: Decimal | None = None


@dataclass(frozen=True)
class CardValue:
    """Amounts in the card's currency. None: unknown, and left out of the sums."""

    bonus: Decimal | None
    earn: Decimal | None
    credits: Decimal | None
    fee: Decimal | None  # of the first year
    first_year: Decimal
    ongoing: Decimal
    points_per_year: int | None


def _round_to_cents(amount: Decimal) -> Decimal:
    return amount.quantize(_CENT, ROUND_HALF_UP)


def find_rate(rates: Sequence[CategoryRate], category: str) -> CategoryRate | None:
    """The rate certain for spending in a category: its own, else the base, or a part's lower rate."""
    own = next((r for r in rates if r.category == category), None)
    base = next((r for r in rates if r.category == BASE), None)
    rate = own or base
    parts = [r for r in rates if category in PARTS.get(r.category, ()) and r.percent == (rate and rate.percent)]
    low = min(parts, key=lambda r: r.multiplier, default=None)
    return low if rate and low and low.multiplier < rate.multiplier else rate


def list_conditional_rates(rates: Iterable[CategoryRate]) -> list[CategoryRate]:
    """Rates that depend on a condition or apply to a part of a category."""
    return [r for r in rates if r.category in PARTS]


def earn_by_category(rates: Sequence[CategoryRate], spending: Spending) -> dict[str, tuple[Decimal, Decimal]]:
    """A year's return by category: (points, cash). Over its cap a rate falls to the base rate, and the
    base rate to nothing, since the catalogue does not say more."""
    base = next((r for r in rates if r.category == BASE), None)
    room: dict[str, Decimal] = {}
    out: dict[str, tuple[Decimal, Decimal]] = {}
    for category, amount in sorted(spending.items(), key=lambda pair: (-pair[1], pair[0])):
        points = cash = Decimal(0)
        rest = amount
        for rate in dict.fromkeys((find_rate(rates, category), base)):
            if rate and rest:
                within_cap = _take_room(rate, rest, room)
                paid = within_cap * rate.multiplier
                more = (Decimal(0), paid / 100) if rate.percent else (paid, Decimal(0))
                points, cash, rest = points + more[0], cash + more[1], rest - within_cap
        out[category] = (points, cash)
    return out


def _take_room(rate: CategoryRate, amount: Decimal, room: dict[str, Decimal]) -> Decimal:
    """How much of an amount still gets the rate this year; `room` keeps what is left of each cap."""
    if rate.annual_cap is None:
        return amount
    key = rate.cap_group or rate.category
    within_cap = min(amount, room.get(key, rate.annual_cap))
    room[key] = room.get(key, rate.annual_cap) - within_cap
    return within_cap


def value_by_category(offer: CardOffer, spending: Spending) -> dict[str, Decimal] | None:
    """The value of a year's return by category; None if it includes points of unknown worth."""
    paid = earn_by_category(offer.rates, spending)
    if offer.point is None and any(points for points, _ in paid.values()):
        return None
    return {c: points * (offer.point or 0) + cash for c, (points, cash) in paid.items()}


def sum_anniversary_points(benefits: Iterable[str]) -> Decimal:
    return sum((Decimal(m[1].replace(",", "")) for b in benefits if (m := _ANNIVERSARY.fullmatch(b))), Decimal(0))


def count_window_spending(offer: CardOffer, total: Decimal) -> Decimal:
    """The part of a year's spending, spread evenly, within the months of the bonus."""
    return total * Decimal(offer.bonus_months or 12) / 12


def reaches_bonus(offer: CardOffer, total: Decimal | None) -> bool:
    """Whether all spending of a year, spread evenly, meets the bonus's requirement; an unknown one counts as met."""
    if offer.bonus_spend is None or total is None:
        return True
    return count_window_spending(offer, total) >= offer.bonus_spend


def value_card(
    offer: CardOffer,
    spending: Spending,
    earned_elsewhere: Mapping[str, Decimal] | None = None,
    *,
    total: Decimal | None = None,
    owned: bool = False,
) -> CardValue:
    """The card's value in its first year and in each later one.

    `earned_elsewhere` is each category's return with the cards held: only what exceeds it is this card's merit.
    `total` is all spending of a year, also outside these categories; it decides on the bonus.
    An owned card pays no second bonus; this year's fee is already paid and counts from the next.
    """
    paid = value_by_category(offer, spending)
    before = earned_elsewhere or {}
    earn = None
    if paid is not None and spending:
        earn = sum((max(value - before.get(c, Decimal(0)), Decimal(0)) for c, value in paid.items()), Decimal(0))
    bonus = None
    if offer.bonus is not None and offer.point is not None:
        counts = not owned and reaches_bonus(offer, total)
        bonus = offer.bonus * offer.point if counts else Decimal(0)
    fee = Decimal(0) if owned or FIRST_YEAR_FREE in offer.benefits else offer.fee
    yearly = (earn or Decimal(0)) + (offer.credits or Decimal(0))
    ongoing = yearly + sum_anniversary_points(offer.benefits) * (offer.point or 0) - (offer.fee or 0)
    points = int(sum(p for p, _ in earn_by_category(offer.rates, spending).values())) if spending else None
    return CardValue(
        bonus=None if bonus is None else _round_to_cents(bonus),
        earn=None if earn is None else _round_to_cents(earn),
        credits=None if offer.credits is None else _round_to_cents(offer.credits),
        fee=None if fee is None else _round_to_cents(fee),
        first_year=_round_to_cents((bonus or Decimal(0)) + yearly - (fee or 0)),
        ongoing=_round_to_cents(ongoing),
        points_per_year=points,
    )


def find_best_by_category(values_by_card: Iterable[Mapping[str, Decimal]]) -> dict[str, Decimal]:
    """The best return of any held card, by category."""
    best: dict[str, Decimal] = {}
    for paid in values_by_card:
        for category, value in paid.items():
            best[category] = max(value, best.get(category, Decimal(0)))
    return best
