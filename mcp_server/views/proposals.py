"""Rows of a prior search and a client's points go in; the flights, notes and sources of a document come out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mcp_server.toolkit.results import NO_DATA
from shared.documents.recommendation import Flight, Note
from shared.domain import funding
from shared.domain.balances import worth
from shared.domain.funding import Purse, Way
from shared.domain.plurals import some
from shared.errors import Fault, Invalid, Refusal
from shared.reference.load import Reference
from shared.reference.rows import Program

STALE = timedelta(hours=24)
MOST_NOTES = 8
PARTNERS = 6
ALONE = Note("All from the same balances", ("Each programme is reckoned by itself; points can be spent only once.",))
_CLOCK = re.compile(r"(?:T|\b)(\d{2}:\d{2})")
_POSTING = {"instant": "arrives at once", "hours": "arrives within hours", "days": "takes days"}
_BAD_ROWS = 20


def _known(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("is true or false")
    return None if value in (NO_DATA, "") else value


_Known = BeforeValidator(_known)
_Number = Annotated[int, Field(ge=0, le=1_000_000_000)]
_Amount = Annotated[Decimal, Field(ge=0, le=10_000_000, allow_inf_nan=False)]
Text = Annotated[Annotated[str, Field(max_length=120)] | None, _Known]
Texts = Annotated[Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=12)] | None, _Known]
Count = Annotated[_Number | None, _Known]
Sum = Annotated[_Amount | None, _Known]
Iso = Annotated[Annotated[str, Field(pattern=r"^[A-Za-z]{3}$")] | None, _Known]
Flown = Annotated[date | None, _Known]
Moment = Annotated[datetime | None, _Known]
_EXPECTED = {
    "points": "a whole number from 0",
    "seats": "a whole number from 0",
    "stops": "a whole number from 0",
    "taxes": "an amount of money from 0",
    "price": "an amount of money from 0",
    "taxes_currency": "three letters such as USD",
    "currency": "three letters such as USD",
    "date": "a date YYYY-MM-DD that exists",
    "provider_checked_at": "an instant such as 2027-05-12T08:15:00Z",
    "flight_numbers": "a list of texts",
    "carriers": "a list of texts",
}


class FoundFlight(BaseModel):
    """What a document shows of a search's row, award or cash; the rest of the row is left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    origin: Text = None
    destination: Text = None
    date: Flown = None
    cabin: Text = None
    airline: Text = None
    carriers: Texts = None
    program: Text = None
    points: Count = None
    taxes: Sum = None
    taxes_currency: Iso = None
    price: Sum = None
    currency: Iso = None
    seats: Count = None
    stops: Count = None
    flight_numbers: Texts = None
    departs_at: Text = None
    arrives_at: Text = None
    source: Text = None
    mode: Text = None
    provider_checked_at: Moment = None

    @property
    def named(self) -> bool:
        return bool((self.origin and self.destination) or self.airline or self.carriers or self.flight_numbers)


def read_flights(given: Sequence[Mapping[str, Any]], *, sandbox: bool) -> list[FoundFlight]:
    """The rows, each field checked. Raises Invalid that names each bad one, such as flights[3].points."""
    rows: list[FoundFlight] = []
    faults: list[Fault] = []
    for at, raw in enumerate(given):
        try:
            row = FoundFlight.model_validate(raw)
        except ValidationError as error:
            faults += _faults(at, error)
            continue
        if not row.named:
            faults.append(Fault(f"flights[{at}]", "names no flight", "origin and destination, or an airline"))
        if not sandbox and (row.mode == "sandbox" or raw.get("synthetic")):
            faults.append(Fault(f"flights[{at}].mode", "is invented data", "a row of a search in real data"))
        rows.append(row)
    if faults:
        raise Invalid(*faults[:_BAD_ROWS])
    return rows


def _faults(at: int, error: ValidationError) -> list[Fault]:
    names = dict.fromkeys(str(e["loc"][0]) for e in error.errors() if e["loc"])
    return [
        Fault(f"flights[{at}].{n}", "is not of the expected kind", _EXPECTED.get(n, "text of at most 120 letters"))
        for n in names
    ]


@dataclass(frozen=True)
class Client:
    name: str
    balances: Mapping[str, int]


def flight(row: FoundFlight, reference: Reference) -> Flight:
    route = f"{row.origin} \u2192 {row.destination}" if row.origin and row.destination else ""
    times = [m[1] for text in (row.departs_at, row.arrives_at) if text and (m := _CLOCK.search(text))]
    day = f"{row.date:%a} {_day(row.date)}" if row.date else ""
    stops = "" if row.stops is None else {0: "nonstop", 1: "1 stop"}.get(row.stops, f"{row.stops} stops")
    numbers = ", ".join(row.flight_numbers or ())
    cabin = (row.cabin or "").replace("_", " ").capitalize()
    airline = row.airline or next(iter(row.carriers or ()), None)
    checked = f"checked {_moment(row.provider_checked_at)}" if row.provider_checked_at else ""
    cached = "stored result" if row.mode == "cached" else ""
    return Flight(
        route=route or numbers,
        route_more=_joined([day, "\u2013".join(times)], "\n"),
        flown=_airline(airline, reference),
        flown_more=_joined([cabin, stops, numbers if route else ""]),
        program=_program_name(row.program, reference) if row.points is not None or row.program else "Cash fare",
        program_more=_joined([_joined([row.source or "", cached]), checked], "\n"),
        price=_price(row),
        price_more=_joined([_taxes(row), _seats(row.seats)], "\n"),
    )


def _joined(parts: Iterable[str], between: str = " \u00b7 ") -> str:
    return between.join(p for p in parts if p)


def _day(day: date) -> str:
    return f"{day.day}\u00a0{day:%b}\u00a0{day:%Y}"


def _moment(moment: datetime) -> str:
    return f"{_day(moment)} {moment:%H:%M}" + (" UTC" if moment.utcoffset() == timedelta(0) else "")


def _airline(text: str | None, reference: Reference) -> str:
    try:
        return reference.airline(text).name if text else ""
    except Refusal:  # a name nobody knows is shown as it was given
        return text or ""


def _program(text: str | None, reference: Reference) -> Program | None:
    try:
        return reference.program(text) if text else None
    except Refusal:
        return None


def _program_name(text: str | None, reference: Reference) -> str:
    known = _program(text, reference)
    return known.name if known else text or ""


def _price(row: FoundFlight) -> str:
    if row.points is not None:
        return f"{row.points:,} points"
    return _money(row.price, row.currency) if row.price is not None else "price not known"


def _money(amount: Decimal, currency: str | None) -> str:
    return f"{amount:,.2f} {(currency or '').upper()}".strip()


def _taxes(row: FoundFlight) -> str:
    if row.points is None:
        return ""
    return "taxes not known" if row.taxes is None else f"+ {_money(row.taxes, row.taxes_currency)} taxes"


def _seats(seats: int | None) -> str:
    return "" if seats is None else f"{some(seats, 'seat')}"


def notes(rows: Sequence[FoundFlight], client: Client | None, reference: Reference, today: date) -> list[Note]:
    """For each programme of the flights, at its lowest price: what the points are worth and how to come by them."""
    least: dict[str, int] = {}
    for row in rows:
        if row.points and (program := _program(row.program, reference)):
            least[program.slug] = min(least.get(program.slug, row.points), row.points)
    made = []
    for slug, points in list(least.items())[:MOST_NOTES]:
        program = reference.programs[slug]
        lines = [_worth(program, points)] if program.value_usd_cents is not None else []
        lines += _funded(program, points, client, reference, today) if client else _partners(program, reference, today)
        made.append(Note(f"{program.name}: {points:,} {program.currency}", tuple(lines)))
    if client and len(made) > 1:
        made.append(ALONE)
    return made


def _worth(program: Program, points: int) -> str:
    amount = worth(points, program.value_usd_cents or Decimal(0))
    dated = f" of {program.as_of}" if program.as_of else ""
    return f"Worth about {amount:,.0f} USD by published valuations{dated}, an estimate."


def _funded(program: Program, points: int, client: Client, reference: Reference, today: date) -> list[str]:
    """How this client reaches the points: alone from one balance, else from several, else what is missing."""
    known = reference.programs
    purses = [Purse(s, n, known[s].value_usd_cents) for s, n in client.balances.items() if s in known]
    found = funding.ways(reference.routes(today), purses, program.slug, points)
    if not found:
        return [f"None of the balances known to us can become points of {program.name}."]
    best = next((w for w in found if w.covers), None)
    if best:
        return [_way(best, program, reference)]
    if together := funding.combine(found, points, 1):
        return ["From several balances together:", *(_way(w, program, reference) for w in together[0].parts)]
    missing = funding.shortfall(found, points)
    return [f"{missing:,} points stay missing even when every balance that can be transferred is.", _hint(found, known)]


def _hint(found: Sequence[Way], known: Mapping[str, Program]) -> str:
    names = dict.fromkeys(known[w.purse.program].name for w in found)
    return f"Balances that count towards it: {', '.join(names)}."


def _way(way: Way, goal: Program, reference: Reference) -> str:
    source = reference.programs[way.purse.program]
    if way.path is None:
        return f"{way.sent:,} of the {way.purse.points:,} points already with {goal.name}; no transfer is needed."
    edges = way.path.edges
    through = f" by way of {', '.join(reference.programs[e.target].name for e in edges[:-1])}" if edges[1:] else ""
    words = [f"{way.sent:,} {source.name} become {way.delivered:,} points{through}"]
    words.append(", ".join(f"{float(e.ratio_from):g}:{float(e.ratio_to):g}" for e in edges))
    words.append(_POSTING.get(way.posting, "how long it takes is not known"))
    if way.path.bonus_ends_on:
        words.append(f"with a bonus that ends on {_day(way.path.bonus_ends_on)}")
    words += [f"costs a fee: {e.fee}" for e in edges if e.fee]
    return "; ".join(words) + "."


def _partners(program: Program, reference: Reference, today: date) -> list[str]:
    """Bank currencies that become points of the programme, the most generous first."""
    known = reference.programs
    into = [
        e
        for source, edges in reference.routes(today).items()
        if known[source].kind == "bank"
        for e in edges
        if e.target == program.slug
    ]
    if not into:
        return []
    best = sorted(into, key=lambda e: (-e.yields, e.source))[:PARTNERS]
    listed = [f"{known[e.source].name} ({float(e.ratio_from):g}:{float(e.ratio_to):g})" for e in best]
    more = f" and {len(into) - len(best)} more" if len(into) > len(best) else ""
    return [f"Points can be transferred in from {', '.join(listed)}{more}."]


def sources(rows: Sequence[FoundFlight], client: Client | None, reference: Reference, today: date) -> list[str]:
    """Where seats, valuations and ratios are from."""
    asked = sorted({row.source for row in rows if row.source})
    out = [f"Seats and prices: {', '.join(asked)}."] if asked else []
    priced = {p.slug: p for row in rows if row.points and (p := _program(row.program, reference))}
    valued = [p for p in priced.values() if p.value_usd_cents is not None]
    if valued:
        out.append(f"Valuations: {_places((p.source_url, p.as_of) for p in valued)}.")
    held = set(client.balances) if client else {s for s, p in reference.programs.items() if p.kind == "bank"}
    routes = reference.routes(today)
    used = [e for source in held for e in routes.get(source, ()) if e.target in priced]
    if used:
        out.append(f"Transfer ratios: {_places((e.source_url, e.as_of) for e in used)}.")
    return out


def _places(facts: Iterable[tuple[str, str | None]]) -> str:
    """Each site once, with the oldest date its facts bear."""
    oldest: dict[str, str | None] = {}
    for url, day in sorted(facts, key=lambda f: (f[1] is None, f[1] or "")):
        oldest.setdefault(_site(url), day)
    return ", ".join(f"{site} ({day})" if day else site for site, day in oldest.items())


def _site(url: str) -> str:
    """The host; where many publishers share one, with the names of publisher and work."""
    parts = urlsplit(url)
    host = (parts.hostname or url).removeprefix("www.")
    return "/".join([host, *parts.path.split("/")[1:3]]) if host == "github.com" else host


def stale(rows: Sequence[FoundFlight], now: datetime) -> list[str]:
    """Names of the rows whose seats were last looked at more than a day ago."""
    return [
        f"flights[{at}]"
        for at, row in enumerate(rows)
        if (seen := row.provider_checked_at) and seen.utcoffset() is not None and now - seen > STALE
    ]
