"""Rows about Air Passenger Duty of the United Kingdom: rates, the band of each country, and exempt airports."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact


@dataclass(frozen=True, slots=True)
class DutyRate(Dated):
    """`lowest_class`: for travel in the lowest class of the aircraft, else for any other."""

    band: str
    lowest_class: bool
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class DutyDestination(Fact):
    """The band of a country; two where the sources do not settle which."""

    country: str
    bands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DutyExemptAirport(Fact):
    """`bands`: what a direct flight to them owes nothing for; empty = every flight that leaves the airport."""

    airport: str
    bands: tuple[str, ...]


DUTY_FILES: dict[str, type] = {
    "uk_duty_rates.csv": DutyRate,
    "uk_duty_destinations.csv": DutyDestination,
    "uk_duty_exempt_airports.csv": DutyExemptAirport,
}
