"""Rows about Air Passenger Duty of the United Kingdom: rates, the band of each country, and exempt airports."""

from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, rows_of


@rows_of("uk_duty_rates.csv", key="band lowest_class valid_from", about="band lowest_class")
class DutyRate(Dated):
    """`lowest_class`: for travel in the lowest class of the aircraft, else for any other."""

    band: str
    lowest_class: bool
    amount: Decimal
    currency: str


@rows_of("uk_duty_destinations.csv", key="country")
class DutyDestination(Fact):
    """The band of a country; two if the sources do not settle which."""

    country: str
    bands: tuple[str, ...]


@rows_of("uk_duty_exempt_airports.csv", key="airport")
class DutyExemptAirport(Fact):
    """`bands`: exempt bands for direct flights; empty = every flight from the airport."""

    airport: str
    bands: tuple[str, ...]
