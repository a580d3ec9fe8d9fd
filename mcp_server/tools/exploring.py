"""Destinations with award seats seen recently, and which of them the balances cover."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, CallBase, Effect, LiveCall, Marked, Money, Result, Tier, tool
from mcp_server.toolkit.parameters import Amount, AnyName, Cabin, Month, Passengers, Points, SearchedAirport, at_most
from mcp_server.views.household import describe_counted
from mcp_server.views.seat_filters import find_currency
from mcp_server.views.sightings import SEEN_DAYS, age_in_seconds, build_freshness, sightings_since
from mcp_server.views.transfers import read_routes
from shared.db.swept_routes import Route, list_swept, note_swept
from shared.domain.dates import add_months, find_month_bounds, format_short_weekday, format_weekday
from shared.domain.party_prices import PER, PartyPrice, Per, describe_party, format_amount
from shared.domain.plurals import pluralize
from shared.domain.transfers import Reach, find_reach, first_covering
from shared.errors import Fault, Invalid, NoData
from shared.reference.city_airports import require_airports
from shared.reference.load import Reference
from shared.reference.regions import CONTINENTS, GROUPS, find_region
from shared.services.search.destination_search import WEEKEND_NIGHTS, DestinationSearch, select_offers
from shared.services.search.provenance import Freshness
from shared.services.search.purses import Household, read_household
from shared.services.search.route_sweeps import choose_routes, sweep

MAX_DESTINATIONS = 150
MAX_BEST_DATES = 5
MAX_NAMED = 3  # in the message
MAX_NIGHTS = 30
SANDBOX_ROUTES = 15  # searched in the invented world before the first answer
Nights = Annotated[int, Field(ge=1), at_most(MAX_NIGHTS)]
Reachable = Literal["direct", "transfer", "no"]
Source = Literal["argument", "saved", "none"]


class ExploredDestination(Marked):
    """Points and taxes are per person, and those of both ways where there are `return_dates`.

    `via` names the balance they are transferred from. The age is that of the oldest sighting of the row.
    `mean_celsius` is the usual temperature in the month of the first day; null where no station is near.
    """

    destination: str
    city: str
    program: str
    airline: str
    cabin: str
    points: int
    per: Per
    party_points: int | None
    taxes: Money | None
    party_taxes: Money | None
    taxes_currency: str | None
    nonstop: bool | None
    best_dates: list[date]
    return_dates: list[date] | None
    mean_celsius: float | None
    reachable: Reachable
    via: str | None
    source: str
    age_seconds: int


class ExploredDestinations(Result):
    """`unknown_temperature` counts the places left out because no one here knows whether they are warm."""

    destinations: list[ExploredDestination]
    balance_source: Source
    total_found: int
    unknown_temperature: int
    freshness: Freshness


@dataclass(frozen=True)
class _Offer:
    """The lowest price one programme asks to one destination, of one airline or there and back."""

    destination: str
    program: str
    airline: str
    points: int
    dates: list[date]
    taxes: Decimal | None
    taxes_currency: str | None
    stops: int | None
    sources: list[str]
    seen_at: datetime
    provider_checked_at: datetime | None
    purse: Reach | None
    return_dates: list[date] | None = None

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.points, self.purse is None, self.destination, self.program, self.airline)

    @property
    def reachable(self) -> Reachable:
        if self.purse is None:
            return "no"
        return "direct" if self.purse.source == self.program else "transfer"

    @property
    def days(self) -> list[tuple[date, date | None]]:
        """The first days with the price, each with its return day."""
        returns: Sequence[date | None] = self.return_dates or [None] * len(self.dates)
        return sorted(zip(self.dates, returns, strict=True))[:MAX_BEST_DATES]


@tool("search", Tier.FREE, Effect.READS, "Explore where seats were seen")
async def explore_destinations(
    call: LiveCall,
    origin: SearchedAirport,
    cabin: Cabin = "economy",
    month_from: Month | None = None,
    month_to: Annotated[Month | None, Field(description="Default: 2 later.")] = None,
    points_balance: Points | None = None,
    program: AnyName | None = None,
    region: Annotated[AnyName | None, Field(description="Asia, Caribbean.")] = None,
    warm: bool = False,
    nonstop: bool = False,
    max_points: Points | None = None,
    max_taxes: Amount | None = None,
    nights: Nights | None = None,
    weekend: bool = False,
    passengers: Passengers = 1,
) -> ExploredDestinations:
    """Suggests destinations for points or miles from an airport, cheapest first, with no place chosen yet.

    For "Where could we go in April with my points?" Beach or weekend ideas from award seats seen recently.
    Per person; with nights or weekend, there and back. Free accounts: top 3. Free.
    """
    first, last = _parse_months(call, month_from, month_to)
    search = DestinationSearch(
        airports=require_airports(call.reference, origin),
        cabin=cabin,
        first=first,
        last=last,
        region=_find_region(call.reference, region),
        warm=warm,
        nonstop=nonstop,
        max_taxes=max_taxes,
        nights=_list_nights(nights, weekend=weekend),
        weekend=weekend,
        passengers=passengers,
    )
    if call.data_mode == "sandbox":
        await _fill_calendars(call, search)

    def explore(session: Session) -> ExploredDestinations:
        own = call.with_session(session)
        return _explore(own, origin, search, max_points, *_list_purses(own, points_balance, program))

    return await call.in_session(explore)


def _find_region(reference: Reference, text: str | None) -> frozenset[str] | None:
    """The airports of a region. Raises Invalid for an unknown name."""
    if text is None:
        return None
    airports = find_region(reference, text)
    if airports is None:
        names = ", ".join(name.title() for name in (*CONTINENTS, *GROUPS))
        raise Invalid(Fault("region", "is not known", f"{names}, a country or a US state"))
    return airports


def _list_nights(nights: int | None, *, weekend: bool) -> tuple[int, ...]:
    """The possible numbers of nights between the flights. Raises Invalid for more than a weekend has."""
    if weekend and nights and nights not in WEEKEND_NIGHTS:
        raise Invalid(Fault("nights", "is no weekend", "2 or 3, or nothing"))
    if nights:
        return (nights,)
    return WEEKEND_NIGHTS if weekend else ()


async def _fill_calendars(call: LiveCall, search: DestinationSearch) -> None:
    """Searches the invented world on demand, so that a first question gets the same answer as a later one."""
    ends = {end for origin in search.airports for end in call.reference.nonstop_routes.get(origin, {})}
    fitting = {end for end in ends if search.may_lead_to(call.reference, end)}
    outward = choose_routes(call.reference, search.airports, SANDBOX_ROUTES, fitting)
    routes = [*outward, *([route[::-1] for route in outward] if search.nights else ())]

    def list_missing(session: Session) -> list[Route]:
        origins = {origin for origin, _ in routes}
        since = sightings_since(call)
        done = list_swept(session, origins, since, search.first, search.latest)
        return [route for route in routes if route not in done]

    if missing := await call.in_session(list_missing):
        # All concurrently: answers that arrive while others are being stored are stored together.
        span = (search.first, search.latest)
        answered = await sweep(call.ask, call.reference, missing, *span, together=len(missing))
        await call.in_session(lambda s: note_swept(s, answered, search.first, search.latest, call.now))


def _explore(
    call: Call,
    origin: str,
    search: DestinationSearch,
    max_points: int | None,
    purses: dict[str, list[Reach]],
    source: Source,
    household: Household,
) -> ExploredDestinations:
    if search.max_taxes is not None:
        search = replace(search, currency=find_currency(call))
    rows = call.db.execute(select_offers(call.reference, search, call.account_id, sightings_since(call)))
    offers = call.taste.choose(
        _to_offer(row, purses, search.passengers) for row in rows if max_points is None or row.points <= max_points
    )
    outward = [offer for offer in offers if offer.destination not in search.airports]
    unknown = {o.destination for o in outward if search.warm and _find_mean(call, o) is None}
    best = _find_best_of_each(offer for offer in outward if offer.destination not in unknown)
    offers_by_price = sorted(best, key=lambda o: o.order)
    if not offers_by_price:
        raise NoData(_describe_nothing(origin, search, max_points, len(unknown)), missing=["award calendars"])
    listed = offers_by_price[: call.limits.results or MAX_DESTINATIONS]
    return ExploredDestinations(
        message=_describe_result(call, search, listed, offers_by_price, source, len(unknown))
        + describe_counted(call.reference, household, {o.purse.source if o.purse else o.program for o in listed}),
        destinations=[_to_destination(call, offer, search) for offer in listed],
        balance_source=source,
        total_found=len(offers_by_price),
        unknown_temperature=len(unknown),
        freshness=build_freshness(
            call,
            (name for o in listed for name in o.sources),
            (o.seen_at for o in listed),
            (o.provider_checked_at for o in listed),
        ),
    )


def _find_mean(call: Call, offer: _Offer) -> Decimal | None:
    """The usual temperature there in the month of the first day."""
    return call.reference.mean_celsius(offer.destination, min(offer.dates).month)


def _parse_months(call: CallBase, month_from: str | None, month_to: str | None) -> tuple[date, date]:
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
    """The balances that can pay in each programme: the given one, else those saved."""
    slug = call.reference.program(program).slug if program is not None else None
    if points is not None and slug is None:
        raise Invalid(Fault("program", "is missing", "the programme points_balance is in"))
    if points is not None and slug is not None:
        return find_reach(read_routes(call), {slug: points}), "argument", Household(call.reference)
    household = read_household(call.db, call.reference)
    call.add_own_programs(household.count_points())
    balances = {p: points for p, points in household.count_points().items() if slug in (None, p)}
    return find_reach(read_routes(call), balances), "saved" if balances else "none", household


def _to_offer(row: Any, purses: dict[str, list[Reach]], passengers: int) -> _Offer:
    return _Offer(**row._mapping, purse=first_covering(purses.get(row.program, []), row.points * passengers))


def _find_best_of_each(offers: Iterable[_Offer]) -> list[_Offer]:
    """The cheapest offer of each destination that the balances cover, else the cheapest."""
    best: dict[str, _Offer] = {}
    for offer in sorted(offers, key=lambda o: (o.purse is None, o.order)):
        best.setdefault(offer.destination, offer)
    return list(best.values())


def _to_destination(call: Call, offer: _Offer, search: DestinationSearch) -> ExploredDestination:
    purse, mean = offer.purse, _find_mean(call, offer)
    price = PartyPrice(offer.points, offer.taxes, offer.taxes_currency, search.passengers)
    return ExploredDestination.from_row(
        offer,
        city=_name_city(call.reference, offer.destination),
        cabin=search.cabin,
        per=PER,
        party_points=price.party_points,
        party_taxes=price.party_taxes,
        nonstop=None if offer.stops is None else offer.stops == 0,
        best_dates=[out for out, _ in offer.days],
        return_dates=[back for _, back in offer.days if back] if search.nights else None,
        mean_celsius=None if mean is None else float(mean),
        via=purse.source if purse and offer.reachable == "transfer" else None,
        source=", ".join(sorted(offer.sources)),
        age_seconds=age_in_seconds(call, min(offer.seen_at, offer.provider_checked_at or offer.seen_at)),
        generated_at=call.sandbox_timestamp(offer.seen_at),
    )


def _name_city(reference: Reference, code: str) -> str:
    airport = reference.airports.get(code)
    return airport.city if airport else code


def _describe_result(
    call: Call,
    search: DestinationSearch,
    listed: Sequence[_Offer],
    offers: Sequence[_Offer],
    source: Source,
    unknown: int,
) -> str:
    named = "; ".join(_describe_offer(call, search, offer) for offer in listed[:MAX_NAMED])
    way = "there and back" if search.nights else "one way"
    message = f"{named}. Per person, {way}; {pluralize(len(offers), 'place')} in all."
    if source == "none":
        message += " No balance is known, so none is marked as covered."
    else:
        covered = sum(o.purse is not None for o in offers)
        message += f" Your balances cover {covered}, directly or by transfer."
    if len(listed) < len(offers):
        message += f" The {len(listed)} cheapest are shown."
    if unknown:
        message += f" Left out: {pluralize(unknown, 'place')} whose temperature is not known."
    return f"{message} Seen in the last {SEEN_DAYS} days: search before moving points."


def _describe_offer(call: Call, search: DestinationSearch, offer: _Offer) -> str:
    """`Cancún for 12,500 AAdvantage miles, nonstop, on Thu 11 Feb`."""
    (out, back), many = offer.days[0], search.passengers > 1
    program = call.reference.programs.get(offer.program)
    points = f"{offer.points:,} {program.currency if program else 'points'}"
    if program and program.currency == "Avios":
        points += f" of {program.name}"
    party = f" each, {offer.points * search.passengers:,} for {describe_party(search.passengers)}" if many else ""
    nonstop = ", nonstop" if offer.stops == 0 else ""
    days = format_short_weekday(out) + (f" to {format_short_weekday(back)}" if back else "")
    return f"{_name_city(call.reference, offer.destination)} for {points}{party}{nonstop}, {days}"


def _describe_nothing(origin: str, search: DestinationSearch, max_points: int | None, unknown: int) -> str:
    """Says that nothing was found, and for which wishes."""
    wishes = [
        "nonstop" if search.nonstop else "",
        "warm" if search.warm else "",
        "in that region" if search.region is not None else "",
        f"for at most {max_points:,} points" if max_points else "",
        f"with taxes of at most {format_amount(search.max_taxes, search.currency)}" if search.max_taxes else "",
        f"for {describe_party(search.passengers)}" if search.passengers > 1 else "",
        "there and back" if search.nights else "",
    ]
    wished = ", ".join(filter(None, wishes))
    left_out = f" {pluralize(unknown, 'place')} left out: temperature not known." if unknown else ""
    return (
        f"No {search.cabin.replace('_', ' ')} award seats from {origin}{f' ({wished})' if wished else ''} were seen"
        f" recently between {format_weekday(search.first)} and {format_weekday(search.last)}."
        f"{left_out} Searches and monitors fill this in."
    )
