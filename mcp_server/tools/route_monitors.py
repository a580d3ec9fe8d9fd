"""Route monitors: award seats on a route, mailed when they match a person's terms for the first time."""

from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, Money, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import clears, describe_changes, edit
from mcp_server.toolkit.own_rows import Capacity, check_cap, get_own, same_terms
from mcp_server.toolkit.parameters import Cabin, Day, Page, Passengers, PerPage, Points, RowId, WatchedAirport
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import airline_name, list_offer_names, program_name, tell_rows
from mcp_server.views import route_monitors as views
from mcp_server.views.route_monitors import check_route
from mcp_server.views.seat_filters import (
    COLUMNS,
    MaxTaxes,
    Weekdays,
    build_filters,
    describe_filters,
    list_cleared,
)
from mcp_server.views.watch_outlook import (
    Release,
    describe_opening,
    describe_routes,
    find_opening,
    find_release,
    to_release,
)
from shared.db.accounts import lock
from shared.db.bookings import FlightBooking
from shared.db.monitor_pages import load_monitor_page
from shared.db.pagination import count
from shared.db.route_monitors import MonitorCheck, MonitorKey, RouteMonitor, list_found_prices, list_matches
from shared.db.runs import schedule, unschedule
from shared.db.watched_keys import forget_keys
from shared.domain.dates import format_weekday
from shared.domain.party_prices import PartyPrice, describe_price, describe_travellers, format_amount
from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.errors import Fault, Invalid
from shared.reference.rows.award_charts import ReleaseWindow
from shared.services.watches.booked_awards import BookedAward, is_better_cabin, read_award, set_terms

# Changes of a stored route monitor: whether it may change, pausing and resuming it, and restarting it.


def schedule_checks(call: Call, row: RouteMonitor) -> None:
    """Schedules checks: the first now, the next ones at the interval of the settings."""
    schedule(call.db, ROUTE_MONITOR.run, row.id, row.interval)


def describe_interval(call: Call) -> str:
    seconds = call.settings.route_monitor_interval_seconds
    if seconds == 3600:
        return "hour"
    return pluralize(seconds // 3600, "hour") if seconds % 3600 == 0 else pluralize(seconds, "second")


def check_terms(call: Call, row: RouteMonitor) -> None:
    """Checks the route and dates. Raises Invalid."""
    check_route(
        call,
        {"origin": row.origin, "destination": row.destination},
        {"earliest_date": row.earliest_date, "latest_date": row.latest_date},
    )


def check_changeable(row: RouteMonitor, *, has_terms: bool) -> None:
    """`has_terms`: the change is more than pausing or resuming. Raises Invalid."""
    if row.cancelled_at is not None:
        raise Invalid(Fault("monitor_id", "is cancelled and cannot be changed", "an active monitor, or a new one"))
    if row.booking_id is not None and has_terms:
        raise Invalid(Fault("monitor_id", "takes its terms from a booking", "the booking, or a new monitor"))


def switch_monitor(call: Call, row: RouteMonitor, active: bool | None) -> bool:
    """Pauses or resumes a monitor; whether that changed anything. Raises LimitReached."""
    is_as_asked = row.paused_at is None if active else row.paused_by_owner
    if active is None or is_as_asked:
        return False
    if active:
        refusal = "active; this one stays paused. Pause or cancel another one, or choose a larger plan."
        check_cap(call, call.db, RouteMonitor, refusal)
    row.switch(on=active)
    return True


def start_afresh(call: Call, row: RouteMonitor) -> None:
    """Forgets what was seen, so that each match counts as new; a paused monitor is not checked."""
    forget_keys(call.db, MonitorKey, row.id)
    call.db.flush()
    if row.paused_at is None:
        schedule_checks(call, row)
    else:
        unschedule(call.db, ROUTE_MONITOR.run, [row.id])


# Watches of booked awards: the parameter, its checks, and what an answer says of them.

BookedAwardId = Annotated[
    RowId | None,
    Field(description="Booked award to beat, fee deducted."),
]


class RebookingFee(Verified):
    """What cancelling the booked award costs each person: money, or points where `currency` is null."""

    amount: Money
    currency: str | None


def to_fee(call: Call, award: BookedAward | None) -> RebookingFee | None:
    fact = call.reference.cancellation_fee(award.program) if award else None
    if award is None or award.fee is None or fact is None:
        return None
    amount = Decimal(award.fee.points) if award.fee.money is None else award.fee.money
    return RebookingFee(amount=amount, currency=award.fee.currency, **describe_verified(fact))


def read_booked_award(call: Call, row: RouteMonitor, booking_id: int | None) -> BookedAward | None:
    """Reads the award to watch, and takes its terms. Raises NotFound and Invalid."""
    if booking_id is None:
        return None
    award = read_award(call.db, call.reference, get_own(FlightBooking, "flight booking", call.db, booking_id))
    if (row.origin, row.destination) != (award.origin, award.destination):
        raise Invalid(
            Fault("origin", "and destination are not those of the booking", f"{award.origin} and {award.destination}")
        )
    if not row.earliest_date <= award.day <= row.latest_date:
        raise Invalid(
            Fault("earliest_date", "and latest_date leave out the day of the booking", f"{award.day} within them")
        )
    if row.cabin is not None and row.cabin != award.cabin and not is_better_cabin(row.cabin, award):
        raise Invalid(Fault("cabin", "is below the booked one", f"{award.cabin} or a better cabin"))
    set_terms(row, award)
    return award


def describe_award(award: BookedAward | None, row: RouteMonitor) -> str:
    """Describes the watched booking and its fee; without one the party and its limit."""
    if award is None:
        party = f" for {describe_travellers(row.passengers)}" if row.passengers > 1 else ""
        return party + (f", at most {row.max_points:,} points per person" if row.max_points else "")
    cabin = str(row.cabin).replace("_", " ")
    flight = f"{award.flight_number or award.airline} on {format_weekday(award.day)}"
    if row.cabin != award.cabin:
        return f" for booking {award.booking_id}: {cabin} on {flight}"
    return (
        f" for booking {award.booking_id}: {flight} in {cabin} for fewer than the {award.points_each:,} points each"
        f" that were paid, after the fee for cancelling{_describe_fee(award)}"
    )


def _describe_fee(award: BookedAward) -> str:
    fee = award.fee
    if fee is None:
        return ", which is not known"
    if fee.money is not None and fee.currency is not None:
        return f", {format_amount(fee.money, fee.currency)} per person" if fee.money else ", which is nothing"
    return f", {pluralize(fee.points, 'point')} per person"


Airlines = Annotated[list[str] | None, Field(max_length=30, description="Names or codes.")]
MonitorId = Annotated[RowId, Field(description="From list_route_monitors.")]
MostPoints = Annotated[Points | None, Field(description="Per person; fires only at or below.")]
WINDOW = ("origin", "destination", "earliest_date", "latest_date")
TERMS = (*WINDOW, "booking_id", "cabin", "airlines", "passengers", "max_points", *COLUMNS)
MAX_MATCHES, MAX_CHECKS, MAX_PRICES = 12, 10, 20


class OneMonitor(Result):
    monitor: views.Monitor
    active_count: int
    cap: int


class CreatedMonitor(OneMonitor):
    opens_on: date | None
    release: Release | None
    fee: RebookingFee | None


class Monitors(Result):
    monitors: list[views.Monitor]
    active_count: int
    cap: int
    paging: Paging


class UpdatedMonitor(Result):
    monitor: views.Monitor
    changed: list[str]
    baseline_reset: bool


class Check(Part):
    checked_at: datetime
    outcome: str
    options_seen: int
    new_matches: int
    failed_sources: list[str]


class LowestPrice(Part):
    """The fewest points per person among the seats that were new at one check."""

    found_at: datetime
    points: int
    seats: int


class MonitorDetails(Result):
    """`prices` in the order of time. `names` of the airlines and programmes of the seats, by code and slug.

    `funding`: how the person's balances pay the best open seats, transfers included.
    """

    monitor: views.Monitor
    matches: list[views.FoundSeat]
    funding: list[str]
    prices: list[LowestPrice]
    checks: list[Check]
    names: dict[str, str]


_get_own = partial(get_own, RouteMonitor, "route monitor")


def _resolve_airlines(call: Call, airlines: list[str] | None) -> list[str] | None:
    """The code of each airline, once; None means all airlines. Raises NotFound or Candidates."""
    return list(dict.fromkeys(call.reference.airline(name).iata for name in airlines or ())) or None


def _check_cap(call: Call, row: RouteMonitor) -> Capacity:
    refusal = "active; nothing was created. Cancel one with cancel_route_monitor or choose a larger plan."
    return check_cap(call, call.db, RouteMonitor, refusal, same_terms(row, *TERMS))


@tool("alerts", Tier.FREE, Effect.ADDS, "Create a route watch")
def create_route_monitor(
    call: Call,
    origin: WatchedAirport,
    destination: WatchedAirport,
    earliest_date: Day,
    latest_date: Day,
    cabin: Cabin | None = None,
    airlines: Airlines = None,
    passengers: Passengers = 1,
    max_points: MostPoints = None,
    nonstop_only: bool | None = None,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
    booking_id: BookedAwardId = None,
) -> CreatedMonitor:
    """Watches a route (monitor) and emails the user when award seats open on any airline, up to a points limit.

    For "Keep an eye on Tokyo in March, tell me if two seats come up." Checks every 6 hours. With booking_id: a cheaper
    or better seat than the booked award. No cash fares. Free.
    """
    row = RouteMonitor(
        origin=origin,
        destination=destination,
        earliest_date=earliest_date,
        latest_date=latest_date,
        cabin=cabin,
        airlines=_resolve_airlines(call, airlines),
        passengers=passengers,
        max_points=max_points,
    )
    edit(row, call.now, build_filters(call, bool(nonstop_only), weekdays, max_taxes))
    award = read_booked_award(call, row, booking_id)
    check_terms(call, row)
    room = _check_cap(call, row)
    call.db.add(row)
    call.db.flush()
    schedule_checks(call, row)
    release = find_release(call, row.airlines or ())
    return CreatedMonitor(
        message=f"Monitor {row.id} watches {row.origin} to {row.destination}{describe_award(award, row)}."
        f" The first check runs now, then every {describe_interval(call)}."
        f" Fresh seats are mailed and stand in your notices.{_describe_outlook(call, row, release)}{room.same}",
        monitor=views.to_new_monitor(call, row),
        active_count=room.active + 1,
        cap=ROUTE_MONITOR.cap(call.plan),
        opens_on=find_opening(call, release, earliest_date),
        release=to_release(call, release, row.latest_date),
        fee=to_fee(call, award),
    )


def _describe_outlook(call: Call, row: RouteMonitor, release: ReleaseWindow | None) -> str:
    """Describes what the watch leaves out, its route, and when its days go on sale."""
    avoided = [airline_name(call.reference, code) for code in sorted(call.taste.avoided)] if not row.airlines else []
    without = f" Seats of {' and '.join(avoided)} do not count, as your profile says." if avoided else ""
    return (
        describe_filters(row)
        + without
        + describe_routes(call, row.airlines or (), row.origin, row.destination)
        + describe_opening(call, release, row.earliest_date, row.latest_date)
    )


@tool("alerts", Tier.FREE, Effect.READS, "List route watches")
def list_route_monitors(
    call: Call, state: Literal["active", "cancelled", "all"] = "active", page: Page = 1, per_page: PerPage = 20
) -> Monitors:
    """Lists the route watches for award seats on any airline, running or stopped, with last and next check.

    For "Which routes do you watch for me?" Free.
    """
    watches = load_monitor_page(call.db, state, page, per_page)
    return Monitors(
        message=tell_rows(watches.total, "route monitor", (f"{r.origin}-{r.destination}" for r in watches.rows))
        + f" {watches.active} of {ROUTE_MONITOR.cap(call.plan)} active.",
        monitors=views.show_monitors(call, watches.rows, watches.due, watches.finds),
        active_count=watches.active,
        cap=ROUTE_MONITOR.cap(call.plan),
        paging=Paging.of(page, per_page, watches.total),
    )


@tool("alerts", Tier.FREE, Effect.READS, "Show a route watch", screen="price-history", condenses=True)
def get_route_monitor(call: Call, monitor_id: MonitorId) -> MonitorDetails:
    """Opens one route watch: award seats found or turned up, and the log of recent checks.

    For "Did my Tokyo watch find any?" Free.
    """
    row = _get_own(call.db, monitor_id)
    matches = list_matches(call.db, row.id, MAX_MATCHES)
    seats = [views.to_found_seat(call, match, row.passengers, is_open) for match, is_open in matches]
    checks = call.db.scalars(
        select(MonitorCheck)
        .where(MonitorCheck.monitor_id == row.id)
        .order_by(MonitorCheck.checked_at.desc(), MonitorCheck.id.desc())
        .limit(MAX_CHECKS)
    ).all()
    monitor = views.to_monitors(call, [row])[0]
    return MonitorDetails(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}:"
        f" {pluralize(row.matches_total, 'match', 'matches')} so far.{_describe_best(call, monitor)}",
        monitor=monitor,
        matches=seats,
        funding=views.describe_payment(call, row, seats) if any(seat.is_open for seat in seats) else [],
        prices=[LowestPrice.model_validate(p) for p in list_found_prices(call.db, row.id, MAX_PRICES)],
        checks=[Check.model_validate({name: getattr(c, name) for name in Check.model_fields}) for c in checks],
        names=list_offer_names(call.reference, [match for match, _ in matches]),
    )


def _describe_best(call: Call, monitor: views.Monitor) -> str:
    """Describes the best seat open at the last check."""
    best = monitor.best_match
    if best is None:
        return ""
    price = PartyPrice(best.points, best.taxes, best.taxes_currency, monitor.passengers)
    return (
        f" The best that was open at the last check: {format_weekday(best.date)},"
        f" {airline_name(call.reference, best.airline)} {best.cabin.replace('_', ' ')},"
        f" {describe_price(price)} with {program_name(call.reference, best.program)}."
    )


@tool("alerts", Tier.FREE, Effect.CHANGES, "Change a route watch")
@clears(RouteMonitor)
def update_route_monitor(
    call: Call,
    monitor_id: MonitorId,
    origin: WatchedAirport | None = None,
    destination: WatchedAirport | None = None,
    earliest_date: Day | None = None,
    latest_date: Day | None = None,
    cabin: Cabin | None = None,
    airlines: Airlines = None,
    passengers: Passengers | None = None,
    max_points: MostPoints = None,
    nonstop_only: bool | None = None,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
    clear: list[str] | None = None,
    active: bool | None = None,
) -> UpdatedMonitor:
    """Changes a route watch: its dates, cabin, airlines, travellers, limit on points; active false pauses it.

    For "Widen my Tokyo watch by a week, first class too." Changed terms start afresh. Free.
    """
    lock(call.db, call.account_id)
    row = _get_own(call.db, monitor_id, locked=True)
    terms = {
        "origin": origin,
        "destination": destination,
        "earliest_date": earliest_date,
        "latest_date": latest_date,
        "cabin": cabin,
        "airlines": None if airlines is None else _resolve_airlines(call, airlines) or "",
        "passengers": passengers,
        "max_points": max_points,
    } | build_filters(call, nonstop_only, weekdays, max_taxes)
    check_changeable(row, has_terms=bool(clear) or any(value is not None for value in terms.values()))
    switched = switch_monitor(call, row, active)
    changed = edit(row, call.now, terms, list_cleared(clear))
    if changed or (switched and row.paused_at is None):
        check_terms(call, row)
    changed += ["active"] if switched else []
    if changed:
        start_afresh(call, row)
    monitor = views.to_monitors(call, [row])[0]
    message = _describe_update(call, row, monitor, changed)
    return UpdatedMonitor(message=message, monitor=monitor, changed=changed, baseline_reset=bool(changed))


def _describe_update(call: Call, row: RouteMonitor, monitor: views.Monitor, changed: list[str]) -> str:
    name, is_running = f"monitor {row.id}, {row.origin} to {row.destination}", row.paused_at is None
    message = describe_changes(name, monitor, changed, active=is_running)
    if not is_running:
        return f"{message} It is paused; active true resumes it."
    if not changed:
        return message
    outlook = _describe_outlook(call, row, find_release(call, row.airlines or ()))
    return f"{message} It is checked now, and every match counts as new.{outlook}"


@tool("alerts", Tier.FREE, Effect.CHANGES, "Stop a route watch")
def cancel_route_monitor(call: Call, monitor_id: MonitorId) -> OneMonitor:
    """Stops or cancels a route watch for award seats, which is booked or no longer needed.

    For "You can stop looking, we found seats." The record stays; no more mails. To pause it: update_route_monitor.
    Free.
    """
    row = _get_own(call.db, monitor_id, locked=True)
    if row.cancelled_at is None:
        row.cancelled_at, row.cancel_reason = call.now, "user"
        call.db.flush()
        forget_keys(call.db, MonitorKey, row.id)
        unschedule(call.db, ROUTE_MONITOR.run, [row.id])
    return OneMonitor(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}, is cancelled and kept for the record.",
        monitor=views.to_monitors(call, [row])[0],
        active_count=count(call.db, RouteMonitor, RouteMonitor.is_running()),
        cap=ROUTE_MONITOR.cap(call.plan),
    )
