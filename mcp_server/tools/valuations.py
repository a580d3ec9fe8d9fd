"""Valuations: published values of one point, low, usual and high, with their sources."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AnyName, Currency, Points
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part, Result
from shared.domain import balances
from shared.domain.plurals import pluralize
from shared.domain.valuations import Spread, find_spread
from shared.errors import NoData
from shared.reference.exchange_rates import ExchangeRate, describe_rate, find_exchange_rate
from shared.reference.rows import Program

UNIT, CURRENCY = "US cents per point", "USD"
_PUBLISHERS = {
    "value_tpg": "The Points Guy",
    "value_upgraded_points": "Upgraded Points",
    "value_omaat": "One Mile at a Time",
}


class PublishedValue(Part):
    name: str
    value: Money
    as_of: str | None


class Valuation(Verified):
    program: str
    name: str
    low: Money | NoDataWord
    usual: Money | NoDataWord
    high: Money | NoDataWord
    unit: str
    basis: str | None
    sources: list[PublishedValue]


class PointsValue(Part):
    low: Money | NoDataWord
    usual: Money
    high: Money | NoDataWord
    currency: str


class Valuations(Result):
    valuations: list[Valuation]
    value_of_points: PointsValue | None


def _list_publications(program: Program) -> list[PublishedValue]:
    values = ((name, getattr(program, field)) for field, name in _PUBLISHERS.items())
    return [PublishedValue(name=n, value=v, as_of=program.as_of) for n, v in values if v is not None]


def _find_spread(program: Program) -> Spread | None:
    return find_spread(program.value_usd_cents, [p.value for p in _list_publications(program)])


def _value_or_no_data(value: Decimal | None) -> Decimal | NoDataWord:
    return NO_DATA if value is None else value


def _to_valuation(program: Program) -> Valuation:
    cents = _find_spread(program)
    return Valuation(
        program=program.slug,
        name=program.name,
        low=_value_or_no_data(cents.low if cents else None),
        usual=_value_or_no_data(cents.usual if cents else None),
        high=_value_or_no_data(cents.high if cents else None),
        unit=UNIT,
        basis=program.value_basis,
        sources=_list_publications(program),
        **describe_verified(program),
    )


@tool(area="balances", tier=Tier.FREE, effect=Effect.READS)
def get_points_valuation(
    call: Call,
    program: Annotated[AnyName | None, Field(description="Leave out for all.")] = None,
    points: Annotated[Points | None, Field(description="Also value this many.")] = None,
    currency: Currency = CURRENCY,
) -> Valuations:
    """Tells what one point of a currency is worth: low, usual and high cents per point with sources and date.

    Published opinions in US cents; sums are converted. Free.
    """
    if program is None:
        every = sorted(call.reference.programs.values(), key=lambda p: p.slug)
        unknown = sum(p.value_usd_cents is None for p in every)
        message = f"{len(every) - unknown} of {len(every)} programmes have a published value, in {UNIT}."
        if points:
            message += " Name a programme to value points."
        return Valuations(message=message, valuations=[_to_valuation(p) for p in every], value_of_points=None)
    resolved = call.reference.program(program)
    cents = _find_spread(resolved)
    if cents is None:
        raise NoData(f"No published value of {resolved.currency} is known.", missing=["valuation"])
    worth = _value_points(cents, points, find_exchange_rate(currency))
    return Valuations(
        message=_describe_value(resolved, cents, points, worth, currency),
        valuations=[_to_valuation(resolved)],
        value_of_points=worth,
    )


def _value_points(cents: Spread, points: int | None, rate: ExchangeRate | None) -> PointsValue | None:
    if points is None or rate is None:
        return None
    unit = rate.usd_per_unit
    low, high = (
        None if value is None else balances.value_balance(points, value / unit, rate.currency)
        for value in (cents.low, cents.high)
    )
    usual = balances.value_balance(points, cents.usual / unit, rate.currency)
    return PointsValue(low=_value_or_no_data(low), usual=usual, high=_value_or_no_data(high), currency=rate.currency)


def _describe_value(
    program: Program, cents: Spread, points: int | None, worth: PointsValue | None, currency: str
) -> str:
    basis = f" ({program.value_basis})" if program.value_basis else ""
    if cents.low and cents.high and cents.low != cents.high:
        basis = f" (published values: {cents.low:f} to {cents.high:f})"
    message = f"One point of {program.name} is usually worth {cents.usual:f} US cents{basis}."
    if worth:
        value = f"{worth.usual:,} {currency}{_describe_conversion(currency)}"
        message += f" {pluralize(points or 0, 'point')} would be worth about {value}."
    elif points:
        message += f" No exchange rate of {currency} is known, so the points are not valued in it."
    return message


def _describe_conversion(currency: str) -> str:
    rate = find_exchange_rate(currency)
    return f", {describe_rate(rate)}" if rate and currency != CURRENCY else ""
