"""Prices of buying points: list prices and sales of the reference data, as domain objects."""

from decimal import Decimal

from shared.domain import points_purchase
from shared.reference.load import Reference
from shared.reference.rows.transfers import BuyPoints, PointsSale


def build_price_list(row: BuyPoints) -> points_purchase.PriceList | None:
    if row.list_price is None or row.per_points is None:
        return None
    return points_purchase.PriceList(
        price=row.list_price,
        per_points=row.per_points,
        order_fee=row.order_fee or Decimal(0),
        minimum=row.min_points or 1,
        maximum=min((m for m in (row.max_points_per_purchase, row.annual_cap) if m), default=None),
        increment=row.increment or 1,
    )


def build_sale(row: PointsSale) -> points_purchase.Sale:
    return points_purchase.Sale(row.bonus_percent or 0, row.discount_percent or Decimal(0))


def sale_cents(price_list: points_purchase.PriceList, sale: points_purchase.Sale) -> Decimal:
    """Hundredths of the programme's currency for one point."""
    return round(points_purchase.price_point(price_list, sale), 4)


def find_sale_price(facts: Reference, row: PointsSale) -> tuple[Decimal | None, str | None]:
    """What a point costs in the sale, and its currency: from the offer, else computed from the list price."""
    if row.unit_price_usd_cents is not None:
        return row.unit_price_usd_cents, "USD"
    list_price = next((r for r in facts.rows("buy_points.csv") if r.program == row.program), None)
    price_list = build_price_list(list_price) if list_price else None
    return (sale_cents(price_list, build_sale(row)), list_price.currency) if list_price and price_list else (None, None)
