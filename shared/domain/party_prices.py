"""Prices of award seats in words: points and taxes are per person, and shown for the whole party too."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from shared.domain.minor_units import round_to_minor_unit
from shared.domain.plurals import pluralize

Per = Literal["person"]
PER: Per = "person"
_COUNTS = ("nobody", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class PartyPrice:
    """What one person pays, and how many travel. Taxes are None where they are not known."""

    points: int
    taxes: Decimal | None
    currency: str | None
    passengers: int = 1

    @property
    def party_points(self) -> int | None:
        """The points of everybody; None for one traveller."""
        return self.points * self.passengers if self.passengers > 1 else None

    @property
    def party_taxes(self) -> Decimal | None:
        """The taxes of everybody; None for one traveller and where they are not known."""
        return self.taxes * self.passengers if self.passengers > 1 and self.taxes is not None else None


class PricedSeat(Protocol):
    """The fields of an award offer that make its price."""

    @property
    def points(self) -> int: ...
    @property
    def taxes(self) -> Decimal | None: ...
    @property
    def taxes_currency(self) -> str | None: ...


def price_party(seat: PricedSeat, passengers: int) -> PartyPrice:
    return PartyPrice(seat.points, seat.taxes, seat.taxes_currency, passengers)


def describe_party(passengers: int) -> str:
    """`two`, `12`."""
    return _COUNTS[passengers] if passengers < len(_COUNTS) else str(passengers)


def describe_travellers(passengers: int) -> str:
    """`one traveller`, `two travellers`."""
    return f"{describe_party(passengers)} traveller{'' if passengers == 1 else 's'}"


def format_amount(amount: Decimal, currency: str) -> str:
    """`510 USD`, `84.40 GBP`, `61,000 JPY`: coins only where there are any."""
    rounded = round_to_minor_unit(amount, currency)
    return f"{rounded if rounded % 1 else int(rounded):,} {currency}"


def format_money(amount: Decimal | float, currency: str) -> str:
    """As pages write it: `$17,446`, `$9.50`, `2,180 EUR`. No cents from 100 up, nor where they are zero."""
    rounded = round_to_minor_unit(Decimal(str(amount)), currency)
    text = f"{rounded:,}" if rounded % 1 and abs(rounded) < 100 else f"{round(rounded):,}"
    if currency != "USD":
        return f"{text} {currency}"
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def describe_points(points: int, passengers: int, program: str = "") -> str:
    """`47,500 points of Flying Blue each, 95,000 for two`; of one traveller `47,500 points per person`."""
    own = pluralize(points, "point") + (f" of {program}" if program else "")
    if passengers == 1:
        return f"{own} per person"
    return f"{own} each, {points * passengers:,} for {describe_party(passengers)}"


def describe_taxes(price: PartyPrice) -> str:
    """`510 USD taxes`, of the whole party."""
    if price.taxes is None or price.currency is None:
        return "taxes not known"
    return f"{format_amount(price.taxes * price.passengers, price.currency)} taxes"


def describe_price(price: PartyPrice, program: str = "") -> str:
    """`47,500 points each, 95,000 for two, 510 USD taxes`; of one `47,500 points per person, 255 USD taxes`."""
    return f"{describe_points(price.points, price.passengers, program)}, {describe_taxes(price)}"
