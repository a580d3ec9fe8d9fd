"""Which rates of Air Passenger Duty apply to a departure, and the airports that are exempt."""

from datetime import date

from shared.domain import departure_duty as rules
from shared.domain.airports import Airport
from shared.reference.reference import Reference
from shared.reference.rows.duty import DutyExemptAirport, DutyRate


def find_exemption(reference: Reference, start: Airport) -> DutyExemptAirport | None:
    return next((r for r in reference.rows("uk_duty_exempt_airports.csv") if r.airport == start.code), None)


def is_exempt(reference: Reference, start: Airport) -> bool:
    """Whether flights from the airport are exempt."""
    exemption = find_exemption(reference, start)
    return exemption is not None and not exemption.bands


def is_free_direct(reference: Reference, start: Airport, rate: DutyRate) -> bool:
    """Whether direct flights from the airport in this band are exempt."""
    exemption = find_exemption(reference, start)
    return exemption is not None and rate.band in exemption.bands


def find_duty_rates(reference: Reference, start: Airport, end: Airport, cabin: str, departure: date) -> list[DutyRate]:
    """The rates that may apply to one person, lowest first; none elsewhere and where no duty is due."""
    if start.country != rules.COUNTRY or is_exempt(reference, start):
        return []
    bands = next((r.bands for r in reference.rows("uk_duty_destinations.csv") if r.country == end.country), ())
    possible = rules.find_bands(start.country, end.country, bands)
    return rules.find_rates(reference.rows("uk_duty_rates.csv"), possible, cabin, departure)
