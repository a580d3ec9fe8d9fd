"""Buying points: list price, running sale and the price of a quantity; and which programmes have a sale."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Call, Effect, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import LooseName, Points
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import tell_rows
from shared.domain import points_purchase
from shared.domain.dates import format_day, format_iso_day
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.reference import points_purchase as price_lists
from shared.reference.ages import describe_left_out, explain_outdated, find_page_day
from shared.reference.rows.transfers import BuyPoints, PointsSale

_SHOWN_PAST_SALES = 3


class RunningSale(Verified):
    bonus_percent: int | None
    discount_percent: Money | None
    ends_on: date
    targeted: bool


class BuyQuote(Part):
    quantity: int
    total: Money
    cents_per_point: Money


class BuyPrice(Verified):
    program: str
    name: str
    currency: str | None
    base_cents_per_point: Money | NoDataWord
    sale: RunningSale | None
    best_cents_per_point: Money | NoDataWord
    order_fee: Money | None
    minimum: int | None
    maximum_per_order: int | None
    maximum_per_year: int | None
    increment: int | None
    quote: BuyQuote | None
    taxes: str | None
    seller: str
    note: str | None
    checked_on: str | None


class BuyPrices(Result):
    programs: list[BuyPrice]


def _find_running_sale(call: Call, program: str) -> PointsSale | None:
    """Today's best sale; one for everyone before a targeted one."""
    rows = [r for r in call.reference.rows("points_sales.csv") if r.program == program and r.is_valid(call.today)]
    return min(rows, key=lambda r: (r.targeted, -(r.bonus_percent or 0), -(r.discount_percent or 0)), default=None)


def _describe_past_sales(call: Call, program: str) -> str:
    """` Past sales known: 100% bonus until 15 Dec 2025.`, the newest first; past ones only."""
    rows = [r for r in call.reference.rows("points_sales.csv") if r.program == program and r.valid_to < call.today]
    if not rows:
        return ""
    newest = sorted(rows, key=lambda r: r.valid_to, reverse=True)[:_SHOWN_PAST_SALES]
    return f" Past sales known: {'; '.join(map(_describe_past_sale, newest))}."


def _describe_past_sale(row: PointsSale) -> str:
    terms = f"{row.bonus_percent}% bonus" if row.bonus_percent else f"{row.discount_percent}% off"
    targeted = " for those it was sent to" if row.targeted else ""
    return f"{terms}{targeted} until {format_day(row.valid_to)}"


def _sale_for_everybody(row: PointsSale | None) -> points_purchase.Sale:
    """The sale for everyone: a targeted sale changes no price here."""
    if row is None or row.targeted:
        return points_purchase.NO_SALE
    return price_lists.build_sale(row)


def _to_buy_price(call: Call, row: BuyPoints, quantity: int | None) -> BuyPrice:
    prices, running_sale = price_lists.build_price_list(row), _find_running_sale(call, row.program)
    sale = _sale_for_everybody(running_sale)
    quote = points_purchase.quote_order(prices, quantity, sale) if prices and quantity else None
    return BuyPrice.from_row(
        row,
        name=call.reference.programs[row.program].name,
        base_cents_per_point=prices.cents_per_point if prices else NO_DATA,
        sale=running_sale
        and RunningSale.from_row(running_sale, ends_on=running_sale.valid_to, **describe_verified(running_sale)),
        best_cents_per_point=price_lists.sale_cents(prices, sale) if prices else NO_DATA,
        minimum=row.min_points,
        maximum_per_order=row.max_points_per_purchase,
        maximum_per_year=row.annual_cap,
        quote=quote and BuyQuote.model_validate(quote),
        checked_on=day.isoformat() if (day := find_page_day(row)) else None,
        **describe_verified(row),
    )


@tool("pricing", Tier.FREE, Effect.READS, "Show what buying points costs", anonymous=True, condenses=True, static=True)
def get_buy_points_pricing(
    call: Call,
    program: Annotated[LooseName | None, Field(description="Absent: all.")] = None,
    quantity: Points | None = None,
) -> BuyPrices:
    """Tells the price to buy or purchase points or miles, with any sale or discount, of one programme or all.

    For "I'm 5,000 short, what if I buy them?" For a top-up of a few thousand: smallest order that covers quantity, with
    fee, before taxes. Free.
    """
    rows: list[BuyPoints] = list(call.reference.fresh_rows("buy_points.csv", call.today))
    if program is None:
        lines = [_to_buy_price(call, r, quantity) for r in rows]
        on_sale = [b for b in lines if b.sale is not None]
        message = tell_rows(len(on_sale), "known sale today", (b.name for b in on_sale), "known sales today")
        message += f" Points of {pluralize(len(lines), 'programme')} are sold."
        message += " List prices are mostly unaudited."
        message += describe_left_out("buy_points.csv", call.reference.rows("buy_points.csv"), call.today)
        return BuyPrices(message=message, programs=lines)
    bought_program = call.reference.program(program)
    row = next((r for r in rows if r.program == bought_program.slug), None)
    if row is None:
        old = [r for r in call.reference.rows("buy_points.csv") if r.program == bought_program.slug]
        reason = f" {explain_outdated('buy_points.csv', old[0])}" if old else ""
        text = f"What {bought_program.name} charges for points is not known.{reason}"
        raise NoData(text, missing=["buy-points price"])
    line = _to_buy_price(call, row, quantity)
    if quantity and line.quote is None and isinstance(line.base_cents_per_point, Decimal):
        maximum = min(m for m in (line.maximum_per_order, line.maximum_per_year) if m)
        raise Invalid(Fault("quantity", "is more than one order may have", f"a whole number up to {maximum}"))
    past = "" if line.sale else _describe_past_sales(call, bought_program.slug)
    return BuyPrices(message=f"{_describe_price(line)}{past}", programs=[line])


def _per_point(cents: Decimal, currency: str | None) -> str:
    return f"{(cents / 100).normalize():f} {currency}"


def _describe_age(line: BuyPrice) -> str:
    """Says how old the price is: a list price is as old as its source."""
    if line.sale and not line.sale.targeted:
        return " today"
    return f", as of {format_iso_day(line.as_of)}" if line.as_of else ", by a source without a date"


def _describe_price(line: BuyPrice) -> str:
    if line.quote:
        total = f"{line.quote.total:,} {line.currency}"
        message = (
            f"{line.quote.quantity:,} points of {line.name} cost {total},"
            f" {_per_point(line.quote.cents_per_point, line.currency)} each{_describe_age(line)}."
        )
    elif line.best_cents_per_point == NO_DATA:
        message = f"{line.name} sells points, but the price is not known."
    else:
        message = (
            f"A point of {line.name} costs {_per_point(line.best_cents_per_point, line.currency)}{_describe_age(line)}."
        )
    if line.sale:
        not_counted = " for those it was sent to, not counted," if line.sale.targeted else ""
        message += f" A sale{not_counted} runs until {format_day(line.sale.ends_on)}."
    return message
