"""Partner awards: the programmes that can ticket a flight, with chart prices and ways to the points."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, LooseName, Passengers
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.views.award_charts import Example, to_example
from mcp_server.views.flown_routes import APART, describe_route
from mcp_server.views.household import describe_counted
from mcp_server.views.transfers import read_routes
from shared.domain.award_charts import SEASONS, Chart
from shared.domain.flown_routes import ROUTES_KNOWN, RouteFinding, RouteKnown
from shared.domain.party_prices import PER, Per, describe_points
from shared.domain.plurals import pluralize
from shared.domain.transfers import Reach, find_reach, first_covering
from shared.errors import Fault, Invalid, NoData
from shared.reference.city_airports import require_airports
from shared.reference.rows.programmes import Program
from shared.reference.surcharges import find_surcharges, list_nonstop_carriers
from shared.services.search.price_memory import carriers_seen_nonstop
from shared.services.search.purses import read_household

Season = Literal["lowest", "off_peak", "standard", "peak"]
Reachable = Literal["balance", "transfer", "no"]


class PartnerChart(Part):
    chart_id: str
    kind: str
    zone_or_band: str
    flights: Literal["own", "partner"]


class Surcharge(Verified):
    """What the carrier adds in cash, in words; a range is for business over the North Atlantic unless it says else."""

    level: str
    usd_low: int | None
    usd_high: int | None
    note: str | None


class PartnerOption(Verified):
    """`route`: whether these airlines are known to fly there without a stop. `points` are those of one person."""

    program: str
    name: str
    operating_airlines: list[str]
    route: RouteKnown
    points: int
    points_total: int
    per: Per
    peak_points: int | None
    chart: PartnerChart
    season: Season | None
    taxes_estimate: Money | None
    surcharges: list[Surcharge]
    reachable: Reachable
    via: str | None
    book_at: str
    note: str | None


class ProgramExample(Example):
    program: str


class PartnerOptions(Result):
    options: list[PartnerOption]
    if_flown: list[PartnerOption]
    examples: list[ProgramExample]
    total_found: int
    origin: str
    destination: str
    flown_by: list[str]
    dynamic_programs: list[str]


class _PartnerAward(NamedTuple):
    program: Program
    airline: str
    route: RouteKnown
    chart: Chart
    place: str
    season: Season
    points: int
    peak: int | None


def _find_hub_carriers(call: Call, codes: Sequence[str]) -> list[str]:
    """Carriers with a hub at either end, which may fly a route that no carrier is known to fly."""
    return sorted(a.iata for a in call.reference.airlines.values() if set(a.hubs) & set(codes))


def _judge_routes(
    call: Call, airlines: Sequence[str], starts: Sequence[str], ends: Sequence[str]
) -> dict[str, RouteFinding]:
    """Each airline's known non-stop flights between two cities: the best of all airport pairs."""
    observed = carriers_seen_nonstop(call.db, call.account_id, starts, ends)
    findings = {}
    for airline in airlines:
        pairs = [call.reference.find_flight(airline, a, b, seen=airline in observed) for a in starts for b in ends]
        findings[airline] = min(pairs, key=lambda f: ROUTES_KNOWN.index(f.route))
    return findings


def _find_prices(
    call: Call, findings: Mapping[str, RouteFinding], start: str, end: str, cabin: str
) -> Iterator[_PartnerAward | Program]:
    """Each chart price of each programme, and each programme that prices one of the airlines without a chart."""
    for program in call.reference.programs.values():
        dynamic = False
        for airline, finding in findings.items():
            price = call.reference.route_price(program.slug, airline, start, end, call.today)
            cell = price.cabins.get(cabin) if price else None
            if price and cell:
                season = next(s for s in SEASONS if s in cell.points)
                chart = price.chart_of(cabin)
                peak = cell.points.get("peak") if season != "peak" else None
                yield _PartnerAward(
                    program, airline, finding.route, chart, cell.place, season, cell.points[season], peak
                )
            dynamic = dynamic or bool(price and price.dynamic)
        if dynamic:
            yield program


def _quote_examples(
    call: Call, airlines: Collection[str], start: str, end: str, prices: Sequence[_PartnerAward | Program], cabin: str
) -> list[ProgramExample]:
    """Dated prices for the route, from programmes without a chart price for the airline."""
    priced_pairs = {(p.program.slug, p.airline) for p in prices if isinstance(p, _PartnerAward)}
    return [
        ProgramExample(program=row.program, **to_example(row).model_dump())
        for row in call.reference.find_examples(start, end, cabin)
        if any(a in airlines and (row.program, a) not in priced_pairs for a in row.airline.split("|"))
    ]


def _group_prices(prices: Sequence[_PartnerAward]) -> list[list[_PartnerAward]]:
    """Groups prices with the same chart, zone and points, for any airline; cheapest first."""
    groups: dict[tuple[str, str, int, str], list[_PartnerAward]] = {}
    for price in prices:
        groups.setdefault((price.chart.chart_id, price.place, price.points, price.route), []).append(price)
    return sorted(groups.values(), key=lambda g: (g[0].points, g[0].program.slug))


Reaches = Mapping[str, Sequence[Reach]]


def _find_way(reaches: Reaches, program: str, points: int) -> tuple[Reachable, str | None]:
    """Whether the balances cover the points, and the largest balance that does so by a transfer."""
    reach = first_covering(reaches.get(program, ()), points)
    if reach is None:
        return "no", None
    return ("balance", None) if reach.source == program else ("transfer", reach.source)


def _to_option(call: Call, group: list[_PartnerAward], reaches: Reaches, passengers: int) -> PartnerOption:
    first = group[0]
    airlines = sorted(p.airline for p in group)
    total = first.points * passengers
    reachable, via = _find_way(reaches, first.program.slug, total)
    # The surcharges known for these carriers when booked with this programme.
    rows = [level.row for level in find_surcharges(call.reference, first.program.slug, airlines)]
    return PartnerOption(
        program=first.program.slug,
        name=first.program.name,
        operating_airlines=airlines,
        route=first.route,
        points=first.points,
        points_total=total,
        per=PER,
        peak_points=first.peak,
        chart=PartnerChart(
            chart_id=first.chart.chart_id,
            kind=first.chart.kind,
            zone_or_band=first.place,
            flights="own" if first.chart.scope == "own" else "partner",
        ),
        season=first.season,
        taxes_estimate=None,  # averages come only from observations
        surcharges=[Surcharge.from_row(r, note=r.remark, **describe_verified(r)) for r in rows],
        reachable=reachable,
        via=via,
        book_at=first.program.name,
        note=first.chart.remark,
        **describe_verified(first.chart),
    )


@tool("pricing", Tier.FREE, Effect.READS, "Find programmes that book an airline", condenses=True)
def get_partner_award_options(
    call: Call,
    origin: AirportOrCity,
    destination: AirportOrCity,
    operating_airline: LooseName | None = None,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
) -> PartnerOptions:
    """Compares which programmes' miles book an airline's flight, its partners included, cheapest points first.

    For "I want to fly Qatar first class: who should I book with?" Per person, one way. Free accounts: top 3. Free.
    """
    starts, ends = (require_airports(call.reference, code) for code in (origin, destination))
    start, end = starts[0], ends[0]
    if set(starts) & set(ends):
        raise Invalid(Fault("destination", "is the origin", "another airport"))
    nonstop_carriers = list_nonstop_carriers(call.reference, starts, ends)
    carriers = [call.reference.airline(operating_airline).iata] if operating_airline else nonstop_carriers
    findings = _judge_routes(call, carriers or _find_hub_carriers(call, (start, end)), starts, ends)
    every_price = list(_find_prices(call, findings, start, end, cabin))
    prices = call.taste.choose(every_price, lambda price: (price.airline,) if isinstance(price, _PartnerAward) else ())
    groups = _group_prices([p for p in prices if isinstance(p, _PartnerAward) and p.route != "none_known"])
    unflown = _group_prices([p for p in prices if isinstance(p, _PartnerAward) and p.route == "none_known"])
    dynamic = [p.slug for p in prices if isinstance(p, Program)]
    quoted = _quote_examples(call, findings, start, end, prices, cabin)
    if not groups and not unflown and not dynamic and not quoted:
        who = carriers[0] if operating_airline else "any carrier known there"
        raise NoData(
            f"No chart prices {cabin.replace('_', ' ')} with {who} from {start} to {end}.", missing=["award price"]
        )
    household = read_household(call.db, call.reference)
    call.add_own_programs(household.count_points())
    reaches = find_reach(read_routes(call), household.count_points())
    groups_shown = groups[: call.limits.results]
    caveats = [describe_route(call, a, start, end, f) for a, f in findings.items() if f.route != "known"]
    if unflown:
        caveats.append(APART)
    if quoted:
        caveats.append(f"{pluralize(len(quoted), 'dated price is', 'dated prices are')} quoted in examples.")
    summary = _describe_options(f"{start} to {end}", groups, len(groups_shown), dynamic, passengers)
    counted = describe_counted(call.reference, household, {group[0].program.slug for group in groups_shown})
    return PartnerOptions(
        message=" ".join([summary, *caveats]) + counted,
        options=[_to_option(call, g, reaches, passengers) for g in groups_shown],
        examples=quoted,
        if_flown=[_to_option(call, g, reaches, passengers) for g in unflown[: call.limits.results]],
        total_found=len(groups),
        origin=start,
        destination=end,
        flown_by=nonstop_carriers,
        dynamic_programs=dynamic,
    )


def _describe_options(
    route: str, groups: Sequence[Sequence[_PartnerAward]], listed: int, dynamic: Sequence[str], passengers: int
) -> str:
    cut = f", {listed} shown" if listed < len(groups) else ""
    if groups:
        best = groups[0][0]
        message = f"Lowest: {describe_points(best.points, passengers, best.program.name)}, one way."
        message += f" {pluralize(len(groups), 'chart price')} from {route}{cut}. Confirm the seat before moving points."
    else:
        message = f"No chart price of a flight that may be flown from {route}."
    if dynamic:
        message += f" Prices without a chart: {pluralize(len(dynamic), 'programme')}."
    return message
