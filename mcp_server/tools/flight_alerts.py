"""Flight alerts: award seats of one airline on a route, mailed when they open within a window of days."""

from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import clears, describe_changes, edit
from mcp_server.toolkit.own_rows import Capacity, check_cap, get_own, same_terms
from mcp_server.toolkit.parameters import Cabin, Day, Page, Passengers, PerPage, RowId, SearchedAirport
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.route_monitors import check_route
from mcp_server.views.seat_filters import (
    COLUMNS,
    Filters,
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
from shared.db.flight_alerts import FlightAlert as Row
from shared.db.flight_alerts import FlightAlertKey
from shared.db.pagination import count, page_of
from shared.db.runs import delete_schedules, schedule, unschedule
from shared.db.watched_keys import forget_keys
from shared.domain.watch_kinds import FLIGHT_ALERT
from shared.reference.rows.award_charts import ReleaseWindow
from shared.services.watches.flight_alerts import PRICED_THROUGH

Airline = Literal["BA", "VS", "CX", "IB", "QR", "EY", "JL", "B6", "UA", "TP", "HA", "FI"]
_SEAT_TERMS = ("airline", "departure", "destination", "date_range_start", "date_range_end", "cabin_class", "passengers")
TERMS = (*_SEAT_TERMS, *COLUMNS)
TROUBLE_WORDS = {
    "connection_required": "connect seats_aero with connect_integration",
    "not_configured": "no source of seats is set up here",
    "backend_unavailable": "no source answered",
}


AlertId = RowId
AnyCabin = Annotated[Cabin | None, Field(description="Absent: any cabin.")]


class FlightAlert(Filters):
    """An alert paused by a plan change shows as inactive, and as active once it continues."""

    alert_id: int
    airline: str
    departure: str
    destination: str
    date_range_start: date
    date_range_end: date
    cabin_class: Cabin | None
    passengers: int
    active: bool
    last_checked_at: datetime | None
    last_hit_at: datetime | None
    created_at: datetime


class CreatedAlert(Result):
    alert: FlightAlert
    active_count: int
    cap: int | None
    opens_on: date | None
    release: Release | None


class FlightAlerts(Result):
    alerts: list[FlightAlert]
    active_count: int
    cap: int | None
    paging: Paging


class UpdatedFlightAlert(Result):
    alert: FlightAlert
    changed: list[str]


class RemovedFlightAlert(Part):
    alert_id: int
    airline: str
    route: str


class DeletedFlightAlert(Result):
    removed: RemovedFlightAlert


def _to_alert(row: Row) -> FlightAlert:
    columns = {name: getattr(row, name) for name in FlightAlert.model_fields if hasattr(row, name)}
    return FlightAlert.model_validate(columns | {"alert_id": row.id, "active": row.is_on})


_get_own = partial(get_own, Row, "flight alert")


def _check_cap(call: Call, row: Row, nothing: str) -> Capacity:
    refusal = f"active; {nothing}. Pause or delete one, or choose a larger plan."
    return check_cap(call, call.db, Row, refusal, same_terms(row, *TERMS))


def _check_terms(call: Call, row: Row) -> None:
    check_route(
        call,
        {"departure": row.departure, "destination": row.destination},
        {"date_range_start": row.date_range_start, "date_range_end": row.date_range_end},
    )


def _describe_watch(call: Call, row: Row) -> str:
    """The airline and route; also the programme whose prices are used when the airline has no programme here."""
    name = call.reference.airlines[row.airline].name
    through = call.reference.programs[PRICED_THROUGH[row.airline]].name if row.airline in PRICED_THROUGH else None
    price_text = f", priced through {through}" if through else ""
    return f"{name} from {row.departure} to {row.destination}{price_text}"


def _schedule_checks(call: Call, row: Row) -> None:
    """The first check is due now, the next ones after the interval of the settings."""
    schedule(call.db, FLIGHT_ALERT.run, row.id, row.interval)


@tool("alerts", Tier.FREE, Effect.ADDS, "Create an airline seat alert")
def create_flight_alert(
    call: Call,
    airline: Airline,
    departure: SearchedAirport,
    destination: SearchedAirport,
    date_range_start: Day,
    date_range_end: Day,
    cabin_class: AnyCabin = None,
    passengers: Passengers = 1,
    nonstop_only: bool | None = None,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
) -> CreatedAlert:
    """Alerts the user by email when one airline opens award seats on a route in a range of dates.

    For "Tell me when Qatar opens Doha." For only BA or only Qatar; several or any airline, or a limit on points:
    create_route_monitor. Free accounts: one alert. Free.
    """
    row = Row(
        airline=airline,
        departure=departure,
        destination=destination,
        date_range_start=date_range_start,
        date_range_end=date_range_end,
        cabin_class=cabin_class,
        passengers=passengers,
        active=True,
    )
    edit(row, call.now, build_filters(call, bool(nonstop_only), weekdays, max_taxes))
    _check_terms(call, row)
    room = _check_cap(call, row, "nothing was created")
    call.db.add(row)
    call.db.flush()
    _schedule_checks(call, row)
    release = find_release(call, [row.airline])
    return CreatedAlert(
        message=f"Alert {row.id} watches {_describe_watch(call, row)}. The first check runs now. Seats that open are"
        f" mailed and stand in your notices.{_describe_outlook(call, row, release)}{room.same}",
        alert=_to_alert(row),
        active_count=room.active + 1,
        cap=FLIGHT_ALERT.cap(call.plan),
        opens_on=find_opening(call, release, date_range_start),
        release=to_release(call, release, date_range_end),
    )


def _describe_outlook(call: Call, row: Row, release: ReleaseWindow | None) -> str:
    """Describes what the watch leaves out, its route, and when its days go on sale."""
    return (
        describe_filters(row)
        + describe_routes(call, [row.airline], row.departure, row.destination)
        + describe_opening(call, release, row.date_range_start, row.date_range_end)
    )


@tool("alerts", Tier.FREE, Effect.READS, "List airline seat alerts")
def list_flight_alerts(
    call: Call, alert_id: RowId | None = None, active: bool | None = None, page: Page = 1, per_page: PerPage = 20
) -> FlightAlerts:
    """Lists the user's award seat alerts for single airlines, active or paused, and the last hit.

    For "Is my BA alert on? Did it ever go off?" Any airline: list_route_monitors. Free.
    """
    if alert_id is not None:
        _get_own(call.db, alert_id)
    conditions = [Row.id == alert_id] if alert_id is not None else []
    if active is not None:
        conditions.append(Row.is_running() if active else ~Row.is_running())
    rows, total = page_of(call.db, Row, conditions, Row.id.desc(), page=page, per_page=per_page)
    running, cap = count(call.db, Row, Row.is_running()), FLIGHT_ALERT.cap(call.plan)
    return FlightAlerts(
        message=tell_rows(total, "flight alert", (f"{row.airline} {row.departure}-{row.destination}" for row in rows))
        + f" {running} of {cap} active.{_describe_trouble(rows)}",
        alerts=[_to_alert(row) for row in rows],
        active_count=running,
        cap=cap,
        paging=Paging.of(page, per_page, total),
    )


def _describe_trouble(rows: Sequence[Row]) -> str:
    """The alerts whose last check got no answer, with the reason."""
    sentences = ""
    for outcome, why in TROUBLE_WORDS.items():
        ids = [str(row.id) for row in rows if row.is_on and row.last_outcome == outcome]
        which = f"alert {ids[0]}" if len(ids) == 1 else f"alerts {', '.join(ids)}"
        sentences += f" The last check of {which} got no answer: {why}." if ids else ""
    return sentences


@tool("alerts", Tier.FREE, Effect.CHANGES, "Change an airline seat alert")
@clears(Row)
def update_flight_alert(
    call: Call,
    alert_id: AlertId,
    active: bool | None = None,
    airline: Airline | None = None,
    departure: SearchedAirport | None = None,
    destination: SearchedAirport | None = None,
    date_range_start: Day | None = None,
    date_range_end: Day | None = None,
    cabin_class: AnyCabin = None,
    passengers: Passengers | None = None,
    nonstop_only: bool | None = None,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
    clear: list[str] | None = None,
) -> UpdatedFlightAlert:
    """Changes an airline's award seat alert: dates, route, cabin; active false pauses or mutes it, true resumes it.

    For "Turn my BA alert back on." Free.
    """
    lock(call.db, call.account_id)
    row = _get_own(call.db, alert_id, locked=True)
    was_running = row.is_on
    if active and not was_running:
        _check_cap(call, row, "this one stays paused")
        row.paused_at = None
    terms = (airline, departure, destination, date_range_start, date_range_end, cabin_class, passengers)
    changes = dict(zip(_SEAT_TERMS, terms, strict=True)) | build_filters(call, nonstop_only, weekdays, max_taxes)
    changed = edit(row, call.now, changes | {"active": active}, list_cleared(clear))
    terms_changed = bool(set(changed) & set(TERMS))
    if terms_changed or (row.is_on and not was_running):
        _check_terms(call, row)
    if active and not was_running and "active" not in changed:  # the plan had paused it, so the column did not change
        changed.append("active")
    call.db.flush()
    _reschedule(call, row, terms_changed=terms_changed, was_running=was_running)
    alert = _to_alert(row)
    message = f"{describe_changes('the alert', alert, changed)} {_describe_update(call, row)}"
    return UpdatedFlightAlert(message=message, alert=alert, changed=changed)


def _reschedule(call: Call, row: Row, *, terms_changed: bool, was_running: bool) -> None:
    """Changed terms and a restart delete the seats seen before, so that each match counts as new."""
    if terms_changed or not was_running or not row.is_on:
        forget_keys(call.db, FlightAlertKey, row.id)
    if not row.is_on:
        unschedule(call.db, FLIGHT_ALERT.run, [row.id])
    elif terms_changed or not was_running:
        _schedule_checks(call, row)


def _describe_update(call: Call, row: Row) -> str:
    if not row.is_on:
        return f"Alert {row.id}, {_describe_watch(call, row)}, is paused."
    return f"Alert {row.id} watches {_describe_watch(call, row)}.{describe_filters(row)}"


@tool("alerts", Tier.FREE, Effect.CHANGES, "Delete an airline seat alert")
def delete_flight_alert(call: Call, alert_id: AlertId) -> DeletedFlightAlert:
    """Deletes an airline's award seat alert permanently, so no more mails; confirm with the user first.

    For "Get rid of my BA alert." To pause it: update_flight_alert. Free.
    """
    row = _get_own(call.db, alert_id, locked=True)
    removed = RemovedFlightAlert(alert_id=row.id, airline=row.airline, route=f"{row.departure}-{row.destination}")
    delete_schedules(call.db, FLIGHT_ALERT.run, [row.id])
    call.db.delete(row)
    call.db.flush()
    return DeletedFlightAlert(
        message=f"Alert {removed.alert_id}, {removed.airline} {removed.route}, is deleted.", removed=removed
    )
