"""Cash fares for results, with the same amount in the currency the caller wants."""

from datetime import date as Date
from datetime import datetime
from typing import Literal

from mcp_server.toolkit import CallBase, Marked, Money, Part
from mcp_server.views.award_search import resolve_routes
from shared.domain.airport_pairs import Pair
from shared.domain.exchange_rates import Converted
from shared.domain.minor_units import round_to_minor_unit
from shared.errors import Fault, Invalid
from shared.services.search.fares import FareOption


class ConvertedMoney(Part):
    """`rate` is units of this currency for one of the original; null where the amount was in it already."""

    amount: Money
    currency: str
    rate: Money | None
    rate_source: str | None
    rate_date: Date | None


class Fare(Marked):
    """The price is for all passengers and the whole journey, in the currency it was quoted in.

    `city_wide`: the source prices cities, so the flight may use another of their airports.
    """

    price: Money
    currency: str
    converted: ConvertedMoney | None
    carriers: list[str]
    flight_numbers: list[str]
    departs_at: str | None
    arrives_at: str | None
    duration_minutes: int | None
    stops: int | None
    booking_url: str | None
    city_wide: bool
    source: str
    mode: Literal["live", "cached", "sandbox"]
    provider_checked_at: datetime | None
    age_seconds: int


def to_converted_money(money: Converted | None) -> ConvertedMoney | None:
    if money is None:
        return None
    return ConvertedMoney(
        amount=round_to_minor_unit(money.amount, money.currency),
        currency=money.currency,
        rate=money.rate,
        rate_source=money.source,
        rate_date=money.day,
    )


def to_fare(option: FareOption) -> Fare:
    price = round_to_minor_unit(option.price, option.currency)
    return Fare.from_row(option, price=price, converted=to_converted_money(option.converted))


def resolve_journey(call: CallBase, origin: str, destination: str, day: Date, until: Date | None = None) -> list[Pair]:
    """The airports to search between. Raises NotFound, and Invalid for the same airport twice or a day in the past."""
    routes = resolve_routes(call, origin, destination)
    if day < call.today:
        raise Invalid(Fault("date", "is in the past", f"{call.today} or later"))
    if until is not None and until < day:
        raise Invalid(Fault("return_date", "is before the date of departure", f"{day} or later"))
    return routes
