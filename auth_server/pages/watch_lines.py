"""Watches as single lines, for lists and page heads: state, terms, last check and last find."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from shared import clock
from shared.domain.award_matches import WEEKDAYS
from shared.domain.dates import format_weekday, format_weekdays
from shared.domain.hotel_prices import describe_limit
from shared.domain.household import add_member
from shared.domain.party_prices import describe_points, describe_travellers, format_money
from shared.domain.plurals import pluralize
from shared.outbox.links import find_watch_path

DAY_NAMES = dict(
    zip(WEEKDAYS, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"), strict=True)
)
_SUNDAY_FIRST = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
CHANNEL_NAMES = {"email": "mail", "sms": "text message", "whatsapp": "WhatsApp"}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class WatchLine:
    """`state` is On, Paused, Ended or Stopped; `find` is a sentence without its full stop, `found_at` its moment."""

    title: str
    page: str
    state: str
    terms: str
    find: str
    found_at: datetime | None = None
    checked_at: datetime | None = None
    due_at: datetime | None = None

    @property
    def is_paused(self) -> bool:
        return self.state.startswith("Paused")

    @property
    def is_live(self) -> bool:
        """Whether it runs, or can be resumed."""
        return self.state == "On" or self.is_paused

    @property
    def tone(self) -> str:
        """The CSS class of the state's pill."""
        return " good" if self.state == "On" else " warn" if self.is_paused else ""


def read_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def describe_route_monitor(monitor: Row) -> WatchLine:
    return WatchLine(
        title=f"{monitor['origin']} to {monitor['destination']}{_describe_cabin(monitor['cabin'])}",
        page=find_watch_path("route_monitor", monitor["monitor_id"]),
        state=_find_monitor_state(monitor),
        terms=_describe_days(monitor["earliest_date"], monitor["latest_date"]),
        find=describe_find(monitor),
        checked_at=read_moment(monitor["last_checked_at"]),
        due_at=read_moment(monitor["next_check_at"]),
    )


def _find_monitor_state(monitor: Row) -> str:
    if monitor["state"] == "active":
        return "On"
    if monitor["paused_at"]:
        return "Paused by your plan" if monitor["cancel_reason"] == "plan_change" else "Paused"
    return "Ended" if monitor["cancel_reason"] == "window_passed" else "Stopped"


def _describe_cabin(cabin: str | None) -> str:
    return f", {cabin.replace('_', ' ')}" if cabin else ""


def _describe_days(first: str, last: str) -> str:
    return format_weekdays(date.fromisoformat(first), date.fromisoformat(last))


def describe_find(monitor: Row) -> str:
    """The best seat open at the last check, else the newest found."""
    seat = monitor["best_match"] or monitor["last_match"]
    if seat is None:
        return "Nothing found yet"
    gone = "" if monitor["best_match"] else ", gone since"
    points = describe_points(seat["points"], monitor["passengers"])
    return f"{points} on {format_weekday(date.fromisoformat(seat['date']))}{gone}"


def describe_terms(monitor: Row) -> str:
    """All terms of a route watch as one sentence."""
    ends = [_name_airports(monitor[end], monitor[f"{end}_airports"]) for end in ("origin", "destination")]
    parts = [
        f"Award seats from {ends[0]} to {ends[1]}",
        str(monitor["cabin"] or "any cabin").replace("_", " "),
        describe_travellers(monitor["passengers"]),
        _describe_days(monitor["earliest_date"], monitor["latest_date"]),
        f"of {_join(monitor['airlines'])}" if monitor["airlines"] else "",
        f"at most {pluralize(monitor['max_points'], 'point')} per person" if monitor["max_points"] else "",
        *list_filters(monitor),
        f"for booking {monitor['booking_id']}" if monitor["booking_id"] else "",
    ]
    return f"{', '.join(filter(None, parts))}."


def _name_airports(code: str, airports: list[str]) -> str:
    """`LON (LGW, LHR or STN)`; a single airport by its code."""
    return f"{code} ({_join(airports)})" if airports not in ([], [code]) else code


def _join(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def list_filters(watch: Row) -> list[str]:
    """The filters, each in a few words."""
    taxes = watch["max_taxes"]
    return [
        *(["non-stop only"] if watch["nonstop_only"] else []),
        *([f"on {_join([f'{DAY_NAMES[day]}s' for day in watch['weekdays']])}"] if watch["weekdays"] else []),
        *(
            [f"taxes of at most {format_money(taxes, watch['max_taxes_currency'])} per person"]
            if taxes is not None
            else []
        ),
    ]


def describe_flight_alert(alert: Row) -> WatchLine:
    ended = not alert["active"] and date.fromisoformat(alert["date_range_end"]) < clock.today()
    return WatchLine(
        title=f"{alert['airline']}, {alert['departure']} to {alert['destination']}"
        f"{_describe_cabin(alert['cabin_class'])}",
        page=find_watch_path("flight_alert", alert["alert_id"]),
        state="On" if alert["active"] else "Ended" if ended else "Paused",
        terms=", ".join(
            [
                _describe_days(alert["date_range_start"], alert["date_range_end"]),
                describe_travellers(alert["passengers"]),
                *list_filters(alert),
            ]
        ),
        find="Seats were found" if alert["last_hit_at"] else "Nothing found yet",
        found_at=read_moment(alert["last_hit_at"]),
        checked_at=read_moment(alert["last_checked_at"]),
    )


def describe_hotel_alert(stay: Row) -> WatchLine:
    """A stay that is watched before it is booked."""
    watched, latest = stay["monitoring"], stay["latest"]
    days = [date.fromisoformat(stay[name]) for name in ("check_in_date", "check_out_date")]
    currency, most_cash = stay["cash_rate_currency"], stay["max_cash_per_night"]
    limit = describe_limit(
        stay["max_points_per_night"], None if most_cash is None else Decimal(str(most_cash)), currency
    )
    price = latest and latest["points" if stay["kind"] == "award" else "cash"]
    amount = f"{price or 0:,} points" if stay["kind"] == "award" else format_money(price or 0, currency)
    return WatchLine(
        title=add_member(stay["hotel"]["name"], stay["member"]),
        page=find_watch_path("hotel_alert", stay["booking_id"]),
        state="On" if watched["active"] else "Paused" if stay["state"] == "upcoming" else "Ended",
        terms=f"{format_weekdays(*days)}, {limit}",
        find=f"{amount} for the stay at the last look" if price else "No price for it yet",
        checked_at=read_moment(watched["last_checked_at"]),
    )


def describe_delay_alert(alert: Row) -> WatchLine:
    least = alert["min_delay_minutes"]
    channels = [CHANNEL_NAMES[channel] for channel in alert["channels"]]
    return WatchLine(
        title=f"Delays at {alert['airport']}" + (f", {alert['label']}" if alert["label"] else ""),
        page=find_watch_path("delay_alert", alert["alert_id"]),
        state="On" if alert["active"] else "Paused",
        terms=f"From {pluralize(least, 'minute')} on, by {' and '.join(channels)}",
        find="A warning was sent" if alert["last_triggered_at"] else "No warning yet",
        found_at=read_moment(alert["last_triggered_at"]),
        checked_at=read_moment(alert["last_checked_at"]),
    )


def describe_standing_order(order: Row) -> WatchLine:
    outcome = {"ok": "Its last run worked", "failed": "Its last run failed"}.get(order["last_outcome"] or "")
    day = "day" if order["cadence"] == "daily" else _SUNDAY_FIRST[order["run_weekday"] or 0]
    return WatchLine(
        title=_shorten(order["prompt"]),
        page=find_watch_path("standing_order", order["standing_order_id"]),
        state="On" if order["state"] == "running" else "Stopped",
        terms=f"Every {day} at {order['run_hour']:02}:00 UTC",
        find=outcome or "It has not run yet",
        found_at=read_moment(order["last_run_at"]),
        due_at=read_moment(order["next_run_at"]),
    )


def _shorten(text: str, most: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
