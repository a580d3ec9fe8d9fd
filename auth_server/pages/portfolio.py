"""Portfolio page: what a person holds, what ends soon, what is booked and watched, and first steps to tick off."""

from asyncio import gather
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.pages.member import Member
from auth_server.pages.notices import find_page
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.watch_lines import WatchLine, describe_route_monitor
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.oauth import Client, Family
from shared.domain.household import add_member

WITHIN_DAYS, SOON_DAYS = 90, 30
MAX_BALANCES, MAX_DEADLINES, MAX_CARDS = 8, 6, 5
MAX_BOOKINGS, MAX_WATCHES, MAX_NOTICES = 4, 4, 4
MAX_STAYS = 20  # whose free cancellation is among what ends
# Journeys stand among the bookings, and what ends of them comes from there.
KINDS = ("points", "voucher", "status", "card_bonus", "card_credit", "annual_fee", "transfer_bonus")
# Each part of the page: the tool that answers it, and with which arguments.
LOOKS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "balances": ("list_points_balances", {}),
    "deadlines": ("list_upcoming_deadlines", {"within_days": WITHIN_DAYS, "kinds": KINDS}),
    "cards": ("list_my_cards", {"include_closed": False}),
    "flights": ("list_flight_bookings", {"when": "upcoming", "per_page": MAX_BOOKINGS}),
    "stays": ("list_hotel_bookings", {"when": "upcoming", "per_page": MAX_STAYS}),
    "watches": ("list_route_monitors", {"per_page": MAX_WATCHES}),
    "notices": ("list_notifications", {"per_page": MAX_NOTICES}),
}


@dataclass(frozen=True)
class Section:
    """One card of the page: the rows it shows, and how many there are next to them. Without an answer it says so."""

    answered: bool
    rows: Sequence[dict[str, Any] | WatchLine] = ()
    more: int = 0


def _is_connected(db: Session, account_id: int) -> bool:
    """Whether an application was allowed to use the account and still may."""
    active = (Family.account_id == account_id, Family.revoked_at.is_(None), Client.kind != "service")
    query = select(Family.id).join(Client, Client.client_id == Family.client_id).where(*active).limit(1)
    return db.scalar(query) is not None


async def show(member: Member) -> FlowResult:
    looks = gather(*(look(member, tool, **arguments) for tool, arguments in LOOKS.values()))
    connected, parts = await gather(member.transact(lambda db: _is_connected(db, member.account.id)), looks)
    answers = dict(zip(LOOKS, parts, strict=True))
    holds = _has_rows(answers, ("balances", "balances"), ("cards", "cards"))
    steps = [connected, holds, _has_rows(answers, ("watches", "monitors"))]
    return member.show(
        "portfolio.html",
        steps=None if None in steps or all(steps) else steps,
        worth=_sum_worth(answers["balances"]),
        balances=_read(answers["balances"], _list_balances),
        deadlines=_read(answers["deadlines"], partial(_list_deadlines, answers["stays"])),
        cards=_read(answers["cards"], partial(_list_cards, answers["deadlines"])),
        bookings=_merge_bookings(answers["flights"], answers["stays"]),
        watches=_read(answers["watches"], _list_watches),
        notices=_read(answers["notices"], _list_notices),
        unread=answers["notices"].get("unread", 0),
    )


def _has_rows(answers: Mapping[str, Answer], *names: tuple[str, str]) -> bool | None:
    if any(answers[name].get(rows) for name, rows in names):
        return True
    return False if all(answers[name].is_good for name, _ in names) else None


def _read(answer: Answer, rows: Callable[[Answer], Section]) -> Section:
    return rows(answer) if answer.is_good else Section(answered=False)


def _sum_worth(answer: Answer) -> dict[str, Any] | None:
    """The estimated worth of all points; None where there is none, or no answer."""
    if not answer.get("balances") or not answer["total_value"]["amount"]:
        return None
    programs = len({balance["program"] for balance in answer["balances"]})
    members = [total["member"] for total in answer["by_member"] if total["member"]]
    return dict(answer["total_value"]) | {"programs": programs, "members": members}


def _list_balances(answer: Answer) -> Section:
    rows = sorted(answer["balances"], key=lambda b: (b["days_left"] is None, -_get_worth(b), b["name"]))
    return Section(True, rows[:MAX_BALANCES], len(rows[MAX_BALANCES:]))


def _get_worth(balance: Mapping[str, Any]) -> float:
    return float(balance["value"]["amount"]) if balance["value"] else 0.0


def _list_deadlines(stays: Answer, answer: Answer) -> Section:
    """What has a day on which it ends, and the free cancellation of the next stays, soonest first."""
    free = [end for stay in stays.get("bookings", ()) if (end := _describe_free_cancellation(stay))]
    rows = sorted([*answer["deadlines"], *free], key=lambda row: str(row["due_on"]))
    soonest = [
        row | {"day": date.fromisoformat(row["due_on"]), "soon": row["days_left"] <= SOON_DAYS}
        for row in rows[:MAX_DEADLINES]
    ]
    return Section(True, soonest, answer["total"] + len(free) - len(soonest))


def _describe_free_cancellation(stay: Mapping[str, Any]) -> dict[str, Any] | None:
    if stay["free_cancellation_until"] is None:
        return None
    days_left = (date.fromisoformat(stay["free_cancellation_until"]) - clock.today()).days
    title = f"Free cancellation of {add_member(stay['hotel']['name'], stay['member'])} ends"
    row = {"title": title, "due_on": stay["free_cancellation_until"], "days_left": days_left, "value_at_risk": None}
    return row if 0 <= days_left <= WITHIN_DAYS else None


def _list_cards(deadlines: Answer, answer: Answer) -> Section:
    """Cards on which something is due come first: the soonest bonus or credit."""
    due: dict[str, list[dict[str, Any]]] = {}
    for row in deadlines.get("deadlines", ()):
        if row["subject"]["type"] == "card":
            day = date.fromisoformat(row["due_on"])
            due.setdefault(row["subject"]["id"], []).append(row | {"day": day, "soon": row["days_left"] <= SOON_DAYS})
    rows = [card | {"due": due.get(str(card["card_id"]), [])[:2]} for card in answer["cards"]]
    rows.sort(key=lambda card: (not card["due"], card["due"][0]["due_on"] if card["due"] else "", card["name"]))
    return Section(True, rows[:MAX_CARDS], answer["paging"]["total"] - len(rows[:MAX_CARDS]))


def _merge_bookings(flights: Answer, stays: Answer) -> Section:
    """The next flights and stays in one order of time; what answers of the two is shown."""
    if not (flights.is_good or stays.is_good):
        return Section(answered=False)
    rows = [*map(_describe_flight, flights.get("bookings", ())), *map(_describe_stay, stays.get("bookings", ()))]
    rows.sort(key=lambda row: (row["day"], row["title"]))
    total = sum(answer["paging"]["total"] for answer in (flights, stays) if answer.is_good)
    return Section(True, rows[:MAX_BOOKINGS], total - len(rows[:MAX_BOOKINGS]))


def _describe_flight(flight: Mapping[str, Any]) -> dict[str, Any]:
    times = " to ".join(flight[name] for name in ("departure_time", "arrival_time") if flight[name])
    facts = (flight["flight_number"] or flight["airline"], times, flight["cabin_class"].replace("_", " "))
    return {
        "day": date.fromisoformat(flight["departure_date"]),
        "title": add_member(f"{flight['origin']} to {flight['destination']}", flight["member"]),
        "about": ", ".join(fact for fact in facts if fact),
        "free_until": None,
        "cheaper": False,
    }


def _describe_stay(stay: Mapping[str, Any]) -> dict[str, Any]:
    nights = f"{stay['nights']} night{'' if stay['nights'] == 1 else 's'}"
    free = stay["free_cancellation_until"]
    return {
        "day": date.fromisoformat(stay["check_in_date"]),
        "title": add_member(stay["hotel"]["name"], stay["member"]),
        "about": ", ".join(filter(None, (nights, stay["hotel"]["city"]))),
        "free_until": date.fromisoformat(free) if free else None,
        "cheaper": stay["drop"] is not None,
    }


def _list_watches(answer: Answer) -> Section:
    rows = [describe_route_monitor(monitor) for monitor in answer["monitors"]]
    return Section(True, rows, answer["paging"]["total"] - len(rows))


def _list_notices(answer: Answer) -> Section:
    rows = [
        notice | {"at": datetime.fromisoformat(notice["created_at"]), "page": find_page(notice)}
        for notice in answer["notifications"]
    ]
    return Section(True, rows, answer["paging"]["total"] - len(rows))
