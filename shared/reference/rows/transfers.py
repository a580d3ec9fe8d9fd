"""Rows about moving and buying points: routes, bonuses, sales and prices."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, OfferRow


@dataclass(frozen=True, slots=True)
class TransferPartner(Dated):
    """A transfer route; `cards` are those that give this ratio, none listed: every card that earns the currency.

    `status`: active, ended, or doubtful where sources disagree whether it is open: shown, never counted.
    """

    from_program: str
    to_program: str
    cards: tuple[str, ...]
    ratio_from: Decimal
    ratio_to: Decimal
    min_points: int | None
    increment: int | None
    min_increment_basis: str | None
    posting_class: str
    posting_typical: str | None
    posting_source: str | None
    fee_or_tax: str | None
    cap: str | None
    step_points: int | None  # each so many points sent at once bring step_bonus points more
    step_bonus: int | None
    region: str
    status: str


@dataclass(frozen=True, slots=True)
class TransferBonus(OfferRow):
    from_program: str
    to_program: str
    bonus_percent: int
    valid_to: date  # an offer has a last day
    targeted: bool


@dataclass(frozen=True, slots=True)
class PointsSale(OfferRow):
    program: str
    kind: str
    bonus_percent: int | None
    discount_percent: Decimal | None
    unit_price_usd_cents: Decimal | None
    min_points: int | None
    max_points: int | None
    valid_to: date
    targeted: bool


@dataclass(frozen=True, slots=True)
class BuyPoints(Fact):
    program: str
    currency: str | None
    list_price: Decimal | None
    per_points: int | None
    min_points: int | None
    max_points_per_purchase: int | None
    increment: int | None
    annual_cap: int | None
    taxes: str | None
    order_fee: Decimal | None  # added once to every order; None: none is known
    seller: str
