"""What the bookings of a trip cost in all, by points and by currency."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from auth_server.pages.booking_timeline import Row
from shared.domain.party_prices import format_amount


@dataclass(frozen=True)
class Costs:
    """Of everybody who travels: points, and money in words, one of each currency."""

    points: int
    money: tuple[str, ...]


def sum_costs(flights: Iterable[Row], stays: Iterable[Row]) -> Costs | None:
    """What is cancelled does not count; None where nothing was paid."""
    points, money = 0, Counter[str]()
    for flight in (row for row in flights if row["state"] != "cancelled"):
        points += flight["points_spent"] or 0
        paid = (flight["cash_paid"], flight["taxes_paid"])
        money[flight["taxes_currency"]] += sum(Decimal(str(amount)) for amount in paid if amount)  # type: ignore[assignment]
    for stay in (row for row in stays if row["state"] != "cancelled"):
        points += (stay["original_points"] or 0) if stay["kind"] == "award" else 0
        if stay["kind"] == "cash" and stay["original_pay_rate_usd"]:
            money[stay["cash_rate_currency"]] += Decimal(str(stay["original_pay_rate_usd"]))  # type: ignore[assignment]
    sums = tuple(format_amount(Decimal(amount), currency) for currency, amount in sorted(money.items()) if amount)
    return Costs(points, sums) if points or sums else None
