"""Timelines of bookings and plans: what pages show of a flight, a stay or a planned item, in order and in groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from shared.domain.dates import format_weekday
from shared.domain.household import add_member
from shared.domain.party_prices import describe_party, format_money
from shared.domain.plurals import pluralize

FLIGHTS, STAYS = "/dashboard/bookings/flights", "/dashboard/bookings/stays"
Row = Mapping[str, Any]
Pill = tuple[str, str]  # its words and its class
END_OF_DAY = "99"  # sorts after every time of a day


@dataclass(frozen=True)
class Entry:
    """One line of a timeline: `cost` is what was paid for all, `page` where the thing can be changed."""

    kind: str
    day: date | None
    title: str
    time: str = ""
    about: str = ""
    cost: str = ""
    page: str = ""
    pills: tuple[Pill, ...] = ()
    trip_id: int | None = None
    number: int = 0
    position: int = 0
    flight: Row | None = None  # drawn as a slip


@dataclass(frozen=True)
class Day:
    """Entries of one day; None: without a day."""

    day: date | None
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Group:
    """The entries of one trip, or a run of bookings without one."""

    trip_id: int | None
    days: Sequence[Day]


def describe_flight(flight: Row) -> Entry:
    facts = (
        flight["flight_number"] or flight["airline"],
        flight["cabin_class"].replace("_", " "),
        flight["confirmation_number"],
    )
    return Entry(
        "flight",
        date.fromisoformat(flight["departure_date"]),
        add_member(f"{flight['origin']} to {flight['destination']}", flight["member"]),
        describe_times(flight),
        ", ".join(filter(None, facts)),
        describe_fare(flight),
        f"{FLIGHTS}/{flight['booking_id']}",
        _list_pills(flight),
        flight["workspace_trip_id"],
        flight["booking_id"],
        flight=dict(flight, later=find_days_later(flight)),
    )


def describe_times(flight: Row) -> str:
    """`15:10 to 12:05 +1`; unknown parts are left out."""
    times = " to ".join(filter(None, (flight["departure_time"], flight["arrival_time"])))
    return " ".join(filter(None, (times, find_days_later(flight))))


def find_days_later(flight: Row) -> str:
    """`+1` for an arrival on the next day; empty on the same day, and where the arrival is not known."""
    if not (flight["arrival_time"] and flight["arrival_date"]):
        return ""
    days = (date.fromisoformat(flight["arrival_date"]) - date.fromisoformat(flight["departure_date"])).days
    return f"{days:+d}" if days else ""


def describe_fare(flight: Row) -> str:
    """`70,000 points + $87 taxes for two`, for all travellers; empty on a leg without a cost."""
    currency, taxes = flight["taxes_currency"], flight["taxes_paid"]
    parts = [f"{flight['points_spent']:,} points"] if flight["points_spent"] else []
    parts += [format_money(flight["cash_paid"], currency)] if flight["cash_paid"] else []
    parts += [f"{format_money(taxes, currency)} taxes"] if taxes else []
    party = flight["passengers"] or 1
    return f"{' + '.join(parts)}{f' for {describe_party(party)}' if party > 1 else ''}" if parts else ""


def describe_stay(stay: Row) -> Entry:
    free = stay["free_cancellation_until"]
    until = f"free to cancel until {format_weekday(date.fromisoformat(free))}" if free else ""
    facts = (stay["hotel"]["city"], stay["room_type"], stay["confirmation_number"], until)
    return Entry(
        "hotel",
        date.fromisoformat(stay["check_in_date"]),
        add_member(stay["hotel"]["name"], stay["member"]),
        pluralize(stay["nights"], "night"),
        ", ".join(filter(None, facts)),
        describe_rate(stay),
        f"{STAYS}/{stay['booking_id']}",
        _list_pills(stay),
        stay["trip_id"],
        stay["booking_id"],
    )


def describe_rate(stay: Row) -> str:
    """`24,000 points for the room`, for the whole stay; empty where unknown."""
    if stay["kind"] == "award":
        return f"{stay['original_points']:,} points for the room" if stay["original_points"] else ""
    paid = stay["original_pay_rate_usd"]
    return f"{format_money(paid, stay['cash_rate_currency'])} for the room" if paid else ""


def _list_pills(booking: Row) -> tuple[Pill, ...]:
    pills = {"cancelled": ("Cancelled", "bad"), "current": ("You are there", "tint")}
    state = pills.get(booking["state"])
    drop = [("Offered for less now", "good")] if booking.get("drop") else []
    changed = [("Changed by a mail", "warn")] if booking["changes"] and booking["state"] == "upcoming" else []
    return (*([state] if state else []), *drop, *changed)


def describe_item(item: Row) -> Entry:
    """Describes an item of a trip's plan."""
    times = " to ".join(filter(None, (item["start_time"], item["end_time"])))
    return Entry(
        item["kind"],
        date.fromisoformat(item["day"]) if item["day"] else None,
        item["title"],
        times,
        ", ".join(filter(None, (item["location"], item["notes"]))),
        number=item["item_id"],
        position=item["position"],
        trip_id=item["trip_id"],
    )


def group_by_trip(entries: Iterable[Entry], *, newest_first: bool = False) -> list[Group]:
    """Each whole trip comes where its first entry does; entries without a trip keep their own place."""
    rows = list(entries)
    first: dict[int, date] = {}
    for row in rows:
        if row.trip_id is not None and row.day is not None:
            first[row.trip_id] = min(row.day, first.get(row.trip_id, row.day))
    placed = [(first.get(row.trip_id or 0, row.day), row.trip_id or 0, row) for row in rows]
    undated = date.min if newest_first else date.max
    placed.sort(key=lambda place: (place[0] or undated, place[1]), reverse=newest_first)
    groups = groupby(placed, key=lambda place: place[1])
    return [
        Group(trip or None, group_by_day([row for _, _, row in run], newest_first=newest_first)) for trip, run in groups
    ]


def group_by_day(entries: Iterable[Entry], *, newest_first: bool = False) -> list[Day]:
    """Days in order, entries without one last; within a day by time, then by the person's order."""
    rows = sorted(entries, key=lambda row: (row.time if ":" in row.time else END_OF_DAY, row.position))
    undated = date.min if newest_first else date.max
    rows.sort(key=lambda row: row.day or undated, reverse=newest_first)
    return [Day(day, list(run)) for day, run in groupby(rows, key=lambda row: row.day)]
