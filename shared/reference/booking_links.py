"""Addresses that start the booking of an award at its programme, with route, day and travellers filled in."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Protocol
from urllib.parse import quote, urlsplit

from shared.domain.plans import CABINS
from shared.reference.keys import Tables, list_rows
from shared.reference.provenance import is_primary
from shared.reference.reference import Reference

_PLACE = re.compile(r"\{(\w*)\}")
_NEEDED = frozenset({"origin", "destination", "date"})
_KNOWN = _NEEDED | {"passengers", "cabin"}


class LinkedOffer(Protocol):
    """An award seat that a search has found."""

    @property
    def program(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def date(self) -> date: ...
    @property
    def cabin(self) -> str: ...


def booking_link(
    reference: Reference,
    program: str,
    origin: str,
    destination: str,
    day: date,
    *,
    passengers: int = 1,
    cabin: str | None = None,
) -> str | None:
    """The address that asks the programme for this award; its page or site if that takes no route, else None."""
    row = next((r for r in reference.rows("booking_links.csv") if r.program == program), None)
    if row is None:
        return reference.find_booking_pages([program]).get(program)
    words = dict(pair.split("=") for pair in row.cabins)
    values = {"origin": origin, "destination": destination, "passengers": str(passengers)}
    values["date"] = day.strftime(row.date_format or "")
    values["cabin"] = words.get(cabin or CABINS[0], "")
    url: str = _PLACE.sub(lambda place: quote(values[place[1]], safe=""), row.url)
    return url


def list_booking_links(reference: Reference, offers: Iterable[LinkedOffer], passengers: int) -> dict[str, str]:
    """For each programme with a known address, the one for its first offer."""
    links: dict[str, str | None] = {}
    for offer in offers:
        if offer.program not in links:
            links[offer.program] = booking_link(
                reference,
                offer.program,
                offer.origin,
                offer.destination,
                offer.date,
                passengers=passengers,
                cabin=offer.cabin,
            )
    return {program: url for program, url in links.items() if url}


def find_faults(tables: Tables) -> Iterator[str]:
    """Checks that a link for spending points leads to the programme's host, and has the whole journey."""
    hosts = frozenset(row.host for row in tables["primary_hosts.csv"].values())
    for where, row in list_rows(tables, "booking_links.csv"):
        places = set(_PLACE.findall(row.url))
        if urlsplit(row.url).scheme != "https" or not is_primary(row.url, hosts):
            yield f"{where}: {row.url!r} is no https address of a host in primary_hosts.csv"
        yield from (f"{where}: {{{place}}} is not one of {', '.join(sorted(_KNOWN))}" for place in places - _KNOWN)
        if places and not places >= _NEEDED:
            yield f"{where}: of origin, destination and date the address takes all, or no route at all"
        if ("date" in places) != bool(row.date_format) or ("cabin" in places) != bool(row.cabins):
            yield f"{where}: date_format and cabins stand where the address takes a date and a cabin, and only there"
        if row.cabins and [pair.split("=")[0] for pair in row.cabins] != list(CABINS):
            yield f"{where}: cabins are {', '.join(CABINS)}, each with its word, in this order"
