"""Home: the next flight, what the points are worth, what to do next, what ends in a year, and what is watched."""

import re
from asyncio import gather
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.pages.booking_timeline import END_OF_DAY, FLIGHTS, STAYS, describe_times
from auth_server.pages.deadlines import name_credits, sum_credits
from auth_server.pages.flight_drawings import DrawnBooking, draw_flight
from auth_server.pages.landing import read_answer
from auth_server.pages.member import Member
from auth_server.pages.search import PATH as SEARCH
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.trips import PATH as TRIPS_PATH
from auth_server.pages.watch_lines import describe_route_monitor
from auth_server.web.charts import Chart, Points, draw_line
from auth_server.web.outcomes import FlowResult
from auth_server.web.year_of_dots import Ending, draw_year
from shared import clock
from shared.db.oauth import Client, Family
from shared.db.worth_days import list_worth
from shared.domain.dates import add_months
from shared.domain.deadlines import weigh_stake
from shared.domain.household import add_member
from shared.domain.party_prices import format_money
from shared.domain.plans import Plan

YEAR_DAYS, WITHIN_DAYS = 366, 90
MAX_BALANCES, MAX_TASKS = 8, 5
MAX_BOOKINGS, MAX_WATCHES = 5, 4
MAX_STAYS = 20  # whose free cancellation is among the deadlines
# Journeys are listed with the bookings, and their deadlines are read from there.
KINDS = ("points", "voucher", "status", "card_bonus", "card_credit", "annual_fee", "transfer_bonus")
# Each part of the page: the tool that answers it, and with which arguments.
LOOKS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "balances": ("list_points_balances", {}),
    "deadlines": ("list_upcoming_deadlines", {"within_days": YEAR_DAYS, "kinds": KINDS}),
    "cards": ("list_my_cards", {"include_closed": False, "per_page": 1}),
    "flights": ("list_flight_bookings", {"when": "upcoming", "per_page": MAX_BOOKINGS}),
    "stays": ("list_hotel_bookings", {"when": "upcoming", "per_page": MAX_STAYS}),
    "watches": ("list_route_monitors", {"per_page": MAX_WATCHES}),
}


# The page for each deadline, and the label of the next step.
STEPS = {
    "points": ("/dashboard/balances", ""),
    "voucher": ("/dashboard/vouchers", ""),
    "status": ("/dashboard/statuses", ""),
    "card_bonus": ("/dashboard/cards", ""),
    "card_credit": ("/dashboard/cards", "Tick off"),
    "annual_fee": ("/dashboard/cards", ""),
    "transfer_bonus": ("/dashboard/search", ""),
    "stay": ("/dashboard/bookings", ""),
}


@dataclass(frozen=True)
class Section:
    """One card of the page: the rows it shows, and how many there are next to them. It says if there is no answer."""

    answered: bool
    rows: Sequence[Any] = ()
    more: int = 0


@dataclass(frozen=True)
class Task:
    """What is due on a day. Credits of one day are one task: ten equal rows are one row."""

    day: date
    days_left: int
    title: str
    about: str
    page: str
    step: str
    at_stake: float  # in the currency of the page
    slug: str = ""  # of the programme whose mark is shown


@dataclass(frozen=True)
class NextFlight:
    """The next flight of the person or a member."""

    booking: DrawnBooking
    days: int
    page: str


def _is_connected(db: Session, account_id: int) -> bool:
    """Whether an application was allowed to use the account and still may."""
    active = (Family.account_id == account_id, Family.revoked_at.is_(None), Client.kind != "service")
    query = select(Family.id).join(Client, Client.client_id == Family.client_id).where(*active).limit(1)
    return db.scalar(query) is not None


async def show(member: Member) -> FlowResult:
    looks = gather(*(look(member, tool, **arguments) for tool, arguments in LOOKS.values()))
    own = member.transact(lambda db: (_is_connected(db, member.account.id), list_worth(db, member.account.id)))
    (connected, worth_days), parts = await gather(own, looks)
    answers = dict(zip(LOOKS, parts, strict=True))
    holds = _has_rows(answers, ("balances", "balances"), ("cards", "cards"))
    steps = [connected, holds, _has_rows(answers, ("watches", "monitors"))]
    worth = _sum_worth(answers["balances"])
    tasks = _list_tasks(answers, worth["currency"] if worth else "USD")
    return member.show(
        "portfolio.html",
        steps=None if None in steps or all(steps) else steps,
        worth=worth,
        worth_line=_draw_worth(worth_days),
        next=await _find_next_flight(member, answers["flights"]),
        balances=_read(answers["balances"], _list_balances),
        tasks=_choose_tasks(tasks) if answers["deadlines"].is_good else Section(answered=False),
        year=draw_year([Ending(t.day, t.at_stake, _name(t)) for t in tasks], clock.today()),
        bookings=_merge_bookings(answers["flights"], answers["stays"]),
        watches=_read(answers["watches"], _list_watches),
        today=clock.today(),
        answer=None if worth or not steps or _has_rows(answers, ("flights", "bookings")) else read_answer(),
        example=_write_example(member.plan),
    )


def _write_example(plan: Plan) -> str:
    """A search that answers at once: of a month, or of a day where the plan has no months."""
    first = add_months(clock.today(), 3).replace(day=1)
    of_month = f"{SEARCH}?origin=SFO&destination=NRT&airline=UA&month={first:%Y-%m}&passengers=2"
    return of_month if plan >= Plan.PREMIUM else f"{SEARCH}/day?origin=SFO&destination=NRT&airline=UA&day={first}"


async def _find_next_flight(member: Member, answer: Answer) -> NextFlight | None:
    """The first that is not flown yet, with its map."""
    flight = next((row for row in answer.get("bookings", ()) if row["state"] == "upcoming"), None)
    if flight is None:
        return None
    trip, day = flight["workspace_trip_id"], date.fromisoformat(flight["departure_date"])
    page = f"{TRIPS_PATH}/{trip}" if trip else f"{FLIGHTS}/{flight['booking_id']}"
    return NextFlight(await draw_flight(member, flight), (day - clock.today()).days, page)


def _has_rows(answers: Mapping[str, Answer], *names: tuple[str, str]) -> bool | None:
    if any(answers[name].get(rows) for name, rows in names):
        return True
    return False if all(answers[name].is_good for name, _ in names) else None


def _read(answer: Answer, rows: Callable[[Answer], Section]) -> Section:
    return rows(answer) if answer.is_good else Section(answered=False)


def _sum_worth(answer: Answer) -> dict[str, Any] | None:
    """The estimated worth of all points with its parts by kind; None without points, or without an answer."""
    if not answer.get("balances") or not answer["total_value"]["amount"]:
        return None
    programs = len({balance["program"] for balance in answer["balances"]})
    members = [total["member"] for total in answer["by_member"] if total["member"]]
    parts = Counter[str]()
    for balance in answer["balances"]:
        parts[balance["kind"]] += _get_worth(balance)  # type: ignore[assignment]
    return dict(answer["total_value"]) | {"programs": programs, "members": members, "parts": parts.most_common(3)}


def _draw_worth(days: Points) -> Chart | None:
    """Draws what the points were worth over time; nothing for a single day."""
    if len(days) < 2:
        return None
    return draw_line(days, "Worth in US dollars", format_value=lambda value: format_money(Decimal(value), "USD"))


def _list_balances(answer: Answer) -> Section:
    rows = sorted(answer["balances"], key=lambda b: (b["days_left"] is None, -_get_worth(b), b["name"]))
    return Section(True, rows[:MAX_BALANCES], len(rows[MAX_BALANCES:]))


def _get_worth(balance: Mapping[str, Any]) -> float:
    return float(balance["value"]["amount"]) if balance["value"] else 0.0


def _list_tasks(answers: Mapping[str, Answer], currency: str) -> list[Task]:
    """What ends within a year, soonest first, and the free cancellation of the next stays."""
    rows = answers["deadlines"].get("deadlines", ())
    credits = [row for row in rows if row["kind"] == "card_credit"]
    tasks = [_describe_task(row, currency) for row in rows if row["kind"] != "card_credit"]
    tasks += [_join_credits(list(run), currency) for _, run in groupby(credits, key=lambda row: str(row["due_on"]))]
    tasks += [task for stay in answers["stays"].get("bookings", ()) if (task := _describe_free_cancellation(stay))]
    return sorted(tasks, key=lambda task: (task.day, task.title))


def _describe_task(row: Mapping[str, Any], currency: str) -> Task:
    page, step = STEPS[row["kind"]]
    day, value = date.fromisoformat(row["due_on"]), row["value_at_risk"]
    counts = value is not None and value["currency"] == currency
    slug = str(row["subject"]["id"]).partition(" ")[0] if row["kind"] == "points" else ""
    about = format_money(value["amount"], value["currency"]) if value else ""
    return Task(day, row["days_left"], row["title"], about, page, step, float(value["amount"]) if counts else 0.0, slug)


def _join_credits(rows: Sequence[Mapping[str, Any]], currency: str) -> Task:
    """Joins credits of one day: their sum in the page's currency, and the first names."""
    page, step = STEPS["card_credit"]
    sums = sum_credits(rows)
    names = [row["title"].partition(": ")[0] for row in rows]
    first, day = rows[0], date.fromisoformat(rows[0]["due_on"])
    if len(rows) == 1:
        title, about = f"{names[0]} ends", ""
    else:
        title = name_credits(sums)
        about = f"{names[0]} and {len(rows) - 1} more"
    about = about or format_money(first["amount"], first["currency"])
    return Task(day, first["days_left"], title, about, page, step, float(sums.get(currency, 0)))


def _describe_free_cancellation(stay: Mapping[str, Any]) -> Task | None:
    if stay["free_cancellation_until"] is None:
        return None
    day = date.fromisoformat(stay["free_cancellation_until"])
    days_left = (day - clock.today()).days
    title = f"Free cancellation of {add_member(stay['hotel']['name'], stay['member'])} ends"
    return Task(day, days_left, title, "", *STEPS["stay"], 0.0) if 0 <= days_left <= WITHIN_DAYS else None


def _choose_tasks(tasks: Sequence[Task]) -> Section:
    """The tasks of the next 90 days, the most urgent first."""
    near = [task for task in tasks if task.days_left <= WITHIN_DAYS]
    near.sort(key=lambda t: (-weigh_stake(Decimal(t.at_stake), t.days_left), t.day, t.title))
    return Section(True, near[:MAX_TASKS], len(near[MAX_TASKS:]))


def _name(task: Task) -> str:
    """The label of a dot: points by programme, and their worth."""
    name = re.sub(r"^[\d,]+ (.+?)( points| miles)?( of .+)? expire.*$", r"\1", task.title)
    return f"{name} {task.about}" if task.slug and len(name) < 24 else ""


def _merge_bookings(flights: Answer, stays: Answer) -> Section:
    """Merges the next flights and stays by time; shows whichever of the two answered."""
    if not (flights.is_good or stays.is_good):
        return Section(answered=False)
    rows = [*map(_describe_flight, flights.get("bookings", ())), *map(_describe_stay, stays.get("bookings", ()))]
    rows.sort(key=lambda row: (row["day"], row["time"], row["title"]))
    total = sum(answer["paging"]["total"] for answer in (flights, stays) if answer.is_good)
    return Section(True, rows[:MAX_BOOKINGS], total - len(rows[:MAX_BOOKINGS]))


def _describe_flight(flight: Mapping[str, Any]) -> dict[str, Any]:
    facts = (
        flight["flight_number"] or flight["airline"],
        describe_times(flight),
        flight["cabin_class"].replace("_", " "),
    )
    return {
        "day": date.fromisoformat(flight["departure_date"]),
        "time": flight["departure_time"] or END_OF_DAY,
        "title": add_member(f"{flight['origin']} to {flight['destination']}", flight["member"]),
        "about": ", ".join(fact for fact in facts if fact),
        "slug": flight["airline"],
        "page": f"{FLIGHTS}/{flight['booking_id']}",
        "free_until": None,
        "cheaper": False,
    }


def _describe_stay(stay: Mapping[str, Any]) -> dict[str, Any]:
    nights = f"{stay['nights']} night{'' if stay['nights'] == 1 else 's'}"
    free = stay["free_cancellation_until"]
    return {
        "day": date.fromisoformat(stay["check_in_date"]),
        "time": END_OF_DAY,
        "title": add_member(stay["hotel"]["name"], stay["member"]),
        "about": ", ".join(filter(None, (nights, stay["hotel"]["city"]))),
        "slug": stay["hotel"]["chain"] or "",
        "page": f"{STAYS}/{stay['booking_id']}",
        "free_until": date.fromisoformat(free) if free else None,
        "cheaper": stay["drop"] is not None,
    }


def _list_watches(answer: Answer) -> Section:
    rows = [describe_route_monitor(monitor) for monitor in answer["monitors"]]
    return Section(True, rows, answer["paging"]["total"] - len(rows))
