"""Air Passenger Duty: what the United Kingdom charges for a passenger whose flight leaves one of its airports."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Protocol, TypeVar

COUNTRY = "GB"
DOMESTIC = "domestic"
LOWEST_CLASS = "economy"


class BandRate(Protocol):
    """The amount for one band and class of travel, from a day to a day."""

    @property
    def band(self) -> str: ...
    @property
    def lowest_class(self) -> bool: ...
    @property
    def amount(self) -> Decimal: ...
    def is_valid(self, on: date) -> bool: ...


R = TypeVar("R", bound=BandRate)


def find_bands(origin_country: str, destination_country: str, bands: Sequence[str]) -> tuple[str, ...]:
    """The bands possible for a journey, by its first and last country.

    The distance from London to the capital of the destination's country decides, not the distance flown. Two bands if
    the capital is too near a limit to tell, or the country is in both.
    """
    if origin_country != COUNTRY:
        return ()
    return (DOMESTIC,) if destination_country == COUNTRY else tuple(bands)


def find_rates(rates: Iterable[R], bands: Collection[str], cabin: str, on: date) -> list[R]:
    """The rates of these bands valid on the day of departure, the lowest first."""
    lowest = cabin == LOWEST_CLASS
    matches = [r for r in rates if r.band in bands and r.lowest_class == lowest and r.is_valid(on)]
    return sorted(matches, key=lambda r: r.amount)
