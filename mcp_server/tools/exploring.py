"""Destinations with award seats seen recently, and which of them the balances cover."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AnyName, Cabin, Month, Points, SearchedAirport
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Marked, Result
from mcp_server.views.household import describe_counted
from mcp_server.views.sightings import age_in_seconds, build_freshness, sightings_since
from mcp_server.views.transfers import read_routes
from shared.db.observations import AwardObservation as Row
from shared.db.sightings import lowest_prices, newest_cells
from shared.domain.dates import add_months, find_month_bounds, format_weekday
from shared.domain.party_prices import PER, Per
from shared.domain.plurals import pluralize
from shared.domain.transfers import Reach, find_reach, first_covering
from shared.errors import Fault, Invalid, NoData
from shared.reference.city_airports import require_airports
from shared.services.search.provenance import Freshness
from shared.services.search.purses import Household, read_household

MAX_DESTINATIONS = 150
MAX_BEST_DATES = 5
Reachable = Literal["direct", "transfer", "no"]
Source = Literal["argument", "saved", "none"]


class ExploredDestination(Marked):
    """Points are per person. `via` names the balance they are transferred from.

    The age is that of the oldest sighting of the row.
    """

    destination: str
    city: str
    program: str
    airline: str
    cabin: str
    points: int
    per: Per
    best_dates: list[date]
    reachable: Reachable
    via: str | None
    source: str
    age_seconds: int


class ExploredDestinations(Result):
    destinations: list[ExploredDestination]
    balance_source: Source
    total_found: int
    freshness: Freshness


@dataclass(frozen=True)
class _Offer:
    """The lowest price one programme asks for one airline to one destination."""

    destination: str
    program: str
    airline: str
    points: int
    dates: list[date]
    sources: list[str]
    seen_at: datetime
    provider_checked_at: datetime | None
    purse: Reach | None

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.points, self.purse is None, self.destination, self.program, self.airline)

    @property
    def reachable(self) -> Reachable:
        if self.purse is None:
            return "no"
        return "direct" if self.purse.source == self.program else "transfer"


@tool(
    title="Explore where seats were seen",
    phrases="Where can I go with my points? Ideas: a beach, somewhere warm in April, anywhere cheap",
    area="search",
    tier=Tier.FREE,
    effect=Effect.READS,
)
def explore_destinations(
    call: Call,
    origin: SearchedAirport,
    cabin: Cabin = "economy",
    month_from: Annotated[Month | None, Field(description="Default: this month.")] = None,
    month_to: Annotated[Month | None, Field(description="Default: 2 later.")] = None,
    points_balance: Points | None = None,
    program: Annotated[AnyName | None, Field(description="Currency of points_balance.")] = None,
) -> ExploredDestinations:
    """Suggests destinations for points or miles from an airport, cheapest first, with no place chosen yet.

    For "Where could we go in April with my points?" Ideas for a vacation, beach or weekend; award seats seen recently.
    Per person. Free accounts: top 3. Free.
    """
    airports = require_airports(call.reference, origin)
    first, last = _parse_months(call, month_from, month_to)
    purses, source, household = _list_purses(call, points_balance, program)
    which = (Row.origin.in_(airports), Row.cabin == cabin, Row.date <= last)
    cells = newest_cells(call.account_id, sightings_since(call), first, *which)
    offers = call.taste.choose(_to_offer(row, purses) for row in call.db.execute(lowest_prices(cells)))
    offers_by_price = sorted(
        _find_best_of_each(o for o in offers if o.destination not in airports), key=lambda o: o.order
    )
    if not offers_by_price:
        raise NoData(
            f"No {cabin.replace('_', ' ')} award seats from {origin} were seen recently between"
            f" {format_weekday(first)} and {format_weekday(last)}; searches and monitors fill this in.",
            missing=["award calendars"],
        )
    listed = offers_by_price[: call.limits.results or MAX_DESTINATIONS]
    return ExploredDestinations(
        message=_describe_result(listed, offers_by_price, origin, source)
        + describe_counted(call.reference, household, {o.purse.source if o.purse else o.program for o in listed}),
        destinations=[_to_destination(call, offer, cabin) for offer in listed],
        balance_source=source,
        total_found=len(offers_by_price),
        freshness=build_freshness(
            call,
            (name for o in listed for name in o.sources),
            (o.seen_at for o in listed),
            (o.provider_checked_at for o in listed),
        ),
    )


def _parse_months(call: Call, month_from: str | None, month_to: str | None) -> tuple[date, date]:
    """The days to search, from today on. Raises Invalid for months that are over or in the wrong order."""
    first = find_month_bounds(month_from)[0] if month_from else call.today.replace(day=1)
    last = find_month_bounds(month_to)[1] if month_to else find_month_bounds(f"{add_months(first, 2):%Y-%m}")[1]
    if last < call.today:
        raise Invalid(Fault("month_to" if month_to else "month_from", "is over", f"{call.today:%Y-%m} or later"))
    if last < first:
        raise Invalid(Fault("month_to", "is before month_from", f"{first:%Y-%m} or later"))
    return max(call.today, first), last


def _list_purses(
    call: Call, points: int | None, program: str | None
) -> tuple[dict[str, list[Reach]], Source, Household]:
    """The balances that can pay in each programme: the one given, else those saved here."""
    slug = call.reference.program(program).slug if program is not None else None
    if points is not None and slug is None:
        raise Invalid(Fault("program", "is missing", "the programme points_balance is in"))
    if points is not None and slug is not None:
        return find_reach(read_routes(call), {slug: points}), "argument", Household()
    household = read_household(call.db, call.reference)
    balances = {p: points for p, points in household.count_points().items() if slug in (None, p)}
    return find_reach(read_routes(call), balances), "saved" if balances else "none", household


def _to_offer(row: Any, purses: dict[str, list[Reach]]) -> _Offer:
    return _Offer(**row._mapping, purse=first_covering(purses.get(row.program, []), row.points))


def _find_best_of_each(offers: Iterable[_Offer]) -> list[_Offer]:
    """The cheapest offer of each destination that the balances cover, else the cheapest."""
    best: dict[str, _Offer] = {}
    for offer in sorted(offers, key=lambda o: (o.purse is None, o.order)):
        best.setdefault(offer.destination, offer)
    return list(best.values())


def _to_destination(call: Call, offer: _Offer, cabin: str) -> ExploredDestination:
    airport = call.reference.airports.get(offer.destination)
    purse = offer.purse
    return ExploredDestination(
        destination=offer.destination,
        city=airport.city if airport else offer.destination,
        program=offer.program,
        airline=offer.airline,
        cabin=cabin,
        points=offer.points,
        per=PER,
        best_dates=sorted(offer.dates)[:MAX_BEST_DATES],
        reachable=offer.reachable,
        via=purse.source if purse and offer.reachable == "transfer" else None,
        source=", ".join(sorted(offer.sources)),
        age_seconds=age_in_seconds(call, min(offer.seen_at, offer.provider_checked_at or offer.seen_at)),
        generated_at=call.sandbox_timestamp(offer.seen_at),
    )


def _describe_result(listed: Sequence[_Offer], offers: Sequence[_Offer], origin: str, source: Source) -> str:
    covered = sum(o.purse is not None for o in offers)
    first = offers[0]
    count = pluralize(len(offers), "destination")
    message = f"{count} from {origin} with award seats seen recently, from {first.points:,} points per person."
    if source == "none":
        message += " No balance was given and none is saved, so none is marked as covered."
    else:
        message += f" Covered by the balances, directly or by transfer: {covered}."
    if len(listed) < len(offers):
        message += f" The {len(listed)} cheapest are shown."
    return f"{message} Seats may be gone since: search before moving points."
