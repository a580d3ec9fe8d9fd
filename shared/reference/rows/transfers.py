"""Rows about moving and buying points: routes, bonuses, sales and prices."""

from datetime import date
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, OfferRow, rows_of


@rows_of("transfer_partners.csv", key="from_program to_program cards valid_from", about="from_program to_program cards")
class TransferPartner(Dated):
    """A transfer route; `cards` are those with this ratio, empty: every card that earns the currency.

    `status`: active, ended, or doubtful if that or its ratio is uncertain: shown, never counted.
    """

    from_program: str
    to_program: str
    cards: tuple[str, ...]
    ratio_from: Decimal | None  # None, like ratio_to, if no page shows it: such a route is doubtful
    ratio_to: Decimal | None
    min_points: int | None
    increment: int | None
    min_increment_basis: str | None
    posting_class: str
    posting_typical: str | None
    posting_source: str | None
    fee_or_tax: str | None
    cap: str | None
    step_points: int | None  # every full step of this size sent at once brings step_bonus more points
    step_bonus: int | None
    region: str
    status: str


@rows_of("transfer_bonuses.csv", key="from_program to_program valid_to", about="from_program to_program targeted")
class TransferBonus(OfferRow):
    from_program: str
    to_program: str
    bonus_percent: int
    valid_to: date  # an offer has a last day
    targeted: bool


@rows_of("points_sales.csv", names="program kind valid_from", about="program kind targeted")
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


@rows_of("buy_points.csv", key="program")
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
    order_fee: Decimal | None  # added once to every order; None: unknown
    seller: str
