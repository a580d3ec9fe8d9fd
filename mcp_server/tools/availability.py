"""Live award search: an airline, a route and a day go in, marked award seats come out; and which airlines there are."""

from collections.abc import Sequence
from datetime import date as Date
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from mcp_server.call import Call, CallBase, LiveCall
from mcp_server.endpoints import Endpoint, endpoints
from mcp_server.fields import Airport, Cabin, Day, Passengers
from mcp_server.results import NO_DATA, AwardOption, Coverage, Freshness, Money, NoDataWord, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.domain.plans import CABINS, FREE_CABINS, Plan, cabins
from shared.errors import Fault, Invalid, NoData, Paywall
from shared.reference.rows import Airline
from shared.services.availability import VERB, Found, SeatOption, search
from shared.services.sources import Standing, State, standing

ALWAYS = ("BA", "QR", "CX")  # the specification's carrier tags, listed and accepted whoever answers for them


class CabinOffer(Part):
    seats: int | None
    points: int
    taxes: Money | None
    taxes_currency: str | None


class Availability(Result):
    options: list[AwardOption]
    cabins: dict[str, CabinOffer | NoDataWord]
    coverage: Coverage
    freshness: Freshness
    searches_left_today: int | None


class SearchableAirline(Part):
    code: str
    slug: str
    name: str
    program: str | None
    endpoints: list[Endpoint]
    state: State
    last_success_at: datetime | None


class SearchableAirlines(Result):
    airlines: list[SearchableAirline]
    live: int
    total: int


@tool(area="search", tier=Tier.FREE, effect=Effect.READS, live=True, open_world=True, meter="search")
async def search_availability(
    call: LiveCall,
    airline: Annotated[str, Field(max_length=60, description="Two-letter code or slug from list_supported_airlines.")],
    origin: Airport,
    destination: Airport,
    date: Day,
    cabin: Cabin | None = None,
    passengers: Passengers = 1,
) -> Availability:
    """Finds award seats of one airline on one route and date: seats and points per cabin.

    The price of each cabin is the airline's own programme's where it has one, else the lowest; options list every
    programme. Free accounts get 5 economy searches a day; other cabins need Premium. Free.
    """
    wanted = _cabins(call, cabin)
    flown = call.reference.airline(airline)
    origin, destination = (call.reference.airport(code).code for code in (origin, destination))
    _check(call, flown, origin, destination, date)
    found = await search(call.ask, flown.iata, origin, destination, date, wanted, passengers)
    failed = [f"{f.name} ({f.reason})" for f in found.coverage.failed]
    return Availability(
        status="partial" if failed else "ok",
        message=_message(call, flown, f"{origin} to {destination} on {date}", found, cabin, failed),
        options=[AwardOption.model_validate(option) for option in found.options],
        cabins={name: _offer(flown, [o for o in found.options if o.cabin == name]) for name in wanted},
        coverage=Coverage.model_validate(found.coverage),
        freshness=Freshness.model_validate(found.freshness),
        searches_left_today=call.searches_left,
    )


def _cabins(call: CallBase, cabin: Cabin | None) -> Sequence[str]:
    """The cabins to look at. Raises the paywall for one the plan does not cover."""
    if cabin is not None and cabin not in cabins(call.plan):
        raise Paywall(
            f"{cabin.replace('_', ' ').capitalize()} award search needs the Premium plan; this account is on Free.",
            required="premium",
            current=call.plan.slug,
            feature="Award search in every cabin",
            upgrade_url=call.upgrade_url,
            free_alternative="Search again with cabin economy, which Free covers.",
        )
    return (cabin,) if cabin else cabins(call.plan)


def _check(call: CallBase, airline: Airline, origin: str, destination: str, day: Date) -> None:
    if origin == destination:
        raise Invalid(Fault("destination", "is the origin too", "another airport"))
    if day < call.today:
        raise Invalid(Fault("date", "is in the past", f"{call.today} or later"))
    window = call.reference.release_window(airline.iata)
    if window is None:
        return
    last = call.today + timedelta(days=window.days_before_departure)
    if day > last:
        raise NoData(
            f"{airline.name} releases award seats {window.days_before_departure} days ahead: until {last} today."
            f" {day} is not on sale yet.",
            missing=["award seats"],
        )


def _offer(airline: Airline, options: Sequence[SeatOption]) -> CabinOffer | NoDataWord:
    """A partner's points are other points than the airline's own, so its own programme speaks for it where it can."""
    own = [o for o in options if o.program == airline.program] or list(options)
    return CabinOffer.model_validate(min(own, key=lambda o: o.points)) if own else NO_DATA


def _message(
    call: CallBase, airline: Airline, where: str, found: Found, cabin: Cabin | None, failed: Sequence[str]
) -> str:
    count = len(found.options)
    told = f"{count} award offer{'' if count == 1 else 's'}" if count else "No award seats"
    words = [f"{told} of {airline.name}, {where}; asked: {', '.join(found.coverage.answered)}."]
    if failed:
        words.append(f"Not answered by {', '.join(failed)}, so this may not be all.")
    if call.plan is Plan.FREE and cabin is None:
        rest = ", ".join(c.replace("_", " ") for c in CABINS if c not in FREE_CABINS)
        words.append(f"Economy only: {rest} need Premium.")
    return " ".join(words)


@tool(area="pricing", tier=Tier.FREE, effect=Effect.READS)
def list_supported_airlines(
    call: Call, endpoint: Endpoint | None = None, live_only: bool = False
) -> SearchableAirlines:
    """Lists the airlines that can be searched, with codes and which searches each supports.

    State tells how the sources of award seats fare now: live, degraded or down. Free.
    """
    now = standing(VERB, call.account_id)
    rows = [_airline(call.reference.airlines[code], now) for code in _searchable(call)]
    rows = [r for r in rows if endpoint is None or endpoint in r.endpoints]
    shown = [r for r in rows if r.state == "live" or not live_only]
    source = ", ".join(now.names) or "none configured"
    return SearchableAirlines(
        message=f"{len(shown)} airlines. Source of award seats: {source}, {now.state}, {call.data_mode} mode.",
        airlines=shown,
        live=sum(r.state == "live" for r in shown),
        total=len(shown),
    )


def _searchable(call: Call) -> list[str]:
    """A live source may know any airline; the sandbox knows those a chart speaks about."""
    facts = call.reference
    if call.data_mode == "live":
        return sorted(facts.airlines)
    charts = [c for slug in facts.programs for c in facts.charts(slug, call.today)]
    named = {code for c in charts for code in c.carriers}
    open_to = {c.program for c in charts if c.scope == "all_other_partners"}
    return sorted(
        code
        for code in facts.airlines
        if code in ALWAYS or code in named or any(facts.partner(slug, code) for slug in open_to)
    )


def _airline(airline: Airline, now: Standing) -> SearchableAirline:
    return SearchableAirline(
        code=airline.iata,
        slug=airline.slug,
        name=airline.name,
        program=airline.program,
        endpoints=endpoints(airline),
        state=now.state,
        last_success_at=now.last_success_at,
    )
