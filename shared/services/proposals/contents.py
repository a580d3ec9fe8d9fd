"""Contents of an advisor's document: flights, what each price means for the client, and the sources."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from urllib.parse import urlsplit

from shared.documents.recommendation import Flight, Note
from shared.domain import transfer_options
from shared.domain.balances import value_balance
from shared.domain.dates import format_iso_day
from shared.domain.flight_times import format_flight_times
from shared.domain.funding import Funds, find_payment
from shared.domain.party_prices import describe_party
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import Edge
from shared.errors import Refusal
from shared.reference.load import Reference
from shared.reference.rows import Program
from shared.reference.transfer_rates import describe_all_rates, format_ratio
from shared.services.proposals.flight_rows import FlightRow

STALE_AFTER = timedelta(hours=24)
MAX_NOTES = 8
MAX_PARTNERS = 6
SHARED_BALANCES = Note(
    "All from the same balances",
    ("Each programme is worked out on its own. The same points can be spent only once.",),
)
_POSTING_TIMES = {"instant": "arrives at once", "hours": "arrives within hours", "days": "takes days"}


@dataclass(frozen=True)
class Client:
    name: str
    balances: Mapping[str, int]


def describe_flight(row: FlightRow, reference: Reference) -> Flight:
    route = f"{row.origin} \u2192 {row.destination}" if row.origin and row.destination else ""
    times = format_flight_times(row.departs_at, row.arrives_at, "\u2013")
    day = f"{row.date:%a} {_format_day(row.date)}" if row.date else ""
    stops = "" if row.stops is None else pluralize(row.stops, "stop") if row.stops else "nonstop"
    numbers = ", ".join(row.flight_numbers or ())
    cabin = (row.cabin or "").replace("_", " ").capitalize()
    airline = row.airline or next(iter(row.carriers or ()), None)
    checked = f"checked {_format_moment(row.provider_checked_at)}" if row.provider_checked_at else ""
    cached = "stored result" if row.mode == "cached" else ""
    return Flight(
        route=route or numbers,
        route_more=_join([day, times], "\n"),
        flown=_airline_name(airline, reference),
        flown_more=_join([cabin, stops, numbers if route else ""]),
        program=_program_name(row.program, reference) if row.points is not None or row.program else "Cash fare",
        program_more=_join([_join([row.source or "", cached]), checked], "\n"),
        price=_describe_price(row),
        price_more=_join([_describe_party(row), _describe_taxes(row), _describe_seats(row.seats)], "\n"),
    )


def _join(parts: Iterable[str], between: str = " \u00b7 ") -> str:
    return between.join(p for p in parts if p)


def _format_day(day: date) -> str:
    return f"{day.day}\u00a0{day:%b}\u00a0{day:%Y}"


def _format_moment(moment: datetime) -> str:
    return f"{_format_day(moment)} {moment:%H:%M}" + (" UTC" if moment.utcoffset() == timedelta(0) else "")


def _airline_name(text: str | None, reference: Reference) -> str:
    try:
        return reference.airline(text).name if text else ""
    except Refusal:  # an unknown name is shown as it came
        return text or ""


def _find_program(text: str | None, reference: Reference) -> Program | None:
    try:
        return reference.program(text) if text else None
    except Refusal:
        return None


def _program_name(text: str | None, reference: Reference) -> str:
    program = _find_program(text, reference)
    return program.name if program else text or ""


def _describe_price(row: FlightRow) -> str:
    if row.points is not None:
        return f"{pluralize(row.points, 'point')} {_each(row)}"
    return _format_money(row.price, row.currency) if row.price is not None else "price not known"


def _format_money(amount: Decimal, currency: str | None) -> str:
    return f"{amount:,.2f} {(currency or '').upper()}".strip()


def _each(row: FlightRow) -> str:
    return "each" if row.passengers > 1 else "per person"


def _describe_party(row: FlightRow) -> str:
    """The points of everybody; of a fare that its price is for everybody."""
    if row.points is None:
        return "" if row.price is None else "for all travellers"
    return f"{row.points * row.passengers:,} for {describe_party(row.passengers)}" if row.passengers > 1 else ""


def _describe_taxes(row: FlightRow) -> str:
    if row.points is None:
        return ""
    if row.taxes is None:
        return "taxes not known"
    taxes = f"+ {_format_money(row.taxes, row.taxes_currency)} taxes {_each(row)}"
    return f"{taxes}, {row.taxes * row.passengers:,.2f} in all" if row.passengers > 1 else taxes


def _describe_seats(seats: int | None) -> str:
    return "" if seats is None else pluralize(seats, "seat")


def build_notes(rows: Sequence[FlightRow], client: Client | None, reference: Reference, today: date) -> list[Note]:
    """For each programme of the flights, at its lowest price: what the points are worth and how to come by them.

    The points are those of the party, where the rows tell how many travel.
    """
    lowest: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.points and (program := _find_program(row.program, reference)):
            price = (row.points, row.passengers)
            lowest[program.slug] = min(lowest.get(program.slug, price), price)
    notes = []
    for slug, (each, passengers) in list(lowest.items())[:MAX_NOTES]:
        program, points = reference.programs[slug], each * passengers
        lines = [_describe_worth(program, points)] if program.value_usd_cents is not None else []
        lines += (
            _describe_funding(program, points, client, reference, today)
            if client
            else _list_partners(program, reference, today)
        )
        party = f" for {describe_party(passengers)}" if passengers > 1 else " per person"
        notes.append(Note(f"{program.name}: {points:,} {program.currency}{party}", tuple(lines)))
    if client and len(notes) > 1:
        notes.append(SHARED_BALANCES)
    return notes


def _describe_worth(program: Program, points: int) -> str:
    amount = value_balance(points, program.value_usd_cents or Decimal(0))
    dated = f" of {format_iso_day(program.as_of)}" if program.as_of else ""
    return f"Worth about {amount:,.0f} USD by published valuations{dated}, an estimate."


def _describe_funding(program: Program, points: int, client: Client, reference: Reference, today: date) -> list[str]:
    """How this client reaches the points: by the fastest transfers that cover them, else what is missing."""
    programs = reference.programs
    purses = [Purse(s, n, programs[s].value_usd_cents) for s, n in client.balances.items() if s in programs]
    ways = transfer_options.find_ways(reference.routes(today), purses, program.slug, points)
    if not ways:
        return [f"None of the balances known to us can become points of {program.name}."]
    if payments := find_payment({program.slug: points}, Funds(reference.routes(today), purses)):
        words = [_describe_way(w, program, reference) for w in payments[program.slug]]
        return words if len(words) == 1 else ["From several balances together:", *words]
    missing = transfer_options.find_shortfall(ways, points)
    return [
        f"{pluralize(missing, 'point')} stay missing even when every balance that can be transferred is.",
        _list_counting_balances(ways, programs),
    ]


def _list_counting_balances(ways: Sequence[Way], programs: Mapping[str, Program]) -> str:
    names = dict.fromkeys(programs[w.purse.program].name for w in ways)
    return f"Balances that count towards it: {', '.join(names)}."


def _describe_way(way: Way, goal: Program, reference: Reference) -> str:
    source = reference.programs[way.purse.program]
    if way.path is None:
        balance = pluralize(way.purse.points, "point")
        return f"{way.points_sent:,} of the {balance} already with {goal.name}; no transfer is needed."
    edges = way.path.edges
    through = f" by way of {', '.join(reference.programs[e.target].name for e in edges[:-1])}" if edges[1:] else ""
    words = [f"{way.points_sent:,} {source.name} become {pluralize(way.points_delivered, 'point')}{through}"]
    words.append(", ".join(format_ratio(e) for e in edges))
    words.append(_POSTING_TIMES.get(way.posting, "how long it takes is not known"))
    if way.path.bonus_ends_on:
        words.append(f"with a bonus that ends on {_format_day(way.path.bonus_ends_on)}")
    words += [f"costs a fee: {e.fee}" for e in edges if e.fee]
    return " ".join(["; ".join(words) + ".", *describe_all_rates(reference, edges)])


def _list_partners(program: Program, reference: Reference, today: date) -> list[str]:
    """Bank currencies that become points of the programme, the most generous first."""
    programs = reference.programs
    into = [
        e
        for source, edges in reference.routes(today).items()
        if programs[source].kind == "bank"
        for e in edges
        if e.target == program.slug
    ]
    if not into:
        return []
    best = sorted(into, key=lambda e: (-e.yields, e.source))[:MAX_PARTNERS]
    listed = [f"{programs[e.source].name} ({_list_ratios(e)})" for e in best]
    more = f" and {len(into) - len(best)} more" if len(into) > len(best) else ""
    return [f"Points can be transferred in from {', '.join(listed)}{more}."]


def _list_ratios(edge: Edge) -> str:
    return f"{' or '.join(map(format_ratio, edge.rates))} by card" if edge.rates else format_ratio(edge)


def list_sources(rows: Sequence[FlightRow], client: Client | None, reference: Reference, today: date) -> list[str]:
    """Where seats, valuations and ratios are from."""
    searched = sorted({row.source for row in rows if row.source})
    lines = [f"Seats and prices: {', '.join(searched)}."] if searched else []
    targets = {p.slug: p for row in rows if row.points and (p := _find_program(row.program, reference))}
    valued = [p for p in targets.values() if p.value_usd_cents is not None]
    if valued:
        lines.append(f"Valuations: {_list_sites((p.source_url, p.as_of) for p in valued)}.")
    balances = set(client.balances) if client else {s for s, p in reference.programs.items() if p.kind == "bank"}
    routes = reference.routes(today)
    used = [e for source in balances for e in routes.get(source, ()) if e.target in targets]
    if used:
        lines.append(f"Transfer ratios: {_list_sites((e.source_url, e.as_of) for e in used)}.")
    return lines


def _list_sites(facts: Iterable[tuple[str, str | None]]) -> str:
    """Each site once, with the oldest date its facts bear."""
    oldest: dict[str, str | None] = {}
    for url, day in sorted(facts, key=lambda f: (f[1] is None, f[1] or "")):
        oldest.setdefault(_site(url), day)
    return ", ".join(f"{site} ({format_iso_day(day)})" if day else site for site, day in oldest.items())


def _site(url: str) -> str:
    """The host; where many publishers share one, with the names of publisher and work."""
    parts = urlsplit(url)
    host = (parts.hostname or url).removeprefix("www.")
    return "/".join([host, *parts.path.split("/")[1:3]]) if host == "github.com" else host


def find_stale_rows(rows: Sequence[FlightRow], now: datetime) -> list[str]:
    """Names of the rows whose seats were checked more than a day ago."""
    return [
        f"flights[{index}]"
        for index, row in enumerate(rows)
        if (checked_at := row.provider_checked_at)
        and checked_at.utcoffset() is not None
        and now - checked_at > STALE_AFTER
    ]
