"""Sources of an advisor's document by the names people know: publishers and services, not addresses."""

from collections.abc import Iterable, Sequence
from datetime import date
from urllib.parse import urlsplit

from shared.domain.dates import format_iso_day, parse_loose_day
from shared.domain.source_names import name_source
from shared.domain.valuations import PUBLISHERS
from shared.reference.load import Reference
from shared.reference.provenance import GENERAL_KNOWLEDGE, find_publisher
from shared.reference.rows.programmes import Program
from shared.services.proposals.flight_rows import FlightRow
from shared.services.proposals.transfer_notes import find_program

OPEN_LISTS = "open lists of transfer partners"  # repositories whose owners no one knows by name
UNPUBLISHED = "figures not yet found in print"
_CODE_HOST = "github.com/"
_PUBLICATIONS = {
    "business-standard.com": "Business Standard",
    "businessinsider.com": "Business Insider",
    "businesstravelerusa.com": "Business Traveler",
    "headforpoints.com": "Head for Points",
    "milesopedia.com": "Milesopedia",
    "nerdwallet.com": "NerdWallet",
    "oneclickwatch.org": "One Click Watch",
    "pointhacks.com.au": "Point Hacks",
    "upgrades-and-beyond.com": "Upgrades and Beyond",
    "viewfromthewing.com": "View from the Wing",
    "yourcardguide.com": "Your Card Guide",
}


def _name_publisher(url: str, reference: Reference) -> str:
    if url == GENERAL_KNOWLEDGE:
        return UNPUBLISHED
    publisher = find_publisher(url)
    if publisher.startswith(_CODE_HOST):
        return OPEN_LISTS
    labels = (urlsplit(url).hostname or "").split(".")
    hosts = {".".join(labels[at:]) for at in range(len(labels) - 1)}
    owner = next((row.owner for row in reference.rows("primary_hosts.csv") if row.host in hosts), None)
    return owner or _PUBLICATIONS.get(publisher, publisher)


def list_sources(
    rows: Sequence[FlightRow], banks: Iterable[str], reference: Reference, today: date, fare_sources: Iterable[str]
) -> list[str]:
    """The sources of seats, cash prices, valuations and ratios. `banks`: the programmes points may come from."""
    lines = _name_services("Seats and prices", (row.source for row in rows if row.source))
    lines += _name_services("Cash prices next to points", fare_sources)
    targets = {p.slug: p for row in rows if row.points and (p := find_program(row.program, reference))}
    valued = [p for p in targets.values() if p.value_usd_cents is not None]
    if valued:
        lines.append(f"Valuations: {_name_valuations(valued, reference)}.")
    routes = reference.routes(today)
    used = [e for source in banks for e in routes.get(source, ()) if e.target in targets]
    if used:
        facts = ((_name_publisher(e.source_url, reference), e.as_of) for e in used)
        lines.append(f"Transfer ratios: {_list_dated(facts)}.")
    return lines


def _name_services(what: str, sources: Iterable[str]) -> list[str]:
    names = sorted({name_source(source) for source in sources})
    return [f"{what}: {', '.join(names)}."] if names else []


def _name_valuations(programs: Sequence[Program], reference: Reference) -> str:
    """The publishers behind a value, else its own publisher."""
    facts: list[tuple[str, str | None]] = []
    for program in programs:
        names = [name for column, name in PUBLISHERS.items() if getattr(program, column) is not None]
        facts += [(n, program.as_of) for n in names or [_name_publisher(program.source_url, reference)]]
    return _list_dated(facts)


def _list_dated(facts: Iterable[tuple[str, str | None]]) -> str:
    """`Chase, Head for Points (of 12 Mar 2026)`: each name once, in order, with the oldest day of its facts."""
    oldest: dict[str, str | None] = {}
    for name, day in sorted(facts, key=lambda fact: (fact[1] is None, fact[1] or "", fact[0])):
        oldest.setdefault(name, day)
    return ", ".join(f"{name} ({_format_when(day)})" if day else name for name, day in sorted(oldest.items()))


def _format_when(text: str) -> str:
    """`12 Mar 2026`, `Mar 2026` or `2026`, from the known part of a date."""
    return f"{parse_loose_day(text):%b %Y}" if text.count("-") == 1 else format_iso_day(text)
