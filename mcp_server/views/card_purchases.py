"""The best card to pay with: what a purchase earns on each, and what is left of caps."""

from collections.abc import Sequence
from typing import Literal

from mcp_server.toolkit import Call, Money, Part
from mcp_server.views.own_cards import Wallet
from mcp_server.views.scored_cards import ScoredCard, describe_payment_fee, name_category
from shared.domain import card_purchases
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.spending.categories import describe_uncategorised
from shared.reference import cards as catalogue
from shared.reference.load import Reference


class EarnCap(Part):
    """`used` and `remaining`: None where no statement of this cycle is imported."""

    amount: Money
    cycle: str
    used: Money | None
    remaining: Money | None
    statements_until: str | None


class PurchaseValue(Part):
    """What the purchase brings. `value` is in the card's currency, None when the points have no known value."""

    amount: Money
    multiplier: Money
    unit: Literal["points_per_unit", "percent"]
    points: int
    cash_back: Money
    value: Money | None
    cents_per_unit: Money | None
    cap: EarnCap | None


def to_purchase_value(s: ScoredCard) -> PurchaseValue | None:
    """The value of a purchase; None without a purchase, or a known rate of the card."""
    if s.purchase is None:
        return None
    amount, value = s.paid_usd / s.usd_per_unit, s.purchase_value
    cap = s.purchase.cap
    return PurchaseValue(
        amount=round(amount, 2),
        multiplier=s.purchase.rate.multiplier,
        unit="percent" if s.purchase.rate.percent else "points_per_unit",
        points=int(s.purchase.points),
        cash_back=round(s.purchase.cash, 2),
        value=None if value is None else round(value, 2),
        cents_per_unit=None if value is None or not amount else round(value / amount * 100, 2),
        cap=cap
        and EarnCap.from_row(
            cap, amount=round(cap.amount, 2), statements_until=s.statements.until.isoformat() if s.statements else None
        ),
    )


def describe_best_card(call: Call, listed: list[ScoredCard], wallet: Wallet, category: str, currency: str) -> str:
    """`Use your X: 4 points per USD on dining, about 7.2 cents per USD; the cap ...`"""
    best = listed[0]
    sentences = [f"Use your {wallet.names[best.card.slug]}: {_describe_return(call.reference, best, category)}."]
    if not best.moves:
        sentences.append("Its points are counted as cash, since no card held moves them to other programmes.")
    if len(listed) > 1:
        second = listed[1]
        sentences.append(
            f"Next: {wallet.names[second.card.slug]}, {_describe_return(call.reference, second, category)}."
        )
    if any(s.card.fee_currency != currency for s in listed[:1]):
        sentences.append("A fee for foreign currency is not counted.")
    if remark := catalogue.find_remark(call.reference, best.card.slug, category, call.today):
        sentences.append(f"The rate holds for {remark}.")
    sentences += describe_payment_fee(category)
    if wallet.open_custom:
        sentences.append(f"Not compared, as the catalogue lacks them: {pluralize(wallet.open_custom, 'card')}.")
    return " ".join([*sentences, "Estimates; no fee and no bonus is counted."])


def describe_cap_basis(listed: Sequence[ScoredCard]) -> list[str]:
    """Says that the used part of a cap comes from statements, as far as their shops are known."""
    capped = [s for s in listed if s.purchase and s.purchase.cap and s.statements]
    cells = ((c.category, c.net * s.usd_per_unit) for s in capped for c in (s.statements.cells if s.statements else ()))
    return describe_uncategorised(cells)


def _describe_return(reference: Reference, s: ScoredCard, category: str) -> str:
    if s.purchase is None:
        return "no earning rate of it is known"
    currency = s.card.fee_currency
    rate = s.purchase.rate
    number = f"{rate.multiplier.normalize():f}"
    unit = catalogue.find_currency_name(reference, s.card)
    paid = f"{number}% back" if rate.percent else f"{number} {unit} per {currency}"
    value = s.purchase_value
    amount = s.paid_usd / s.usd_per_unit
    worth = "" if value is None or not amount else f", about {value / amount * 100:.1f} cents per {currency}"
    until = format_day(s.statements.until) if s.statements else None
    cap = card_purchases.describe_cap(s.purchase, currency, until)
    unknown = ", and no value of these points is known" if value is None else ""
    return f"{paid} on {name_category(category)}{worth}{unknown}{f'; {cap}' if cap else ''}"


def describe_no_card(wallet: Wallet) -> str:
    if wallet.open_slugs:
        return "None of the cards held can be compared: their rates or currencies are not known, or they miss the goal."
    return "No open card of the catalogue is kept here: record those you hold with add_card."
