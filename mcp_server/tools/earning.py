"""What flights earn: points towards status by route, and percent of distance by booking class."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Amount, Currency
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.views.airlines import AirlineName
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.earning import EarnedPoints, Method, Metric, Scheme, count_points, find_rate
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData, NotFound
from shared.reference import cathay, statuses
from shared.reference.ages import explain_outdated, is_outdated
from shared.reference.city_airports import require_airports
from shared.reference.rows.earning import CathayFare, CathayZone, EarningRate

# Earning by zone, fare type and booking class, for results.


class ZoneEarning(Part):
    """What one flight earns with a fare in a zone."""

    cabin: str
    fare_type: str
    booking_classes: list[str]
    zone: str
    zone_miles: str
    miles: int
    status_points: int


def list_zone_earnings(call: Call, fares: list[CathayFare], zone: str | None) -> list[ZoneEarning]:
    """The fares for results, the shortest zone first; those of one zone where a route is named."""
    zones = {z.zone: z for z in call.reference.rows("earning_cathay_zones.csv")}
    fares_of_zone = sorted(
        (f for f in fares if zone in (None, f.zone)),
        key=lambda f: (zones[f.zone].min_miles, f.zone, f.cabin, f.asia_miles),
    )
    return [
        ZoneEarning.from_row(f, zone_miles=cathay.describe_zone(zones[f.zone]), miles=f.asia_miles)
        for f in fares_of_zone
    ]


def select_class(fares: list[CathayFare], fare_class: str | None) -> list[CathayFare]:
    """The fares of one booking class; all without one. Raises NotFound with the existing ones."""
    if not fare_class:
        return fares
    letter = fare_class.strip().upper()
    if matches := [f for f in fares if letter in f.booking_classes]:
        return matches
    classes = sorted({c for f in fares for c in f.booking_classes})
    raise NotFound("booking class", letter, classes)


QualifyingProgram = Literal["british-airways-club", "flying-blue", "american-airlines-aadvantage"]
EarningProgram = Literal[
    "atmos-rewards",
    "cathay-asia-miles",
    "eva-air-infinity-mileagelands",
    "iberia-club",
    "jal-mileage-bank",
    "virgin-atlantic-flying-club",
]
SegmentCabin = Literal["economy", "premium", "business", "first"]


class FlightEarnings(Result, Verified):
    program: str
    metric: Metric
    earned: Money
    per_segment: Money | None
    distance_miles: int
    distance_km: int
    method: Method
    assumptions: list[str]


class FareClassRate(Verified):
    fare_class: str
    cabin: str
    percent: Money
    minimum_miles: int | None
    scope: str
    note: str | None


class EarningRates(Result, Verified):
    program: str
    airline: AirlineName
    rates: list[FareClassRate]
    by_zone: list[ZoneEarning]
    zone: str | None


def _check_fare(call: Call, scheme: Scheme, price: Decimal | None, currency: str | None) -> Decimal | None:
    """The fare in the programme's currency. Raises NoData if it is needed but not in that currency."""
    if scheme.method != "revenue":
        return None
    name = call.reference.programs[scheme.program].name
    if price is None:
        raise NoData(
            f"{name} counts the fare paid: give fare_price, the base fare and carrier surcharges in {scheme.currency}.",
            missing=["fare_price"],
        )
    if currency not in (None, scheme.currency):
        raise NoData(
            f"{name} counts {scheme.currency}, and at which rate it would convert {currency} is not known:"
            f" give fare_price in {scheme.currency}.",
            missing=["exchange rate"],
        )
    return price


def _resolve_tier(call: Call, scheme: Scheme) -> tuple[str, list[str]]:
    """The caller's tier where the rate depends on it, and a note on what was assumed."""
    if len(scheme.per_unit) < 2:
        return "", []
    own = LoyaltyStatus.program == scheme.program, LoyaltyStatus.member == HOLDER
    tracked = call.db.scalar(select(LoyaltyStatus.tier).where(*own))
    rate, assumed = find_rate(scheme, tracked or "")
    unit = status_tiers.format_metric(scheme.metric)
    if tracked is None:
        return assumed, [f"No status of yours in this programme is recorded here, so the {assumed} rate is taken."]
    return assumed, [f"Your recorded status is {tracked}: {rate:f} {unit} per {scheme.currency}."]


_CARRIER_NOTES = {
    "british-airways-club": "Counted for British Airways flight numbers; basic economy, award tickets and upgrades with"
    " points get no extra tier points.",
    "flying-blue": "Counted for paid tickets, each segment by its own length.",
    "american-airlines-aadvantage": "Counted for tickets sold by American; basic economy earns nothing.",
}


def _list_assumptions(scheme: Scheme, earned: EarnedPoints, segments: int, tier_notes: list[str]) -> list[str]:
    assumptions = [*earned.notes, *tier_notes, _CARRIER_NOTES[scheme.program]]
    if segments > 1:
        assumptions.append(f"All {segments} segments are of this distance.")
    if scheme.method == "revenue":
        assumptions.append("fare_price is that of the whole ticket; how the carrier rounds fractions is not known.")
    return assumptions


@tool("search", Tier.FREE, Effect.READS, "Calculate what a flight earns")
def calculate_flight_earnings(
    call: Call,
    origin: AirportOrCity,
    destination: AirportOrCity,
    program: QualifyingProgram,
    cabin: SegmentCabin = "economy",
    fare_price: Annotated[Amount | None, Field(description="Base fare plus carrier surcharges, without taxes.")] = None,
    fare_currency: Annotated[Currency | None, Field(description="Absent: the programme's.")] = None,
    segments: Annotated[int, Field(ge=1, description="Multiplies XP and extras.")] = 1,
) -> FlightEarnings:
    """Estimates how many tier points, Loyalty Points or XP (experience points) a flight earns towards elite status.

    For "What status points would I earn?" BA and American count the fare: give fare_price. Flying Blue: distance and
    cabin. Miles: get_earning_rates. Free.
    """
    starts, ends = (require_airports(call.reference, code) for code in (origin, destination))
    start, end = starts[0], ends[0]
    if set(starts) & set(ends):
        raise Invalid(Fault("destination", "is the origin", "another airport"))
    if segments > 100:
        raise Invalid(Fault("segments", "is too large", "a whole number from 1 to 100"))
    scheme = statuses.build_scheme(call.reference, program)
    if scheme is None:
        raise NoData("How this programme counts is not known.", missing=["earning rule"])
    tier, tier_notes = _resolve_tier(call, scheme)
    legs = statuses.build_legs(call.reference, (start, end)) * segments
    earned = count_points(scheme, legs, cabin, _check_fare(call, scheme, fare_price, fare_currency), tier)
    total = earned.amount or Decimal(0)
    fact = min(statuses.list_scheme_facts(call.reference, program), key=lambda f: f.as_of or "")
    unit = status_tiers.format_metric(scheme.metric)
    return FlightEarnings(
        message=f"{start}-{end} in {cabin}: {status_tiers.format_number(total)} {unit} for"
        f" {pluralize(segments, 'segment')}.",
        program=program,
        metric=scheme.metric,
        earned=total,
        per_segment=earned.fixed / segments if scheme.method == "fixed_by_distance" else None,
        distance_miles=legs[0].miles,
        distance_km=call.reference.kilometres(start, end),
        method=scheme.method,
        assumptions=_list_assumptions(scheme, earned, segments, tier_notes),
        **describe_verified(fact),
    )


@tool("pricing", Tier.FREE, Effect.READS, "Show what a fare earns", static=True)
def get_earning_rates(
    call: Call,
    program: EarningProgram,
    airline: Annotated[str, Field(pattern=r"^[A-Z0-9]{2}$", description="Two-character code.")],
    fare_class: Annotated[str | None, Field(max_length=2, description="Absent: the whole table.")] = None,
    origin: AirportOrCity | None = None,
    destination: AirportOrCity | None = None,
) -> EarningRates:
    """Tells how many miles a fare class or booking class earns when a flight is credited to a programme.

    For "What do I get in class O if I credit to Alaska?" Percent of distance; Cathay's own flights: by_zone. Tier
    points: calculate_flight_earnings. Free.
    """
    if fares := cathay.list_fares(call.reference, program, airline):
        zone = _find_zone(call, origin, destination)
        return _list_by_zone(call, program, airline, select_class(list(fares), fare_class), zone)
    program_rows = [r for r in call.reference.rows("earning_rates.csv") if r.program == program]
    of_airline = [r for r in program_rows if r.airline == airline]
    rows = [r for r in of_airline if not is_outdated("earning_rates.csv", r, call.today)]
    carrier = call.reference.airlines.get(airline) or (None if rows else call.reference.airline(airline))
    airline_name = AirlineName(code=airline, name=carrier.name if carrier else airline)
    if not rows:
        outdated = f" {explain_outdated('earning_rates.csv', of_airline[0])}" if of_airline else ""
        text = _describe_unknown(call, program, airline_name.name, program_rows)
        raise NoData(f"{text}{outdated}", missing=["earning rates"])
    rates = [_to_rate(r, letter) for r in rows for letter in r.booking_classes]
    if fare_class:
        letter = fare_class.strip().upper()
        matches = [r for r in rates if r.fare_class == letter]
        if not matches:
            raise NotFound("booking class", letter, sorted({r.fare_class for r in rates}))
        rates = matches
    weakest = min(rows, key=lambda r: (["low", "medium", "high"].index(r.confidence), r.as_of or ""))
    name = call.reference.programs[program].name
    return EarningRates(
        message=f"{airline_name.name} credited to {name}: {pluralize(len(rates), 'rate')} in percent of distance.",
        program=program,
        airline=airline_name,
        rates=sorted(rates, key=lambda r: (r.percent, r.fare_class)),
        by_zone=[],
        zone=None,
        **describe_verified(weakest),
    )


def _find_zone(call: Call, origin: str | None, destination: str | None) -> CathayZone | None:
    if origin is None or destination is None:
        return None
    return cathay.find_zone(call.reference, origin, destination)


def _list_by_zone(
    call: Call, program: str, airline: str, fares: list[CathayFare], zone: CathayZone | None
) -> EarningRates:
    rates = list_zone_earnings(call, fares, zone.zone if zone else None)
    carrier, name = call.reference.airlines[airline].name, call.reference.programs[program].name
    where = f" in the zone {zone.zone.replace('_', ' ')}, {cathay.describe_zone(zone)}" if zone else ""
    return EarningRates(
        message=f"{carrier} credited to {name}: {pluralize(len(rates), 'fare')}{where}. A flight earns a fixed"
        f" number of miles by zone, fare type and booking class.",
        program=program,
        airline=AirlineName(code=airline, name=carrier),
        rates=[],
        by_zone=rates,
        zone=zone.zone if zone else None,
        **describe_verified(fares[0]),
    )


def _to_rate(row: EarningRate, letter: str) -> FareClassRate:
    return FareClassRate(
        fare_class=letter,
        cabin=row.cabin,
        percent=row.percent_of_distance,
        minimum_miles=row.minimum_points,
        scope=f"{row.scope}, from {row.valid_from}" if row.valid_from else row.scope,
        note=row.note,
        **describe_verified(row),
    )


def _describe_unknown(call: Call, program: str, airline: str, program_rows: list[EarningRate]) -> str:
    name = call.reference.programs[program].name
    fresh = [r for r in program_rows if not is_outdated("earning_rates.csv", r, call.today)]
    codes = ", ".join(sorted({r.airline for r in fresh})) or "no airline"
    return f"What {airline} flights earn in {name} is not known. Known for {name}: {codes}."
