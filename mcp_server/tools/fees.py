"""Award fees: average taxes and surcharges per programme on a route, from what past searches showed."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import ARRAY, Text, any_, func, literal, select

from mcp_server.toolkit import Call, Effect, Marked, Money, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import program_name
from mcp_server.views.sightings import build_freshness
from mcp_server.views.surcharge_levels import RankedSurcharge, describe_surcharges, list_surcharges, to_ranked
from shared.db.observations import AwardObservation as Row
from shared.domain import departure_duty as rules
from shared.domain.airports import Airport
from shared.domain.airports import Airport as Place
from shared.domain.dates import format_day
from shared.domain.fees import FeeSample, merge_samples
from shared.domain.party_prices import format_money
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.reference.city_airports import require_airports
from shared.reference.departure_duty import find_duty_rates, is_exempt, is_free_direct
from shared.reference.exchange_rates import convert_amount
from shared.reference.rows.duty import DutyRate
from shared.services.search.provenance import Freshness, describe_unasked

# Air Passenger Duty for results: the amount per person, its band, source and dates.

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


def find_departure_duty(call: Call, start: Airport, end: Airport, cabin: str, departure: date) -> DepartureDuty | None:
    """The duty for one person leaving the United Kingdom that day; None elsewhere, or if none is due."""
    rates = find_duty_rates(call.reference, start, end, cabin, departure)
    free_direct = any(is_free_direct(call.reference, start, rate) for rate in rates)
    return _to_duty(rates, departure, free_direct=free_direct) if rates else None


def _to_duty(rates: Sequence[DutyRate], departure: date, *, free_direct: bool) -> DepartureDuty:
    lowest, highest = rates[0], rates[-1]
    first_note = DIRECT_NOTE if free_direct else RETURN_NOTE if lowest.band == rules.DOMESTIC else ""
    return DepartureDuty.from_row(
        highest,
        amount=Decimal("0.00") if free_direct else lowest.amount,
        highest=highest.amount,
        currency=lowest.currency,
        bands=[r.band for r in rates],
        departure=departure,
        note=f"{first_note} {NOTE}".lstrip(),
        **describe_verified(highest),
    )


def _describe_bands(bands: Sequence[str]) -> str:
    return f"the {bands[0]} band" if bands == [rules.DOMESTIC] else f"band {' or '.join(bands)}"


def describe_departure_duty(
    call: Call, start: Airport, duty: DepartureDuty | None, cabin: str, fees: Sequence["Fee"]
) -> str:
    """A sentence on the duty, and on sums too low to include it; empty for departures elsewhere."""
    if duty is None:
        exempt = start.country == rules.COUNTRY and is_exempt(call.reference, start)
        return f"Flights that leave {start.code} are exempt from Air Passenger Duty." if exempt else ""
    amount = f"{duty.amount:f} to {duty.highest:f}" if duty.amount != duty.highest else f"{duty.amount:f}"
    below = {fee.program: None for fee in fees if fee.below_duty}
    facts = (
        f"Air Passenger Duty of {amount} {duty.currency} per person"
        f" ({format_day(duty.departure)}, {cabin.replace('_', ' ')}, {_describe_bands(duty.bands)})."
        f"{'' if duty.amount else f' {DIRECT_NOTE}'}"
    )
    if not below:
        return f"The taxes include {facts}"
    whose = "All these averages are" if len(below) == len({fee.program for fee in fees}) else "Some averages are"
    return f"{whose} below the duty alone, so expect more than that. {facts}"


CODES = ARRAY(Text)  # one SQL parameter for all airports of a continent


class Fee(Marked):
    program: str
    average: Money
    currency: str
    low: Money
    high: Money
    samples: int
    newest: datetime
    oldest: datetime
    basis: Literal["route", "region"]
    area: str
    below_duty: bool  # less than the departure duty, so something is missing from the price seen


class FeeEstimates(Result):
    fees: list[Fee]
    surcharges: list[RankedSurcharge]
    departure_duty: DepartureDuty | None
    total_found: int
    freshness: Freshness


def _sum_observed_fees(
    call: Call, starts: Iterable[str], ends: Iterable[str], cabin: str, programs: Sequence[str]
) -> list[FeeSample]:
    """Sums per programme and currency over all routes from one set of airports to another."""
    columns = (
        Row.program,
        Row.taxes_currency,
        func.sum(Row.taxes),
        func.min(Row.taxes),
        func.max(Row.taxes),
        func.count(),
        func.max(Row.seen_at),
        func.min(Row.seen_at),
    )
    query = select(*columns).where(
        Row.origin == any_(literal(sorted(starts), CODES)),
        Row.destination == any_(literal(sorted(ends), CODES)),
        Row.cabin == cabin,
        Row.taxes.is_not(None),
        Row.taxes_currency.is_not(None),
    )
    if programs:
        query = query.where(Row.program.in_(programs))
    rows: Iterable[Any] = call.db.execute(query.group_by(Row.program, Row.taxes_currency))
    return merge_samples(FeeSample(*row) for row in rows)


def _find_airports(call: Call, code: str) -> frozenset[str]:
    return frozenset(require_airports(call.reference, code))


def _find_airports_sharing(call: Call, field: Literal["country", "continent"], place: Place) -> frozenset[str]:
    value = getattr(place, field)
    return frozenset(c for c, a in call.reference.airports.items() if getattr(a, field) == value)


def _list_areas(call: Call, origin: str, destination: str) -> Iterable[tuple[str, frozenset[str], frozenset[str]]]:
    """The route itself, then its countries, then its continents."""
    yield f"{origin} to {destination}", _find_airports(call, origin), _find_airports(call, destination)
    start, end = call.reference.airport(origin), call.reference.airport(destination)
    yield (
        f"{start.country} to {end.country}",
        _find_airports_sharing(call, "country", start),
        _find_airports_sharing(call, "country", end),
    )
    if start.continent and end.continent:
        name = f"{start.continent} to {end.continent} (continents)"
        yield name, _find_airports_sharing(call, "continent", start), _find_airports_sharing(call, "continent", end)


def _find_fees(
    call: Call, origin: str, destination: str, cabin: str, programs: Sequence[str], duty: DepartureDuty | None
) -> list[Fee]:
    """The fees of each programme, from the narrowest area in which a search has seen any."""
    narrowest: dict[str, list[Fee]] = {}
    for number, (area, starts, ends) in enumerate(_list_areas(call, origin, destination)):
        basis: Literal["route", "region"] = "region" if number else "route"
        wider: dict[str, list[Fee]] = {}
        for summary in _sum_observed_fees(call, starts, ends, cabin, programs):
            wider.setdefault(summary.program, []).append(
                _to_fee(call, summary, basis, area, duty if number < 2 else None)
            )
        narrowest = wider | narrowest
        if narrowest and (not programs or set(narrowest) >= set(programs)):
            break
    return sorted(
        (f for fees in narrowest.values() for f in fees), key=lambda f: (f.basis == "region", f.average, f.program)
    )


def _to_fee(
    call: Call, summary: FeeSample, basis: Literal["route", "region"], area: str, duty: DepartureDuty | None
) -> Fee:
    """`duty`: the least that every flight of this area owes."""
    least = convert_amount(duty.amount, duty.currency, summary.currency) if duty else None
    return Fee.from_row(
        summary,
        basis=basis,
        area=area,
        below_duty=least is not None and summary.average < least,
        generated_at=call.sandbox_timestamp(summary.newest),
    )


def _build_freshness(call: Call, fees: Sequence[Fee]) -> Freshness:
    if not fees:
        return describe_unasked("static", "reviewed reference data", "No seat was seen yet.")
    note = "Averages of what was seen, of any age; each row says from when to when."
    return build_freshness(call, ["award seats seen in past searches"], [max(f.newest for f in fees)], [], note)


def _cut(rows: Sequence[Any], programs: int | None) -> list[Any]:
    """The rows of the first programmes."""
    names = list(dict.fromkeys(row.program for row in rows))[:programs]
    return [row for row in rows if row.program in names]


def _describe_fees(call: Call, fees: Sequence[Fee], total: int, origin: str, destination: str, cabin: str) -> str:
    if not fees:
        return _describe_unseen(origin, destination, cabin)
    samples = sum(f.samples for f in fees)
    alike = [fee for fee in fees if (fee.basis, fee.currency) == (fees[0].basis, fees[0].currency)]
    low, high = (
        f"{format_money(fee.average, fee.currency)} with {program_name(call.reference, fee.program)}"
        for fee in (alike[0], alike[-1])
    )
    span = low if len(alike) == 1 else f"{low} to {high}"
    sentences = [
        f"{origin} to {destination}: {span} in taxes and surcharges, one way per person,"
        f" averages of {pluralize(samples, 'seat')} seen."
    ]
    if areas := sorted({f.area for f in fees if f.basis == "region"}):
        sentences.append(f"Programmes not seen on this route: average of {' and '.join(areas)}.")
    if total > (programs_shown := len({f.program for f in fees})):
        sentences.append(f"{programs_shown} of {total} programmes are shown on the free plan.")
    return " ".join(sentences)


def _describe_unseen(origin: str, destination: str, cabin: str) -> str:
    return (
        f"No search has seen taxes or surcharges of {cabin.replace('_', ' ')} awards from {origin} to {destination}"
        " or between their regions yet. A search of this route adds them."
    )


@tool("search", Tier.FREE, Effect.READS, "Estimate taxes on an award")
def estimate_award_fees(
    call: Call,
    origin: AirportOrCity,
    destination: AirportOrCity,
    cabin: Cabin = "economy",
    programs: Annotated[list[str] | None, Field(max_length=60)] = None,
    date: Day | None = None,
) -> FeeEstimates:
    """Estimates the taxes, fees and fuel surcharges (YQ) on an award ticket.

    For "What do I still have to pay on top of miles?" By programme, one way, per person. Free accounts: top 3. Free.
    """
    slugs = list(dict.fromkeys(call.reference.program(p).slug for p in programs or ()))
    start, end = call.reference.airport(origin), call.reference.airport(destination)
    if _find_airports(call, origin) & _find_airports(call, destination):
        raise Invalid(Fault("destination", "is the origin", "another airport"))
    if date and date < call.today:
        raise Invalid(Fault("date", "is in the past", f"a day from {call.today.isoformat()}"))
    duty = find_departure_duty(call, start, end, cabin, date or call.today)
    fees = _find_fees(call, origin, destination, cabin, slugs, duty)
    duty_sentence = describe_departure_duty(call, start, duty, cabin, fees)
    starts, ends = require_airports(call.reference, origin), require_airports(call.reference, destination)
    ranked = list_surcharges(call, starts, ends, cabin, slugs)
    if not fees and not duty and not ranked:
        raise NoData(f"{_describe_unseen(origin, destination, cabin)} {duty_sentence}".strip(), ["observed fees"])
    fees_shown, levels_shown = _cut(fees, call.limits.results), _cut(ranked, call.limits.results)
    averages = _describe_fees(call, fees_shown, len({f.program for f in fees}), origin, destination, cabin)
    levels = describe_surcharges(call, levels_shown)
    sentences = [averages, levels, duty_sentence] if fees else [levels, averages, duty_sentence]
    return FeeEstimates(
        message=" ".join(s for s in sentences if s),
        fees=fees_shown,
        surcharges=[to_ranked(level) for level in levels_shown],
        departure_duty=duty,
        total_found=len({f.program for f in fees}),
        freshness=_build_freshness(call, fees),
    )
