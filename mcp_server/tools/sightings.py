"""Sightings: award flights seen in earlier searches, and their price in each card currency."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, Select, Subquery, case, false, func, select

from mcp_server.toolkit import NO_DATA, Call, Effect, Marked, Money, NoDataWord, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, AnyName, Cabin, Month, Page, PerPage, Points
from mcp_server.toolkit.wording import airline_name, list_offer_names, program_name
from mcp_server.views.household import describe_counted
from mcp_server.views.sightings import SEEN_DAYS, age_in_seconds, build_freshness, sightings_since
from mcp_server.views.transfers import RunningBonus, TransferRoute, read_routes, to_transfer_route
from shared.db.observations import AwardObservation as Row
from shared.db.sightings import average_taxes, last_fare, last_seen, newest_cells, with_values
from shared.domain.card_prices import Advice, CardPrice, advise_on_cards, count_portal_points, find_card_prices
from shared.domain.dates import find_month_bounds, format_weekday
from shared.domain.party_prices import PER, Per, describe_price, price_party
from shared.domain.plurals import pluralize
from shared.domain.transfers import TransferPath, find_reach
from shared.errors import NotFound
from shared.reference.city_airports import require_airports
from shared.reference.load import Reference
from shared.reference.transfer_rates import describe_all_rates
from shared.services.search.award_ids import flight_id as id_of
from shared.services.search.award_ids import sighting_of
from shared.services.search.provenance import Freshness
from shared.services.search.purses import Household, read_household

MAX_SIGHTINGS = 20_000  # only the newest matches are read, which bounds a query's time


class Flight(Marked):
    """Points and taxes are those of one person."""

    flight_id: str
    airline: str
    program: str
    origin: str
    destination: str
    date: date
    cabin: str
    points: int
    taxes: Money | None
    taxes_currency: str | None
    per: Per


class ListedFlight(Flight):
    """`value_cents_per_point`: US cents, from the newest one-way fare seen for the same route, day and cabin."""

    seats: int | None
    value_cents_per_point: Money | None
    source: str
    seen_at: datetime


class SightedFlights(Result):
    """`names` of the airlines by code, and of the programmes by slug."""

    flights: list[ListedFlight]
    names: dict[str, str]
    freshness: Freshness
    paging: Paging


class CardCurrency(Part):
    """`route` are the programmes points pass through. `portal_points` reckons one US cent for a point.

    `ratio_note` says where the ratio depends on the card.
    """

    currency: str
    points_needed: int
    worth_usd: Money | None
    route: list[str]
    ratio: float
    ratio_note: str | None
    bonus: RunningBonus | None
    transfer_time: str | NoDataWord
    portal_points: int | None
    cheaper: Literal["transfer", "portal"]


class FlightTaxes(Part):
    """`estimated`: the average of what was seen on this route with this programme."""

    amount: Money | None
    currency: str | None
    estimated: bool


class FlightInCards(Result):
    flight: Flight
    card_currencies: list[CardCurrency]
    advice: Advice
    transfer_path: TransferRoute | None
    taxes: FlightTaxes
    freshness: Freshness


@tool("search", Tier.FREE, Effect.READS, "List award seats seen recently", screen="award-results", condenses=True)
def list_flights(
    call: Call,
    origin: AirportOrCity | None = None,
    destination: AirportOrCity | None = None,
    program: AnyName | None = None,
    airline: AnyName | None = None,
    cabin: Cabin | None = None,
    month: Month | None = None,
    max_points: Points | None = None,
    affordable_only: Annotated[bool, Field(description="Covered by saved balances or transfers.")] = False,
    sort: Literal["newest", "points", "value"] = "newest",
    page: Page = 1,
    per_page: PerPage = 10,
) -> SightedFlights:
    """Lists award deals seen in the last 14 days: newest, cheapest, best value, or affordable.

    For "What good deals have you seen to Asia that I can afford?" Per person; live: search_all_airlines. Gives
    flight_id. Free.
    """
    filters = _build_cell_filters(call, origin, destination, program, airline, cabin, month)
    cells = newest_cells(call.account_id, sightings_since(call), call.today, *filters, most=MAX_SIGHTINGS)
    household = read_household(call.db, call.reference) if affordable_only else Household(call.reference)
    call.add_own_programs(household.count_points())
    balances = household.count_points() if affordable_only else None
    query = with_values(cells, call.account_id, sightings_since(call)).where(
        *_build_price_filters(call, cells, max_points, balances)
    )
    query = _leave_out_avoided(call, cells, query)
    rows = _read_page(call, query, _build_sort_order(cells, query, sort), page, per_page)
    total = rows[0].total if rows else _count_rows(call, query) if page > 1 else 0
    paging = Paging.of(page, per_page, total)
    return SightedFlights(
        message=(f"{_describe_seat(call.reference, rows[0])} " if rows and page == 1 else "")
        + _describe_listing(total, balances)
        + describe_counted(call.reference, household, {row.program for row in rows})
        + paging.more,
        flights=[_to_listed_flight(call, row) for row in rows],
        names=list_offer_names(call.reference, rows),
        freshness=build_freshness(
            call, (r.source for r in rows), (r.seen_at for r in rows), (r.provider_checked_at for r in rows)
        ),
        paging=paging,
    )


def _build_cell_filters(
    call: Call,
    origin: str | None,
    destination: str | None,
    program: str | None,
    airline: str | None,
    cabin: str | None,
    month: str | None,
) -> list[ColumnElement[bool]]:
    """Conditions on route, date, programme, airline and cabin. A city means its airports."""
    facts = call.reference
    first, last = find_month_bounds(month) if month else (None, None)
    conditions: list[ColumnElement[bool] | None] = [
        Row.origin.in_(require_airports(facts, origin)) if origin else None,
        Row.destination.in_(require_airports(facts, destination)) if destination else None,
        Row.program == facts.program(program).slug if program else None,
        Row.airline == facts.airline(airline).iata if airline else None,
        Row.cabin == cabin if cabin else None,
        Row.date.between(first, last) if month else None,
    ]
    return [condition for condition in conditions if condition is not None]


def _build_price_filters(
    call: Call, cells: Subquery, max_points: int | None, balances: dict[str, int] | None
) -> list[ColumnElement[bool]]:
    """Conditions on the price in points last seen."""
    conditions: list[ColumnElement[bool]] = []
    if max_points is not None:
        conditions.append(cells.c.points <= max_points)
    if balances is not None:
        purses = find_reach(read_routes(call), balances)
        reachable = {program: max(p.points_delivered for p in purse) for program, purse in purses.items()}
        conditions.append(cells.c.points <= case(reachable, value=cells.c.program, else_=0) if reachable else false())
    return conditions


def _leave_out_avoided(call: Call, cells: Subquery, query: Select[Any]) -> Select[Any]:
    """The query without the airlines the person avoids, whose offers are counted."""
    if not call.taste.avoided:
        return query
    is_avoided = cells.c.airline.in_(sorted(call.taste.avoided))
    avoided = query.where(is_avoided).subquery()
    counts = select(avoided.c.airline, func.count()).group_by(avoided.c.airline)
    for airline, count in call.db.execute(counts):
        call.taste.left_out[airline] += count
    return query.where(~is_avoided)


def _build_sort_order(cells: Subquery, query: Select[Any], sort: str) -> list[Any]:
    newest_first: list[Any] = [cells.c.seen_at.desc(), cells.c.points, cells.c.id.desc()]
    if sort == "points":
        return [cells.c.points, *newest_first]
    return [query.selected_columns.value.desc().nulls_last(), *newest_first] if sort == "value" else newest_first


def _read_page(call: Call, query: Select[Any], order: list[Any], page: int, per_page: int) -> Sequence[Any]:
    page_query = query.add_columns(func.count().over().label("total")).order_by(*order)
    return call.db.execute(page_query.limit(per_page).offset((page - 1) * per_page)).all()


def _count_rows(call: Call, query: Select[Any]) -> int:
    return call.db.scalar(select(func.count()).select_from(query.subquery())) or 0


def _describe_seat(facts: Reference, row: Any) -> str:
    """`Iberia LHR-MAD on Thu 21 Jan 2027: 9,000 points of Iberia Club per person, 40 USD taxes.`"""
    price = describe_price(price_party(row, 1), program_name(facts, row.program))
    return f"{airline_name(facts, row.airline)} {row.origin}-{row.destination} on {format_weekday(row.date)}: {price}."


def _describe_listing(total: int, balances: dict[str, int] | None) -> str:
    if balances is not None and not any(balances.values()):
        return "No points balances are kept here, so none is covered; add one with update_points_balance."
    if not total:
        return f"No award offers that fit were seen in the last {SEEN_DAYS} days. Searches and monitors add them."
    more = f" Only the newest {MAX_SIGHTINGS:,} sightings were looked at." if total >= MAX_SIGHTINGS else ""
    return f"{pluralize(total, 'award offer')} as last seen, per person. A seat may be gone since.{more}"


def _build_flight_fields(call: Call, row: Any) -> dict[str, Any]:
    """The fields of Flight from a row of sightings."""
    added = {
        "flight_id": id_of(call.account_id, row.id),
        "per": PER,
        "generated_at": call.sandbox_timestamp(row.seen_at),
    }
    return {name: getattr(row, name) for name in Flight.model_fields if name not in added} | added


def _to_listed_flight(call: Call, row: Any) -> ListedFlight:
    return ListedFlight.from_row(
        row,
        **_build_flight_fields(call, row),
        value_cents_per_point=None if row.value is None else round(Decimal(row.value), 2),
    )


@tool("search", Tier.PREMIUM, Effect.READS, "Show an award seat seen recently")
def get_flight(
    call: Call, flight_id: Annotated[str, Field(max_length=64, description="From list_flights.")]
) -> FlightInCards:
    """Explains how to pay for one award deal seen earlier: which card points, transfer or portal, speed, taxes.

    For "Which points do I use for that deal you found?" As last seen, per person. wait: over a day ago. Premium.
    """
    sighting = sighting_of(call.account_id, flight_id)
    row = last_seen(call.db, call.account_id, sighting, call.today) if sighting is not None else None
    if row is None:
        raise NotFound("flight", flight_id)
    fare = last_fare(call.db, call.account_id, row, sightings_since(call))
    price = fare.price / fare.passengers if fare else None
    # The price in each bank currency. Portal rates are known for banks in the United States only.
    banks = [p for p in call.reference.programs.values() if p.kind == "bank"]
    portals = frozenset(p.slug for p in banks if p.home_country == "US")
    values = {p.slug: p.value_usd_cents for p in banks}
    cards = find_card_prices(read_routes(call), values, portals, row.program, row.points, price)
    seen_ago = timedelta(seconds=age_in_seconds(call, min(row.seen_at, row.provider_checked_at or row.seen_at)))
    advice = advise_on_cards(cards, count_portal_points(price), seen_ago)
    return FlightInCards(
        message=_describe_advice(call.reference, row, cards, advice, price, seen_ago),
        flight=Flight(**_build_flight_fields(call, row) | {"flight_id": flight_id}),
        card_currencies=[_to_card_currency(call.reference, c) for c in cards],
        advice=advice,
        transfer_path=to_transfer_route(call.reference, cards[0].path, row.points) if cards else None,
        taxes=_find_taxes(call, row),
        freshness=build_freshness(call, [row.source], [row.seen_at], [row.provider_checked_at]),
    )


def _find_bonus(path: TransferPath) -> RunningBonus | None:
    running = [e.bonus for e in path.edges if e.bonus and not e.bonus.targeted]
    if not running:
        return None
    first = min(running, key=lambda b: b.ends_on or date.max)
    return RunningBonus.from_row(first, targeted=False)


def _to_card_currency(facts: Reference, card: CardPrice) -> CardCurrency:
    path = card.path
    return CardCurrency(
        currency=card.currency,
        points_needed=card.points,
        worth_usd=None if card.worth is None else round(card.worth, 2),
        route=[card.currency, *(e.target for e in path.edges)],
        ratio=round(float(path.ratio), 6),
        ratio_note=" ".join(describe_all_rates(facts, path.edges)) or None,
        bonus=_find_bonus(path),
        transfer_time=path.slowest if path.slowest != "unknown" else NO_DATA,
        portal_points=card.portal,
        cheaper=card.cheaper,
    )


def _find_taxes(call: Call, row: Row) -> FlightTaxes:
    if row.taxes is not None:
        return FlightTaxes(amount=row.taxes, currency=row.taxes_currency, estimated=False)
    usual = average_taxes(call.db, row)
    if usual is None:
        return FlightTaxes(amount=None, currency=None, estimated=False)
    return FlightTaxes(amount=usual[0], currency=usual[1], estimated=True)


def _describe_advice(
    facts: Reference, row: Row, cards: Sequence[CardPrice], advice: Advice, price: Decimal | None, seen_ago: timedelta
) -> str:
    what = _describe_seat(facts, row)
    fare = "No cash fare was seen, so portals are not priced."
    if price is not None:
        fare = f"The last fare seen is {price:,.2f} USD: {count_portal_points(price):,} points at one US cent each."
    if advice == "transfer":
        first, worth = cards[0], cards[0].worth
        way = f"{first.points:,} points of {program_name(facts, first.currency)}"
        way = f"With {way}, whose value is not known" if worth is None else f"Cheapest: {way}, worth {worth:,.0f} USD"
        by_card = "".join(f" {words}" for words in describe_all_rates(facts, cards[0].path.edges))
        return f"{what} {way}.{by_card} {fare} Confirm the seat before moving points."
    if advice == "portal":
        return f"{what} {fare} That is fewer points than any transfer takes."
    if not cards:
        return f"{what} No card currency can be moved there in two transfers. {fare}"
    ago = pluralize(int(seen_ago.total_seconds() // 3600), "hour")
    return f"{what} It was seen {ago} ago. Transfers cannot be undone, so search again first. {fare}"
