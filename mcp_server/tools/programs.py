"""Loyalty programmes and their award charts: prices with source, date and confidence."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Call, Effect, NoDataWord, Paging, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Day, LooseName, Page, PerPage
from mcp_server.toolkit.provenance import Audited, describe_audited
from mcp_server.toolkit.wording import airline_name, tell_rows
from mcp_server.views.award_charts import (
    KIND_SHOWN,
    ChartPlace,
    Example,
    Scope,
    Season,
    Seasons,
    WholeChart,
    describe_caveats,
    describe_hotel_caveats,
    describe_quotes,
    describe_values,
    explain_no_chart,
    find_chart_gap,
    has_seasons,
    list_examples,
    list_rates,
    put_route_first,
    to_category_rows,
    to_gap,
    to_rate_rows,
    to_scope,
    to_seasons,
    to_value_row,
)
from mcp_server.views.flown_routes import APART, describe_route, find_route
from shared.domain.award_charts import SEASONS, Chart, RoutePrice
from shared.domain.dates import format_day
from shared.domain.flown_routes import RouteKnown
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData, describe_uncovered
from shared.reference.city_airports import require_airports
from shared.reference.hotel_awards import list_point_values, list_prices
from shared.reference.rows.programmes import Program
from shared.reference.rows.travel import HotelPointValue, HyattPrice

MAX_ROWS = 200  # of one answer; cabin and partner_airline narrow a longer chart


class ProgramLine(Audited):
    program: str
    name: str
    kind: str
    currency_name: str
    alliance: str | None
    hubs: list[str]
    destination_count: int | None
    has_chart: bool
    chart_kind: str | None


class Programs(Result):
    programs: list[ProgramLine]
    paging: Paging


class Pricing(Result, Audited):
    program: str
    airline: str
    chart: ChartPlace
    cabins: dict[str, Seasons | NoDataWord]
    route: RouteKnown
    if_flown: dict[str, Seasons | NoDataWord] | None
    season_on_date: Season | None
    dynamic: bool
    examples: list[Example]
    notes: list[str]


class ProgramRates(Result, Audited):
    program: str
    chart: WholeChart
    caveats: list[str]
    examples: list[Example]
    total: int
    has_more: bool


def _find_chart_kind(call: Call, program: Program) -> str | None:
    if list_prices(call.reference, program.slug, call.today):
        return "category"
    if list_point_values(call.reference, program.slug):
        return "fixed"
    own = [c for c in call.reference.charts(program.slug, call.today) if c.scope == "own"]
    return own[0].kind if own else None


def _to_line(call: Call, program: Program) -> ProgramLine:
    kind = _find_chart_kind(call, program)
    priced = kind in ("category", "fixed") or any(
        c.bands or c.zones for c in call.reference.charts(program.slug, call.today)
    )
    flights = call.reference.flights
    destination_count = (
        len({airport for code in program.iata if code in flights for airport in flights[code].pairs}) or None
    )
    return ProgramLine(
        program=program.slug,
        name=program.name,
        kind=program.kind,
        currency_name=program.currency,
        alliance=call.reference.alliance_of(program, call.today),
        hubs=list(dict.fromkeys(hub for airline in call.reference.airlines_of(program) for hub in airline.hubs)),
        destination_count=destination_count,
        has_chart=priced,
        chart_kind=kind,
        **describe_audited(program),
    )


@tool("pricing", Tier.FREE, Effect.READS, "List loyalty programmes", condenses=True, static=True)
def list_programs(
    call: Call,
    kind: Literal["airline", "hotel", "bank", "all"] = "airline",
    alliance: Literal["oneworld", "skyteam", "star_alliance", "none"] | None = None,
    query: Annotated[str | None, Field(max_length=60)] = None,
    page: Page = 1,
    per_page: PerPage = 10,
) -> Programs:
    """Lists loyalty programmes, frequent flyer and hotel schemes and bank points known here, by alliance and hubs.

    For "Which programmes do you know?" Star Alliance, oneworld, SkyTeam. chart_kind dynamic: no chart. Free.
    """
    text = (query or "").strip().lower()
    named = call.reference.find_programs(text) if text else ()
    matches = [
        p
        for p in sorted(call.reference.programs.values(), key=lambda p: p.slug)
        if kind in ("all", p.kind)
        and alliance in (None, call.reference.alliance_of(p, call.today))
        and (p.slug in named or text in f"{p.slug} {p.name} {p.currency}".lower())
    ]
    paging = Paging.of(page, per_page, len(matches))
    listed = f"{tell_rows(len(matches), 'programme', (p.name for p in matches))}{paging.more}"
    outside = call.reference.find_outside_names(text) if text and not matches else ()
    return Programs(
        message=f"{' and '.join(outside)} {describe_uncovered(outside)}." if outside else listed,
        programs=[_to_line(call, p) for p in matches[(page - 1) * per_page : page * per_page]],
        paging=paging,
    )


def _resolve_program(call: Call, text: str) -> tuple[Program, str | None]:
    """The programme that a text names, or for an airline its programme and the airline's code."""
    if exact := call.reference.programs.get(text):
        return exact, None
    codes = call.reference.find_airlines(text)
    if len(codes) != 1:
        return call.reference.program(text), None
    own = call.reference.airlines[codes[0]].program
    if own and not call.reference.find_programs(text):
        return call.reference.programs[own], codes[0]
    program = call.reference.program(text)
    return program, codes[0] if own == program.slug else None


def _find_carrier(call: Call, program: Program, partner_airline: str | None, origin: str, destination: str) -> str:
    """The code of the airline to price: the partner sent, else one of the programme's, if possible with a hub there."""
    if partner_airline:
        return call.reference.airline(partner_airline).iata
    if not program.iata:
        raise NoData(f"{program.name} is no airline programme and prices no flights itself.", missing=["award chart"])
    ends = {origin, destination}
    return next(
        (c for c in program.iata if (a := call.reference.airlines.get(c)) and ends & set(a.hubs)), program.iata[0]
    )


def _refuse(
    call: Call,
    program: Program,
    summary: str,
    missing: str,
    scope: Scope,
    airline: str | None,
    route: tuple[str, str, str | None] | None = None,
) -> NoData:
    """Refuses without a price: gives the reason, the end of the last chart, and any dated prices."""
    gap = find_chart_gap(call.reference, program.slug, scope, airline)
    reason = f" {gap.reason}" if gap else " No dated source of such a chart was found."
    ended = call.reference.last_chart_day(program.slug)
    why = f" The last chart that is known ended on {format_day(ended)}." if ended else ""
    quoted = list_examples(call.reference, program, scope, airline)
    quotes = f" {pluralize(len(quoted), 'dated price is', 'dated prices are')} quoted in examples." if quoted else ""
    quoted, dated = put_route_first(call.reference, quoted, *route) if route else (quoted, "")
    return NoData(
        f"{summary}{reason}{why}{dated}{quotes}",
        [missing],
        **({"examples": quoted} if quoted else {}),
        **({"reason": to_gap(gap)} if gap else {}),
    )


def _describe_prices(
    program: Program, flights: str, price: RoutePrice, day: date | None, cabin: str | None, examples: list[Example]
) -> str:
    if price.dynamic:
        return f"{program.name} prices {flights} dynamically: there is no chart. {describe_quotes(examples)}"
    labels = {"standard": "", "lowest": " (lowest)", "off_peak": " (off-peak)", "peak": " (peak)"}
    figures = "; ".join(
        f"{name.replace('_', ' ')} {' or '.join(f'{n:,}{labels[season]}' for season, n in priced.points.items())}"
        for name, priced in price.cabins.items()
        if cabin not in price.cabins or name == cabin
    )
    prices = f"{figures[:1].upper()}{figures[1:]}, one way per person"
    sentences = [f"{prices}, for {flights} by the chart of {program.name}."]
    if cabin and cabin not in price.cabins:
        sentences.insert(0, f"No price of {cabin.replace('_', ' ')} is known.")
    if day and has_seasons(price):
        sentences.append("Which season the date falls in is not known: no peak calendar was found.")
    return " ".join(sentences).strip()


@tool("pricing", Tier.FREE, Effect.READS, "Show a route's price in points", static="mostly")
def get_pricing(
    call: Call,
    program: Annotated[str, Field(max_length=60)],
    origin: AirportOrCity,
    destination: AirportOrCity,
    cabin: Cabin | None = None,
    partner_airline: LooseName | None = None,
    date: Day | None = None,
) -> Pricing:
    """Tells how many miles, points or Avios an award costs on a route by the chart: per cabin, off-peak and peak.

    For "How much is Tokyo in business?" One way, per person; no seats searched. none_known: no such flight,
    price in if_flown. Free.
    """
    resolved, own_airline = _resolve_program(call, program)
    if date and date < call.today:
        raise Invalid(Fault("date", "is in the past", f"a day from {call.today.isoformat()}"))
    starts, ends = (require_airports(call.reference, code) for code in (origin, destination))
    start, end = starts[0], ends[0]
    if set(starts) & set(ends):
        raise Invalid(Fault("destination", "is the origin", "another airport"))
    airline = _find_carrier(call, resolved, partner_airline or own_airline, start, end)
    price = call.reference.route_price(resolved.slug, airline, start, end)
    quoted = list_examples(call.reference, resolved, to_scope(resolved, airline), airline)
    if price is None or (not price.cabins and not price.dynamic):
        unpriced = f"No chart of {resolved.name} prices {airline} flights from {start} to {end}."
        raise _refuse(
            call, resolved, unpriced, "award price", to_scope(resolved, airline), airline, (start, end, cabin)
        )
    finding = find_route(call, airline, start, end)
    cabins = [cabin] if cabin else list(price.cabins) or ["economy", "business"]
    places = [p.place for c, p in price.cabins.items() if c in cabins]
    chart = price.chart_of(cabin)
    prices = {c: to_seasons(price, c) for c in cabins}
    apart = finding.route == "none_known" and not price.dynamic
    flights = f"{airline_name(call.reference, airline)} ({airline}) flights from {start} to {end}"
    quoted, dated = put_route_first(call.reference, quoted, start, end, cabin) if price.dynamic else (quoted, "")
    summary = f"{_describe_prices(resolved, flights, price, date, cabin, quoted)}{dated}"
    doubt = describe_route(call, airline, start, end, finding)
    return Pricing(
        message=f"{doubt} {APART}" if apart else f"{summary} {doubt}".rstrip(),
        program=resolved.slug,
        airline=airline,
        chart=ChartPlace(kind=chart.kind, zone_or_band=places[0] if places else None, distance_miles=price.miles),
        cabins=dict.fromkeys(cabins, NO_DATA) if apart else prices,
        route=finding.route,
        if_flown=prices if apart else None,
        season_on_date=None if date is None else _find_one_season(price),
        dynamic=price.dynamic,
        examples=quoted,
        notes=[c.remark for c in price.charts if c.remark],
        **describe_audited(chart),
    )


def _find_one_season(price: RoutePrice) -> Season | None:
    """The season of any day; None if days differ or may differ, or the price is dynamic."""
    if price.dynamic or has_seasons(price):
        return None
    return "lowest" if any("lowest" in cabin.points for cabin in price.cabins.values()) else "standard"


def _select_charts(call: Call, program: Program, scope: Scope, airline: str | None) -> list[Chart]:
    """The programme's own charts, or its partners'. For one airline: those that price it."""
    charts = call.reference.charts(program.slug, call.today)
    fits = [c for c in charts if (c.scope == "own") == (scope == "own")]
    if airline:
        fits = list(call.reference.charts_of(program.slug, airline, call.today))
    return [c for c in fits if c.kind != "not_captured"]


@tool("pricing", Tier.FREE, Effect.READS, "Show an award chart", condenses=True, static=True)
def get_program_rates(
    call: Call,
    program: LooseName,
    chart: Literal["own", "partner"] = "own",
    partner_airline: LooseName | None = None,
    cabin: Cabin | None = None,
) -> ProgramRates:
    """Shows the full award chart of a programme as a table: each zone, region or distance band, own or partner flights.

    For "Show me the whole chart." One way, per person. One route: get_pricing. Free.
    """
    resolved = _resolve_program(call, program)[0]
    if levels := list_prices(call.reference, resolved.slug, call.today):
        return _to_hotel_rates(resolved, levels)
    if values := list_point_values(call.reference, resolved.slug):
        return _to_fixed_rates(resolved, values)
    if resolved.kind != "airline":
        raise NoData(explain_no_chart(call.reference, resolved), missing=["award chart"])
    code = call.reference.airline(partner_airline).iata if partner_airline else None
    scope = to_scope(resolved, code) if code else chart
    charts = _select_charts(call, resolved, scope, code)
    flights = f"{airline_name(call.reference, code) if code else chart} flights"
    rates = [rate for c in charts for rate in list_rates(c, cabin)]
    dynamic = bool(charts) and all(c.dynamic for c in charts)
    if not rates and not dynamic:
        of = f" in {cabin.replace('_', ' ')}" if cabin and charts else ""
        unknown = f"No award chart of {resolved.name} for {flights}{of} is known."
        raise _refuse(call, resolved, unknown, "award chart", scope, code)
    priced = {season for rate in rates for season, points in rate.points.items() if points is not None}
    seasons = [season for season in SEASONS if season in priced]
    examples = list_examples(call.reference, resolved, scope, code)
    rows = [row for c in charts for row in to_rate_rows(c, cabin, MAX_ROWS)][:MAX_ROWS]
    summary = f"dynamic, no chart. {describe_quotes(examples)}" if dynamic else f"{pluralize(len(rates), 'price')}."
    return ProgramRates(
        message=f"{resolved.name}, {flights}: {summary}",
        program=resolved.slug,
        chart=WholeChart(kind=KIND_SHOWN[charts[0].kind], rows=rows, seasons=seasons),
        caveats=describe_caveats(charts),
        examples=examples,
        total=len(rates),
        has_more=len(rates) > MAX_ROWS,
        **describe_audited(charts[0]),
    )


def _to_hotel_rates(program: Program, levels: list[HyattPrice]) -> ProgramRates:
    """The points of a night by category and level."""
    level = next((r for r in levels if r.points is not None), levels[0])
    rows = to_category_rows(levels)
    category_count = pluralize(len(rows), "category", "categories")
    return ProgramRates(
        message=f"{program.name}, chart {level.chart}: {category_count}, in points for a night.",
        program=program.slug,
        chart=WholeChart(kind="category", rows=rows, seasons=list(dict.fromkeys(r.level for r in levels))),
        caveats=describe_hotel_caveats(levels),
        examples=[],
        total=len(rows),
        has_more=False,
        **describe_audited(level),
    )


def _to_fixed_rates(program: Program, values: list[HotelPointValue]) -> ProgramRates:
    """The value of points at any hotel of the programme."""
    return ProgramRates(
        message=f"{program.name}: {describe_values(values)}.",
        program=program.slug,
        chart=WholeChart(kind="fixed", rows=[to_value_row(v) for v in values], seasons=[]),
        caveats=[f"{v.note[:1].upper()}{v.note[1:]}." for v in values if v.note],
        examples=[],
        total=len(values),
        has_more=False,
        **describe_audited(values[0]),
    )
