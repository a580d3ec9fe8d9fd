"""Tools about one airline: when it opens award seats, what a cancellation costs, whose flight a code is."""

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Call, Effect, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.views.airlines import AirlineName, Endpoint, list_endpoints
from shared.domain.dates import format_day, format_iso_day
from shared.domain.plurals import pluralize
from shared.errors import NoData, NotFound
from shared.reference.airlines import Airline
from shared.reference.provenance import find_publisher
from shared.reference.rows.award_charts import CancellationFee as FeeRow
from shared.reference.rows.programmes import ProgramFact

PARTNER_NOTE = "This is the airline's own programme; a partner programme that booked the award charges its own fee."
MAX_PROGRAMMES = 4
_ALLIANCE_NAMES = {"oneworld": "oneworld", "skyteam": "SkyTeam", "star_alliance": "Star Alliance"}
_DAYS = re.compile(r"(\d+) days?", re.ASCII)
_CODE = re.compile(r"([A-Z0-9]{2}|[A-Z]{3}) ?(\d{1,4}[A-Z]?)", re.ASCII)


class ReleaseWindow(Result, Verified):
    airline: AirlineName
    days_before_departure: int
    opens_for_date: date
    partner_days: int | None
    notes: str | None


class FeeAmount(Part):
    amount: Money | NoDataWord
    currency: str
    unit: str


class AirlineFees(Result, Verified):
    airline: AirlineName
    program: str
    fee: FeeAmount
    change_fee: FeeAmount
    exempt_tiers: list[str]
    deadline: str | None
    partner_note: str
    note: str | None


class FlightCarrier(Part):
    code: str
    name: str
    country: str | NoDataWord
    slug: str | None
    alliance: str | None
    stopped_on: date | None


class FlightLookup(Result):
    airline: FlightCarrier
    program: str | None
    supported_endpoints: list[Endpoint]
    schedule: NoDataWord


def _to_airline_name(airline: Airline) -> AirlineName:
    return AirlineName(code=airline.iata, name=airline.name)


def _cite(row: ProgramFact) -> str:
    """The publisher and the date of a fact inside a sentence."""
    publisher = find_publisher(row.source_url) or row.source_url
    return f"{publisher}, {format_iso_day(row.as_of)}" if row.as_of else publisher


def _find_partner_release(call: Call, airline: Airline) -> tuple[int | None, str | None]:
    """The days before departure when partner programmes can book the seats, and a note with its source."""
    for row in call.reference.rows("program_facts.csv"):
        if row.topic == "partner_release" and row.program == airline.program:
            days = _DAYS.fullmatch(row.value or "")
            return int(days[1]) if days else None, f"partners: {row.answer} ({_cite(row)})"
    return None, None


@tool("pricing", Tier.FREE, Effect.READS, "Show when award seats open", static=True)
def get_award_release_window(call: Call, airline: Annotated[str, Field(max_length=60)]) -> ReleaseWindow:
    """Tells how far in advance an airline releases award seats: how many days ahead its calendar opens.

    For "When can I book next summer?" For dates more than 330 days out. opens_for_date: the last one on sale. Free.
    """
    carrier = call.reference.airline(airline)
    window = call.reference.release_window(carrier.iata)
    if window is None:
        raise NoData(f"When {carrier.name} opens award seats is not known.", missing=["release window"])
    last = call.today + timedelta(days=window.days_before_departure)
    partner_days, partner_note = _find_partner_release(call, carrier)
    release_note = window.release_time and f"released at {window.release_time}"
    notes = "; ".join(n for n in (release_note, window.remark, partner_note) if n)
    return ReleaseWindow(
        message=f"{carrier.name} opens award seats {pluralize(window.days_before_departure, 'day')} ahead,"
        f" today until {format_day(last)}.",
        airline=_to_airline_name(carrier),
        days_before_departure=window.days_before_departure,
        opens_for_date=last,
        partner_days=partner_days,
        notes=notes or None,
        **describe_verified(window),
    )


def _to_fee(row: FeeRow, amount: Decimal | None, unit: str) -> FeeAmount:
    """An amount of money, miles or points; for miles and points the unit is the currency."""
    currency = row.fee_currency if unit == "cash" else unit.split()[-1]
    return FeeAmount(amount=NO_DATA if amount is None else amount, currency=currency, unit=f"{unit} per {row.per}")


def _describe_cost(fee: FeeRow) -> str:
    if fee.cancel_fee is None:
        return "cost not known"
    currency = fee.fee_currency if fee.cancel_unit == "cash" else fee.cancel_unit
    return f"{fee.cancel_fee:,f} {currency} per {fee.per}" if fee.cancel_fee else "free"


def _describe_terms(fee: FeeRow) -> str:
    """The cost, its conditions and its deadline."""
    deadline = fee.cutoff and f"deadline: {fee.cutoff}"
    return "; ".join(part for part in (_describe_cost(fee), fee.remark, deadline) if part)


@tool("pricing", Tier.FREE, Effect.READS, "Show what cancelling an award costs", anonymous=True, static=True)
def get_cancellation_fee(call: Call, airline: Annotated[str, Field(max_length=60)]) -> AirlineFees:
    """Tells the fee to cancel an award ticket and get the miles back (redeposit, refund), and who is exempt.

    For "What if I cancel my award?" Own programme of an airline; partners charge differently. Free.
    """
    carrier = call.reference.airline(airline)
    fee = call.reference.cancellation_fee(carrier.program) if carrier.program else None
    if fee is None or carrier.program is None:
        unknown = f"The award cancellation fee of {carrier.name} is not known for its own programme."
        # Fees of programmes that sell this airline: theirs apply.
        reference = call.reference
        fees = [f for f in reference.rows("cancellation_fees.csv") if reference.partner(f.program, carrier.iata)]
        proven = sorted(fees, key=lambda f: (f.audited_on is None, f.program))[:MAX_PROGRAMMES]
        examples = ", ".join(f"{reference.programs[f.program].name} ({_describe_cost(f)})" for f in proven)
        booking_programmes_text = (
            f" The programme that books the award sets it, for example {examples}." if examples else ""
        )
        raise NoData(unknown + booking_programmes_text, missing=["cancellation fee"])
    cancel, change = _to_fee(fee, fee.cancel_fee, fee.cancel_unit), _to_fee(fee, fee.change_fee, fee.change_unit)
    return AirlineFees(
        message=f"Cancelling an award of {call.reference.programs[carrier.program].name}: {_describe_terms(fee)}."
        f" {PARTNER_NOTE}",
        airline=_to_airline_name(carrier),
        program=carrier.program,
        fee=cancel,
        change_fee=change,
        exempt_tiers=list(fee.exempt_tiers),
        deadline=fee.cutoff,
        partner_note=PARTNER_NOTE,
        note=fee.remark,
        **describe_verified(fee),
    )


def _find_carrier(call: Call, code: str) -> Airline:
    carriers, by_icao = call.reference.carriers, call.reference.by_icao
    carrier = carriers.get(by_icao.get(code, code))
    if carrier is None:
        raise NotFound("airline", code, [])
    return carrier


@tool("search", Tier.FREE, Effect.READS, "Look up a flight number", static=True)
def lookup_flight(
    call: Call,
    flight_number: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{2,3} ?\d{1,4}[A-Za-z]?$")],
    date: Day | None = None,
) -> FlightLookup:
    """Tells which airline a flight number is, who operates it (codeshare), and whose miles book it.

    For "What is flight BA 178, when does it leave?" Times are no_data without timetables. Free.
    """
    parts = _CODE.fullmatch(flight_number.upper().strip())
    if parts is None:
        raise NotFound("flight", flight_number)
    carrier = _find_carrier(call, parts[1])
    when = f" on {format_day(date)}" if date else ""
    alliance = carrier.find_alliance(date or call.today)
    membership = f", a member of {_ALLIANCE_NAMES[alliance]}" if alliance else ""
    searchable = carrier if carrier.slug else None
    programme = "" if searchable else " Its award seats cannot be searched for here."
    if searchable and searchable.program:
        programme = f" Its awards are priced by {call.reference.programs[searchable.program].name}."
    return FlightLookup(
        message=f"{parts[1]} {parts[2]} is a flight of {carrier.name}{membership}.{programme}"
        f" Its timetable{when} is not known here."
        if carrier.stopped_on is None
        else f"{parts[1]} {parts[2]} was a flight of {carrier.name},"
        f" which ended all flights on {format_day(carrier.stopped_on)}.",
        airline=FlightCarrier.from_row(
            carrier, code=carrier.iata, country=carrier.country or NO_DATA, alliance=alliance
        ),
        program=searchable and searchable.program,
        supported_endpoints=list_endpoints(searchable) if searchable else [],
        schedule=NO_DATA,
    )
