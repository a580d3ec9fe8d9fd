"""An award-seat source that pages and counts like the real one: made-up rows, the same however asked for."""

import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import product
from typing import Any

import httpx

from shared.providers.contract import Provider
from shared.providers.seats_aero import PROVIDER
from shared.providers.seats_aero.client import Client

PROGRAMS = {
    "virginatlantic": "VS",
    "american": "BA",
    "alaska": "JL",
    "aeroplan": "UA",
    "flyingblue": "AF",
    "etihad": "EY",
}
CABINS = {"Y": "economy", "J": "business"}
HUBS = {"LHR", "JFK", "CDG", "FRA", "LAX", "NRT", "SIN", "DXB"}


def draw(*words: object) -> float:
    """The same number in 0..1 for the same words, in every process."""
    return zlib.crc32("|".join(map(str, words)).encode()) / 2**32


def list_open(origin: str, destination: str, program: str, days: list[date]) -> list[date]:
    """Between hubs most programmes have seats on most days; elsewhere few have."""
    hubs = len({origin, destination} & HUBS)
    if draw(origin, destination, program) >= (0.3, 0.5, 0.9)[hubs]:
        return []
    return [day for day in days if draw(origin, destination, program, day) < (0.4, 0.5, 0.7)[hubs]]


@lru_cache(maxsize=200_000)
def make_row(origin: str, destination: str, program: str, day: date, bare: bool) -> bytes:
    row = _make_template(origin, destination, program, bare).replace(b"<day>", day.isoformat().encode())
    row = row.replace(b"<number>", b"%d" % day.toordinal())
    for cabin in CABINS.values():
        cost = 10_000 + round(draw(origin, program, day, cabin) * 90_000)
        row = row.replace(b'"<%b>"' % cabin.encode(), b"%d" % cost)
    return row


@cache
def _make_template(origin: str, destination: str, program: str, bare: bool) -> bytes:
    """A row without its day and prices. Rows made as a whole took a third of a run of the planner."""
    carrier = PROGRAMS[program]
    row = {
        "ID": f"{origin}{destination}{program}<number>",
        "Route": {"OriginAirport": origin, "DestinationAirport": destination, "Source": program},
        "Date": "<day>",
        "Source": program,
        "TaxesCurrency": "USD",
        "UpdatedAt": "2026-11-20T21:40:12Z",
        "AvailabilityTrips": [_make_trip(origin, destination, program, cabin, bare) for cabin in CABINS.values()],
    }
    for letter in "YWJF":
        row[f"{letter}Available"] = letter in CABINS
        row[f"{letter}Airlines"] = f"{carrier}, DL" if letter in CABINS else ""
    return json.dumps(row).encode()


def _make_trip(origin: str, destination: str, program: str, cabin: str, bare: bool) -> dict[str, Any]:
    carrier = PROGRAMS[program]
    segment = {"FlightNumber": "DL10", "OriginAirport": origin, "DestinationAirport": destination, "Distance": 900}
    return {
        "ID": f"{origin}{destination}{program}<number>{cabin}",
        "Cabin": cabin,
        "Stops": 0,
        "Carriers": f"{carrier}, DL",
        "FlightNumbers": "DL10",
        "RemainingSeats": 2,
        "MileageCost": f"<{cabin}>",
        "TotalTaxes": 9900,
        "TaxesCurrency": "USD",
        "Source": program,
        "UpdatedAt": "2026-11-20T21:40:12Z",
        "AvailabilitySegments": None if bare else [segment],
    }


Rows = list[tuple[str, str, str, date]]


@dataclass
class PagingSource:
    """What it was asked stands in `searches`, one entry a page. `answer` may be put in place of its own."""

    searches: list[dict[str, str]] = field(default_factory=list)
    answer: Callable[[dict[str, str]], httpx.Response | None] = lambda _params: None

    @property
    def calls(self) -> int:
        return len(self.searches)

    @property
    def card(self) -> Provider:
        return replace(PROVIDER, build=self._build)

    @asynccontextmanager
    async def _build(self, _credential: str | None) -> AsyncIterator[Client]:
        transport = httpx.MockTransport(self._respond)
        async with httpx.AsyncClient(transport=transport, base_url="https://source.test") as client:
            yield Client(client)

    def _respond(self, request: httpx.Request) -> httpx.Response:
        params = dict(request.url.params)
        self.searches.append(params)
        return self.answer(params) or self._search(params)

    def _search(self, params: dict[str, str]) -> httpx.Response:
        found, bare = find_rows(params), params["minify_trips"] == "true"
        skip, take = int(params.get("skip", 0)), int(params["take"])
        page = b",".join(make_row(*row, bare) for row in found[skip : skip + take])
        more = b"true" if skip + take < len(found) else b"false"
        body = b'{"data":[%b],"hasMore":%b,"cursor":1795210812}' % (page, more)
        return httpx.Response(200, content=body)


def find_rows(params: dict[str, str]) -> Rows:
    first, last = date.fromisoformat(params["start_date"]), date.fromisoformat(params["end_date"])
    carriers = {*filter(None, params.get("carriers", "").split(","))}
    programs = [p for p, carrier in PROGRAMS.items() if not carriers or {carrier, "DL"} & carriers]
    pairs = product(params["origin_airport"].split(","), params["destination_airport"].split(","))
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        (origin, destination, program, day)
        for origin, destination in pairs
        for program in programs
        for day in (list_open(origin, destination, program, days) if origin != destination else ())
    ]
