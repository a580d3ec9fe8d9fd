"""Air Passenger Duty as results show it: the amount per person, its band, source and dates."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.results import Money
from shared.domain import departure_duty as rules
from shared.domain.airports import Airport
from shared.domain.dates import format_day
from shared.reference.rows import DutyExemptAirport, DutyRate

NOTE = (
    "Children under 16 owe none in economy, and none under 2 without a seat. The last stop of flights that connect"
    " within 24 hours decides the band; who only changes planes in the United Kingdom owes nothing."
)
DIRECT_NOTE = "A direct flight from Northern Ireland to a country beyond band A owes nothing."
RETURN_NOTE = "A return within the United Kingdom is charged on both flights."


class DepartureDuty(Verified):
    """A government tax within the taxes of a flight.

    `highest` differs from `amount` where two bands are possible or a direct flight is free.
    """

    amount: Money
    highest: Money
    currency: str
    bands: list[str]
    departure: date
    valid_from: date | None
    valid_to: date | None
    second_source_url: str | None
    note: str


def _find_exemption(call: Call, start: Airport) -> DutyExemptAirport | None:
    return next((r for r in call.reference.rows("uk_duty_exempt_airports.csv") if r.airport == start.code), None)


def _is_exempt(call: Call, start: Airport) -> bool:
    exemption = _find_exemption(call, start)
    return exemption is not None and not exemption.bands


def find_departure_duty(call: Call, start: Airport, end: Airport, cabin: str, departure: date) -> DepartureDuty | None:
    """The duty of one person who leaves the United Kingdom that day; None elsewhere and where none is due."""
    if start.country != rules.COUNTRY or _is_exempt(call, start):
        return None
    bands = next((r.bands for r in call.reference.rows("uk_duty_destinations.csv") if r.country == end.country), ())
    possible = rules.find_bands(start.country, end.country, bands)
    rates: list[DutyRate] = rules.find_rates(call.reference.rows("uk_duty_rates.csv"), possible, cabin, departure)
    exemption = _find_exemption(call, start)
    free_direct = exemption is not None and any(r.band in exemption.bands for r in rates)
    return _to_duty(rates, departure, free_direct=free_direct) if rates else None


def _to_duty(rates: Sequence[DutyRate], departure: date, *, free_direct: bool) -> DepartureDuty:
    lowest, highest = rates[0], rates[-1]
    first_note = DIRECT_NOTE if free_direct else RETURN_NOTE if lowest.band == rules.DOMESTIC else ""
    return DepartureDuty(
        amount=Decimal("0.00") if free_direct else lowest.amount,
        highest=highest.amount,
        currency=lowest.currency,
        bands=[r.band for r in rates],
        departure=departure,
        valid_from=highest.valid_from,
        valid_to=highest.valid_to,
        second_source_url=highest.second_source_url,
        note=f"{first_note} {NOTE}".lstrip(),
        **describe_verified(highest),
    )


def _describe_bands(bands: Sequence[str]) -> str:
    return f"the {bands[0]} band" if bands == [rules.DOMESTIC] else f"band {' or '.join(bands)}"


def describe_departure_duty(call: Call, start: Airport, duty: DepartureDuty | None, cabin: str) -> str:
    """The duty in a sentence; empty for a flight that leaves from elsewhere."""
    if duty is None:
        exempt = start.country == rules.COUNTRY and _is_exempt(call, start)
        return f"Flights that leave {start.code} are exempt from Air Passenger Duty." if exempt else ""
    amount = f"{duty.amount:f} to {duty.highest:f}" if duty.amount != duty.highest else f"{duty.amount:f}"
    return (
        f"The taxes include Air Passenger Duty of the United Kingdom: {amount} {duty.currency} per person"
        f" for a departure on {format_day(duty.departure)} in {cabin.replace('_', ' ')}, {_describe_bands(duty.bands)}."
        f"{'' if duty.amount else f' {DIRECT_NOTE}'}"
    )
