"""Search on the web: a form for a route and a month, and the award seats of the month as a calendar."""

from asyncio import gather
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode

from auth_server.pages import connections
from auth_server.pages.flight_drawings import draw_ways
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.tool_calls import look, read_faults, read_usual, search
from auth_server.pages.watch_lines import describe_route_monitor
from auth_server.web.outcomes import FlowResult, Page
from shared import clock
from shared.domain.dates import add_months, find_month_bounds
from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.domain.plans import CABINS
from shared.domain.source_names import name_source

# A month: award prices by day and cabin, from a search of the month or from what was seen before.

OLD = timedelta(hours=24)
# The upper bound of each shade, as a multiple of the cabin's best price.
_SHADES = ((1.1, "c1"), (1.25, "c2"), (1.6, "c3"))
_Key = tuple[date, str]
State = Literal["none", "unknown", "past"]


@dataclass(frozen=True)
class Price:
    """The lowest price of a day and cabin, per person."""

    points: int
    is_old: bool = False


@dataclass(frozen=True)
class Cell:
    """`kind` is a class of site.css; `words` the price in thousand points, or what the cell means without one."""

    cabin: str
    kind: str
    words: str
    points: int | None = None


@dataclass(frozen=True)
class Way:
    """A route that is watched, with the query that shows its month."""

    title: str
    find: str
    query: str
    ends: tuple[str, str]


@dataclass(frozen=True)
class Row:
    day: date
    cells: tuple[Cell, ...]


def build_searched(answer: Mapping[str, Any], month: str, today: date) -> list[Row]:
    """Builds it from an answer of search_monthly_availability, which leaves out past days."""
    prices: dict[_Key, Price] = {}
    states: dict[_Key, State] = {}
    has_failed = bool(answer["coverage"]["failed"])
    for row in answer["days"]:
        day = date.fromisoformat(row["date"])
        is_unknown = row["state"] == "unknown" or has_failed  # a source that did not answer may have the other cabins
        for cabin in answer["asked"]["cabins"]:
            states[day, cabin] = "unknown" if is_unknown else "none"
            if cabin in row["cabins"]:
                prices[day, cabin] = Price(row["cabins"][cabin]["points"])
    return _build_rows(month, today, prices, states)


def build_seen(flights: Iterable[Mapping[str, Any]], month: str, passengers: int, now: datetime) -> list[Row]:
    """Builds it from rows of list_flights: a day without one may never have been looked at."""
    prices: dict[_Key, Price] = {}
    for flight in flights:
        if flight["seats"] is not None and flight["seats"] < passengers:
            continue
        place = (date.fromisoformat(flight["date"]), flight["cabin"])
        price = Price(flight["points"], now - datetime.fromisoformat(flight["seen_at"]) > OLD)
        if place not in prices or price.points < prices[place].points:
            prices[place] = price
    return _build_rows(month, now.date(), prices, {})


def _build_rows(month: str, today: date, prices: Mapping[_Key, Price], states: Mapping[_Key, State]) -> list[Row]:
    first, last = find_month_bounds(month)
    best = {cabin: min((p.points for (_, c), p in prices.items() if c == cabin), default=0) for cabin in CABINS}
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]

    def build_cell(day: date, cabin: str) -> Cell:
        price = prices.get((day, cabin))
        if price is not None:
            shade = next((shade for most, shade in _SHADES if price.points <= best[cabin] * most), "c4")
            return Cell(cabin, "old" if price.is_old else shade, format_thousands(price.points), price.points)
        state = "past" if day < today else states.get((day, cabin), "unknown")
        return Cell(cabin, "c0" if state == "none" else "cu", state)

    return [Row(day, tuple(build_cell(day, cabin) for cabin in CABINS)) for day in days]


def format_thousands(points: int) -> str:
    """`60`, `32.5`, `147`: in thousands, to the nearest hundred below 100,000, because a cell is narrow."""
    return f"{round(points / 1000, 1 if points < 99_950 else 0):g}"


PATH = "/dashboard/search"
FIELDS = ("origin", "destination", "airline", "month", "passengers")
REFRESH_SECONDS, MAX_LOOKS = 2, 45  # then it waits for a click (WCAG 2.2.1); no search takes longer
MAX_NAME = 60  # characters
MONTHS_AHEAD = 12
MAX_WAYS = 5  # watched routes next to the form
PARTIES = [(str(n), "1 person" if n == 1 else f"{n} people") for n in range(1, 10)]
CABIN_WORDS = [(cabin, cabin.replace("_", " ").capitalize()) for cabin in CABINS]
NO_ANSWER = "The search did not answer in time. It is no sign that seats are missing; please try again in a moment."


def read_query(member: Member, names: tuple[str, ...]) -> dict[str, str]:
    return {name: (member.data.query_value(name) or "").strip()[:MAX_NAME] for name in names}


def read_passengers(typed: Mapping[str, str]) -> int | str:
    """Reads a number the tools accept, or text they refuse."""
    text = typed["passengers"] or "1"
    try:
        number: int = read_number(text, is_whole=True)
    except UnreadNumber:
        return text
    return number


def wait_for_answer(member: Member, path: str, query: Mapping[str, str], words: str) -> Page:
    """Shows a page that refreshes itself, with the address that will show the answer."""
    look = member.data.query_value("look") or "1"
    count = int(look) if look.isascii() and look.isdigit() and len(look) < 4 else 0
    looks = 0 < count < MAX_LOOKS
    to = f"{path}?{urlencode({name: value for name, value in query.items() if value})}"
    page = member.show("search_waiting.html", words=words, to=to, looks=looks, seconds=REFRESH_SECONDS)
    page.refresh = f"{REFRESH_SECONDS}; url={to}&look={count + 1}" if looks else None
    return page


async def show(member: Member) -> FlowResult:
    typed = read_query(member, FIELDS)
    typed["month"] = typed["month"] or f"{add_months(clock.today(), 1):%Y-%m}"
    if not (typed["origin"] or typed["destination"]):
        usual, watched = await gather(read_usual(member), look(member, "list_route_monitors", per_page=MAX_WAYS))
        typed |= {name: typed[name] or usual.get(name, "") for name in ("origin", "passengers")}
        ways = [_describe_way(monitor) for monitor in watched.get("monitors", ())]
        drawing = await draw_ways(member, [way.ends for way in ways])
        return _show_form(member, typed, usual_cabin=usual.get("cabin", ""), ways=ways, map=drawing)
    missing = {name: "Enter an airport or a city." for name in ("origin", "destination") if not typed[name]}
    if missing:
        return _show_form(member, typed, missing)
    if not _is_month(typed["month"]):
        return _show_form(member, typed, {"month": "Choose one of the months."})
    return await (_search_month(member, typed) if typed["airline"] else _look_at_seen(member, typed))


def _describe_way(monitor: Mapping[str, Any]) -> Way:
    """The month in which the watch begins."""
    line, ends = describe_route_monitor(monitor), (monitor["origin"], monitor["destination"])
    month = max(monitor["earliest_date"][:7], f"{clock.today():%Y-%m}")
    query = {"origin": ends[0], "destination": ends[1], "month": month, "passengers": monitor["passengers"]}
    cabin = {"cabin": monitor["cabin"]} if monitor["cabin"] else {}
    airline = {"airline": monitor["airlines"][0]} if len(monitor["airlines"] or ()) == 1 else {}
    return Way(line.title, line.find, urlencode(query | cabin | airline), ends)


async def _search_month(member: Member, typed: dict[str, str]) -> FlowResult:
    arguments: dict[str, Any] = {name: typed[name] for name in ("origin", "destination", "airline", "month")}
    arguments |= {"passengers": read_passengers(typed), "detail": "full"}
    answer = await search(member, "search_monthly_availability", **arguments)
    if answer.is_waiting:
        words = f"Looking at each day of {dict(list_months())[typed['month']]} for {typed['airline']}."
        return wait_for_answer(member, PATH, typed, words)
    if answer.status == "paywall":
        return await _look_at_seen(member, typed, "The calendar of a whole month is part of the Premium plan.")
    if not answer:
        return _show_form(member, typed, {"": NO_ANSWER})
    if not answer.get("days"):
        is_unconnected = answer.status == "connection_required"
        faults = read_faults(answer) or {"": str(answer["message"])}
        return _show_form(member, typed, faults, connect=connections.PATH if is_unconnected else "")
    question = answer["asked"]
    route = {"origin": question["origin"], "destination": question["destination"], "airline": question["airline"]}
    rows = build_searched(answer, typed["month"], clock.today())
    return _show_rows(member, typed, rows, route, message=answer["message"], freshness=_read_freshness(answer))


def _is_month(text: str) -> bool:
    return text in dict(list_months())


def list_months() -> list[tuple[str, str]]:
    first = clock.today().replace(day=1)
    months = (add_months(first, n) for n in range(MONTHS_AHEAD + 1))
    return [(f"{month:%Y-%m}", f"{month:%b %Y}") for month in months]


def _show_form(
    member: Member, typed: Mapping[str, str], faults: Mapping[str, str] | None = None, **context: Any
) -> FlowResult:
    form: dict[str, Any] = {
        "typed": typed,
        "faults": faults or {},
        "months": list_months(),
        "rows": None,
        "paywall": "",
    }
    form |= {"parties": PARTIES, "cabins": CABIN_WORDS, "today": clock.today()}
    form |= {"connect": "", "ways": (), "map": "", "usual_cabin": member.data.query_value("cabin") or ""}
    return member.show("search.html", 422 if faults else 200, **form | context)


def _read_freshness(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The source, when it was asked, when it looked itself, and who did not answer."""
    freshness = answer["freshness"]
    moments = {
        name: datetime.fromisoformat(freshness[name]) if freshness[name] else None
        for name in ("fetched_at", "provider_checked_at")
    }
    failed = [name_source(row["name"]) for row in answer["coverage"]["failed"]]
    return moments | {"source": name_source(freshness["source"]), "failed": failed}


async def _look_at_seen(member: Member, typed: dict[str, str], paywall: str = "") -> FlowResult:
    """Reads what was seen in the last 14 days: the cheapest hundred of each cabin, which costs no search."""
    names = ("origin", "destination", "airline", "month")
    arguments: dict[str, Any] = {name: typed[name] for name in names if typed[name]}
    arguments |= {"sort": "points", "per_page": 100, "detail": "full"}
    answers = await gather(*(look(member, "list_flights", **arguments, cabin=cabin) for cabin in CABINS))
    bad = next((answer for answer in answers if not answer.is_good), None)
    if bad is not None:
        return _show_form(member, typed, read_faults(bad) if bad else {"": NO_ANSWER})
    passengers = read_passengers(typed)
    if not isinstance(passengers, int) or not 0 < passengers < 10:
        return _show_form(member, typed, {"passengers": "Choose one to nine."})
    flights = [flight for answer in answers for flight in answer.get("flights", ())]
    rows = build_seen(flights, typed["month"], passengers, clock.now()) if flights else []
    is_cut = any(answer["paging"]["has_more"] for answer in answers if "paging" in answer)
    route = {name: typed[name] for name in ("origin", "destination", "airline")}
    return _show_rows(member, typed, rows, route, paywall=paywall, is_seen=True, is_cut=is_cut)


def _show_rows(
    member: Member, typed: Mapping[str, str], rows: list[Row], route: Mapping[str, str], **context: Any
) -> FlowResult:
    """Shows one cabin as a calendar; the others are a click away, each with its best price."""
    query = urlencode({name: value for name, value in route.items() if value} | _name_party(typed))
    first = date.fromisoformat(f"{typed['month']}-01")
    cabin = _choose_cabin(member.data.query_value("cabin") or "", rows)
    own = {name: value for name, value in typed.items() if value} | {"cabin": cabin}
    months = [f"{add_months(first, n):%Y-%m}" for n in (-1, 1)]
    months_around = [
        (dict(list_months())[month], urlencode(own | {"month": month})) for month in months if _is_month(month)
    ]
    views = [(name, words, _find_best(rows, name), urlencode(own | {"cabin": name})) for name, words in CABIN_WORDS]
    frame: dict[str, Any] = {
        "rows": rows,
        "route": route,
        "query": query,
        "months_around": months_around,
        "views": views,
    }
    frame |= {"first": first, "cabin": cabin, "weeks": _group_by_week(rows, cabin), "party": read_passengers(typed)}
    frame |= {"watch": _write_watch(typed, route), "format_thousands": format_thousands}
    priced = [(row, cell) for row in rows for cell in row.cells if cell.cabin == cabin and cell.points]
    frame["best"] = min(priced, key=lambda pair: pair[1].points or 0, default=None)
    frame |= {"message": "", "freshness": None, "is_seen": False, "is_cut": False}
    return _show_form(member, typed, **frame | context)


def _choose_cabin(asked: str, rows: Sequence[Row]) -> str:
    """The requested cabin; else business or the first cabin with a price."""
    if asked in CABINS:
        return asked
    order = ("business", *(cabin for cabin in CABINS if cabin != "business"))
    return next((cabin for cabin in order if _find_best(rows, cabin)), "economy")


def _find_best(rows: Iterable[Row], cabin: str) -> int | None:
    """The lowest price of the month for one person."""
    return min((cell.points for row in rows for cell in row.cells if cell.cabin == cabin and cell.points), default=None)


def _group_by_week(rows: Sequence[Row], cabin: str) -> list[list[tuple[Row, Cell] | None]]:
    """Weeks of seven days from Monday; None for days of other months."""
    days: list[tuple[Row, Cell] | None] = [None for _ in range(rows[0].day.weekday() if rows else 0)]
    days += [(row, next(cell for cell in row.cells if cell.cabin == cabin)) for row in rows]
    days += [None for _ in range(-len(days) % 7)]
    return [days[n : n + 7] for n in range(0, len(days), 7)]


def _write_watch(typed: Mapping[str, str], route: Mapping[str, str]) -> str:
    """The query of the form for a watch of the month, which takes codes: other text is left to be typed there."""
    first, last = find_month_bounds(typed["month"])
    codes = {name: route[name].upper() for name in ("origin", "destination") if len(route[name]) == 3}
    days = {"earliest_date": f"{max(first, clock.today())}", "latest_date": f"{last}"}
    return urlencode(codes | days | _name_party(typed) | ({"airlines": route["airline"]} if route["airline"] else {}))


def _name_party(typed: Mapping[str, str]) -> dict[str, str]:
    return {"passengers": typed["passengers"]} if typed["passengers"] not in ("", "1") else {}


ROUTES = [get_for_member(PATH, show)]
