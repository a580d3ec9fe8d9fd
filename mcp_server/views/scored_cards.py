"""A catalogue card with its worth to a person, and the spending behind that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from shared.db.card_spending import CardSpending
from shared.domain.card_purchases import Purchase
from shared.domain.card_value import APART, CardOffer, CardValue
from shared.domain.issuer_rules import ALLOWED, Eligibility, RuleCheck
from shared.domain.spending.categories import describe_uncategorised
from shared.reference.rows.travel import CatalogCard, IssuerRule, WelcomeOffer


@dataclass(frozen=True)
class Spending:
    """A year's spending by category in US dollars, and its origin."""

    source: Literal["imported", "argument", "none"]
    months: int
    usd: Mapping[str, Decimal]
    total_usd: Decimal | None = None  # of all these categories; None when nothing is known
    apart: Mapping[str, Decimal] = field(default_factory=dict)  # from statements, counted only on request
    is_once: bool = False  # one purchase, made as soon as the card arrives

    def within(self, category: str | None) -> "Spending":
        if category is None or self.source == "none":
            return self
        apart = self.apart.get(category, Decimal(0))
        usd = {category: self.usd.get(category, Decimal(0)) + apart}
        remaining = {c: amount for c, amount in self.apart.items() if c != category}
        return replace(self, usd=usd, total_usd=(self.total_usd or Decimal(0)) + apart, apart=remaining)


@dataclass(frozen=True)
class ScoredCard:
    """A card with its worth; `per_hundred` is the return on 100 in the requested category."""

    card: CatalogCard
    offer: CardOffer
    worth: CardValue
    ratio: Fraction | None
    per_hundred: Decimal | None
    usd_per_unit: Decimal
    is_held: bool
    was_held: bool
    is_marginal: bool  # other cards held earn on this spending too
    welcome: WelcomeOffer | None  # None: no current one is known
    missing: tuple[CatalogCard, ...]  # one of these must be held for the points to move
    moves: bool  # with the cards held the points can be transferred, or the goal is their own programme
    purchase: Purchase | None = None
    statements: CardSpending | None = None
    paid_usd: Decimal = Decimal(0)  # the amount of the purchase
    rules: tuple[tuple[IssuerRule, RuleCheck], ...] = ()  # of its issuer, compared with the cards kept
    eligibility: Eligibility = ALLOWED

    allowed_first_year: Decimal = Decimal(0)  # its first-year value on a day without a rule against it

    @property
    def order(self) -> tuple[Any, ...]:
        """Cards that are possible sort before those that are not."""
        return (self.eligibility.refused is not None, *self._rank(self.worth.first_year))

    @property
    def allowed_order(self) -> tuple[Any, ...]:
        return self._rank(self.allowed_first_year)

    def _rank(self, first_year: Decimal) -> tuple[Any, ...]:
        unknown = self.offer.point is None and self.worth.earn is None
        elsewhere = self.ratio is not None and not self.moves
        value = -first_year * self.usd_per_unit
        return (unknown, elsewhere, -(self.per_hundred or 0), value, self.card.slug)

    @property
    def purchase_order(self) -> tuple[Any, ...]:
        value = self.purchase_value
        return (value is None, -(value or 0) * self.usd_per_unit, self.card.slug)

    @property
    def purchase_value(self) -> Decimal | None:
        """The purchase's return in the card's currency; None if it earns points of unknown value."""
        if self.purchase is None or (self.purchase.points and self.offer.point is None):
            return None
        return self.purchase.points * (self.offer.point or 0) + self.purchase.cash

    def with_purchase(
        self, purchase: Purchase | None, statements: CardSpending | None, paid_usd: Decimal
    ) -> "ScoredCard":
        return replace(self, purchase=purchase, statements=statements, paid_usd=paid_usd)


def convert_total(spending: Spending, usd_per_unit: Decimal) -> Decimal | None:
    return None if spending.total_usd is None else spending.total_usd / usd_per_unit


def name_category(category: str) -> str:
    return "everything else" if category == "other" else category.replace("_", " ")


def describe_basis(spending: Spending, category: str | None) -> list[str]:
    """Sentences on gaps in imported spending, what is left out, and card fees where few accept cards."""
    sentences = describe_uncategorised(spending.usd.items()) if spending.source == "imported" else []
    left_out = sorted(set(spending.apart) - {category})
    if left_out:
        amount = sum((spending.apart[c] for c in left_out), Decimal(0))
        sentences.append(
            f"About {amount:,.0f} USD a year of {' and '.join(left_out)} is left out: it counts towards no bonus"
            " and no earning unless category asks for it."
        )
    return [*sentences, *describe_payment_fee(category)]


def describe_payment_fee(category: str | None) -> list[str]:
    """Warns of fees: few landlords and tax offices accept a card without one."""
    return [f"A fee for paying {category} by card is not known and not counted."] if category in APART else []
