"""Valuations: published values of one point, low, usual and high, with their sources."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Call, Effect, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Amount, AnyName, Currency, Points
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.views.transfers import read_routes
from shared.db.balances import read_own_values
from shared.domain import balances
from shared.domain.cash_or_points import AwardPrice, advise, value_point
from shared.domain.plurals import pluralize
from shared.domain.valuations import PUBLISHERS, Spread, choose_value, find_spread
from shared.errors import Fault, Invalid, NoData
from shared.reference.exchange_rates import ExchangeRate, describe_rate, find_exchange_rate
from shared.reference.rows.programmes import Program

MAX_OTHER_USES = 4
UNIT, CURRENCY = "US cents per point", "USD"


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


class OtherUse(Part):
    """What the points usually buy elsewhere: kept, or moved to another programme."""

    program: str
    name: str
    points: int
    value: Money
    currency: str
    posting: str | None


class ValueCheck(Part):
    """The person's own figures: what a point buys in them, against what it is worth otherwise."""

    points: int
    cash: Money
    taxes: Money
    currency: str
    cents_per_point: Money
    compared_with: Money
    basis: Literal["own", "published"]
    better: Literal["points", "cash"]
    difference: Money
    other_uses: list[OtherUse]


class Valuations(Result):
    valuations: list[Valuation]
    value_of_points: PointsValue | None
    check: ValueCheck | None


def _list_publications(program: Program) -> list[PublishedValue]:
    values = ((name, getattr(program, field)) for field, name in PUBLISHERS.items())
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


@tool("balances", Tier.FREE, Effect.READS, "Show what points are worth", condenses=True)
def get_points_valuation(
    call: Call,
    program: AnyName | None = None,
    points: Points | None = None,
    currency: Currency = CURRENCY,
    taxes: Amount | None = None,
    cash: Annotated[Amount | None, Field(description="Cash price of the same, to compare.")] = None,
) -> Valuations:
    """Values points or miles: cents per point (cpp), or what an amount of them is worth in dollars, pounds or euros.

    For "Is 1.2 cents good? What are 80k worth?" With points, taxes and cash: whether that redemption is good value.
    Free.
    """
    _check_figures(program, points, taxes, cash)
    if program is None:
        every = sorted(call.reference.programs.values(), key=lambda p: p.slug)
        valued = [p for p in every if p.value_usd_cents is not None]
        message = f"{len(valued)} of {len(every)} programmes have a published value, in {UNIT}; the rest are left out."
        if points:
            message += " Name a programme to value points."
        return Valuations(
            message=message, valuations=[_to_valuation(p) for p in valued], value_of_points=None, check=None
        )
    resolved = call.find_program(program)
    own_values = read_own_values(call.db)
    own, published = own_values.get(resolved.slug), _find_spread(resolved)
    cents = published or (Spread(None, own, None) if own is not None else None)
    if cents is None:
        raise NoData(f"No published value of {resolved.currency} is known.", missing=["valuation"])
    rate = find_exchange_rate(currency)
    worth = _value_points(cents, points, rate)
    check = None
    if points is not None and cash is not None and rate is not None:
        figures = _Figures(points, cash, taxes or Decimal(0), rate)
        check = _compare_figures(call, resolved, figures, own_values, cents.usual)
    message = _describe_value(resolved, cents, points, worth, currency, is_own=published is None)
    return Valuations(
        message=f"{_describe_check(check)} {message}" if check else message,
        valuations=[_to_valuation(resolved)],
        value_of_points=worth,
        check=check,
    )


@dataclass(frozen=True)
class _Figures:
    points: int
    cash: Decimal
    taxes: Decimal
    rate: ExchangeRate


def _check_figures(program: str | None, points: int | None, taxes: Decimal | None, cash: Decimal | None) -> None:
    """Checks that the figures are complete. Raises Invalid."""
    if cash is None and taxes is None:
        return
    required = {"cash": cash, "points": points, "program": program}
    faults = [Fault(name, "is required for a check", _EXPECTED[name]) for name, v in required.items() if v is None]
    if faults:
        raise Invalid(*faults)


_EXPECTED = {
    "cash": "the cash price of the same journey or stay",
    "points": "the points it costs",
    "program": "the programme of the points",
}


def _compare_figures(
    call: Call, program: Program, figures: _Figures, own_values: Mapping[str, Decimal], usual: Decimal
) -> ValueCheck:
    value = own_values.get(program.slug, usual)
    unit = figures.rate.usd_per_unit
    award = AwardPrice(figures.points, figures.taxes * unit, value)
    cents = value_point(figures.cash * unit, award) or Decimal(0)
    cost = balances.value_balance(figures.points, value / unit, figures.rate.currency) + figures.taxes
    return ValueCheck.from_row(
        figures,
        currency=figures.rate.currency,
        cents_per_point=round(cents, 2),
        compared_with=value,
        basis="own" if program.slug in own_values else "published",
        better=advise(figures.cash * unit, award) or "cash",
        difference=abs(figures.cash - cost),
        other_uses=_find_other_uses(call, program, figures, own_values),
    )


def _find_other_uses(
    call: Call, program: Program, figures: _Figures, own_values: Mapping[str, Decimal]
) -> list[OtherUse]:
    """The programme itself, then transfer partners, by the usual worth of what arrives."""
    programs = call.reference.programs
    ways = {program.slug: (figures.points, None)} | {
        edge.target: (edge.points_received(amount), edge.posting)
        for edge in read_routes(call).get(program.slug, ())
        if (amount := edge.most_sendable(figures.points))
    }
    uses = [
        OtherUse(
            program=slug,
            name=programs[slug].name,
            points=points,
            value=balances.value_balance(points, cents / figures.rate.usd_per_unit, figures.rate.currency),
            currency=figures.rate.currency,
            posting=posting,
        )
        for slug, (points, posting) in ways.items()
        if (cents := choose_value(own_values.get(slug), programs[slug].value_usd_cents)) is not None
    ]
    return sorted(uses, key=lambda use: (use.program != program.slug, -use.value, use.program))[:MAX_OTHER_USES]


def _describe_check(check: ValueCheck) -> str:
    whose = "your own value" if check.basis == "own" else "the usual value"
    unit = f"{check.cents_per_point:,f} US cents"
    price = f"{check.points:,} points and {check.taxes:,} {check.currency} against {check.cash:,} {check.currency}"
    if check.cents_per_point <= 0:
        return f"Pay cash: the taxes alone are as much as the cash price ({price})."
    costs = "Points cost" if check.better == "points" else "Cash costs"
    verdict = f"{costs} about {check.difference:,} {check.currency} less"
    others = [f"{use.points:,} points of {use.name} ({use.value:,} {use.currency})" for use in check.other_uses[1:3]]
    elsewhere = f" Sent elsewhere they would usually be worth most as {' or '.join(others)}." if others else ""
    return f"{verdict}: one point buys {unit}, {whose} is {check.compared_with.normalize():f} ({price}).{elsewhere}"


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
    program: Program, cents: Spread, points: int | None, worth: PointsValue | None, currency: str, *, is_own: bool
) -> str:
    basis = f" ({program.value_basis})" if program.value_basis else ""
    if cents.low and cents.high and cents.low != cents.high:
        basis = f" (published values: {cents.low:f} to {cents.high:f})"
    message = f"One point of {program.name} is usually worth {cents.usual:f} US cents{basis}."
    if is_own:
        own = f"by your own value a point is {cents.usual:f} US cents."
        message = f"No published value of {program.currency} is known; {own}"
    if worth:
        rate = find_exchange_rate(currency) if currency != CURRENCY else None
        value = f"{worth.usual:,} {currency}" + (f", {describe_rate(rate)}" if rate else "")
        message += f" {pluralize(points or 0, 'point')} would be worth about {value}."
    elif points:
        message += f" No exchange rate of {currency} is known, so the points are not valued in it."
    return message
