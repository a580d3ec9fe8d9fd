"""Client of seats.aero: searches page by page, and the trips behind a row."""

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.domain.minor_units import from_minor_units
from shared.providers.contract import (
    AwardSeat,
    AwardTrip,
    BookingLink,
    SeatsPart,
    SeatsQuestion,
    SeatsTogether,
    Segment,
    TripQuestion,
    Unanswered,
)
from shared.reference.load import reference
from shared.settings import settings

# Names of programmes at seats.aero, with our slugs.

# An open set: programmes missing here, or in our facts, are skipped.
_SLUGS = {
    "aeromexico": "aeromexico-rewards",
    "aeroplan": "air-canada-aeroplan",
    "alaska": "atmos-rewards",
    "american": "american-airlines-aadvantage",
    "azul": "azul-fidelidade",
    "connectmiles": "copa-connectmiles",
    "delta": "delta-skymiles",
    "emirates": "emirates-skywards",
    "ethiopian": "ethiopian-shebamiles",
    "etihad": "etihad-guest",
    "eurobonus": "sas-eurobonus",
    "finnair": "finnair-plus",
    "flyingblue": "flying-blue",
    "frontier": "frontier-miles",
    "jetblue": "jetblue-trueblue",
    "lifemiles": "avianca-lifemiles",
    "lufthansa": "lufthansa-miles-and-more",
    "qantas": "qantas-frequent-flyer",
    "qatar": "qatar-airways-privilege-club",
    "saudia": "alfursan",
    "singapore": "singapore-krisflyer",
    "smiles": "flysmiles",
    "spirit": "spirit-free-spirit",
    "turkish": "turkish-miles-and-smiles",
    "united": "united-mileageplus",
    "velocity": "virgin-australia-velocity",
    "virginatlantic": "virgin-atlantic-flying-club",
}


def slug_of(source: str) -> str | None:
    slug = _SLUGS.get(source)
    return slug if slug in reference().programs else None


# Parsers of seats.aero's award seats and trips; rows with unknown words are counted and left out.
#
# Its quirks: a summary's prices are text, a trip's are numbers; taxes are in the smallest coin; 0 seats left of a
# seat that is open means that no one says how many; local times end in Z; partners' flights are listed with the
# programme's own.

log = logging.getLogger(__name__)
CABINS = {"economy": "economy", "premium": "premium_economy", "business": "business", "first": "first"}
LETTERS = {"Y": "economy", "W": "premium_economy", "J": "business", "F": "first"}
MAX_LABEL_CHARACTERS = 80
ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}")  # theirs have 27 characters


@dataclass(frozen=True)
class Page:
    rows: list[dict[str, Any]]
    more: bool
    cursor: int | None


class _Unknown(Exception):
    """A word of theirs that is unknown here."""


def parse_page(body: bytes) -> Page:
    answer = json.loads(body)
    rows = answer["data"] or []
    if not all(isinstance(row, dict) and row["ID"] for row in rows):
        raise ValueError
    return Page(rows, bool(answer.get("hasMore")), answer.get("cursor"))


def parse_seats(rows: Iterable[dict[str, Any]], question: SeatsQuestion) -> tuple[AwardSeat, ...]:
    """The cheapest seat by programme, day, cabin and airline, and dearer but better ones."""
    offers: list[AwardSeat] = []
    passed: Counter[str] = Counter()
    for row in rows:
        try:
            offers += _parse_row(row, passed)
        except _Unknown:
            passed["program"] += 1
        except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError):
            passed["shape"] += 1
    _require_understood(passed, bool(offers))
    return tuple(s for s in offers if _matches_question(s, question))


def _require_understood(passed: Counter[str], any_read: bool) -> None:
    """Raises if nothing was understood, which differs from nothing open."""
    if passed:
        log.warning("seats_aero: passed over %s", ", ".join(f"{n} of unknown {what}" for what, n in passed.items()))
    if passed and not any_read:
        raise Unanswered("down", "wrong_shape") if passed["shape"] else Unanswered("not_covered", "unknown_words")


def _matches_question(seat: AwardSeat, question: SeatsQuestion) -> bool:
    """Applies the source's filters again: not all of them are guaranteed."""
    return question.earliest <= seat.date <= question.latest and (
        not question.airlines or seat.airline in question.airlines
    )


def _parse_row(row: dict[str, Any], passed: Counter[str]) -> list[AwardSeat]:
    program = slug_of(row["Source"])
    if program is None:
        raise _Unknown
    trips = list(_usable_trips(row.get("AvailabilityTrips") or [], passed))
    best: list[AwardSeat] = []
    for letter, cabin in LETTERS.items():
        if not row.get(f"{letter}Available"):
            continue
        mine = [t for t in trips if CABINS[t["Cabin"]] == cabin]
        offers = [_seat_from_trip(row, program, trip) for trip in mine] or list(
            _seat_from_summary(row, program, letter)
        )
        best += _drop_worse_offers(offers)
    return best


def _usable_trips(trips: Iterable[dict[str, Any]], passed: Counter[str]) -> Iterator[dict[str, Any]]:
    for trip in trips:
        if trip.get("Cabin") not in CABINS or not trip.get("MileageCost") or not trip.get("Carriers"):
            passed["cabin"] += 1
        elif not trip.get("Filtered"):
            yield trip


def _build_ref(row: dict[str, Any], trip: Any, cabin: str) -> str:
    """The row, and the trip in it or else the cabin. Empty where the row's id cannot be asked for."""
    if not ID_PATTERN.fullmatch(str(row["ID"])):
        return ""
    return f"{row['ID']}:{trip if trip and ID_PATTERN.fullmatch(str(trip)) else cabin}"


def _drop_worse_offers(offers: Iterable[AwardSeat]) -> list[AwardSeat]:
    """Drops offers that are no better than another of the same airline in price, stops and seats."""
    best: list[AwardSeat] = []
    for offer in sorted(offers, key=lambda o: (o.points, o.stops or 0)):
        if not any(_is_as_good(k, offer) for k in best):
            best.append(offer)
    return best


def _is_as_good(other: AwardSeat, offer: AwardSeat) -> bool:
    enough = other.seats is None or (offer.seats is not None and other.seats >= offer.seats)
    return other.airline == offer.airline and enough and (other.stops or 0) <= (offer.stops or 0)


def _seat_from_trip(row: dict[str, Any], program: str, trip: dict[str, Any]) -> AwardSeat:
    segments = _sort_segments(trip)
    return AwardSeat(
        ref=_build_ref(row, trip.get("ID"), trip["Cabin"]),
        airline=_leading_airline(trip, segments),
        program=program,
        origin=row["Route"]["OriginAirport"],
        destination=row["Route"]["DestinationAirport"],
        date=date.fromisoformat(row["Date"][:10]),
        cabin=CABINS[trip["Cabin"]],
        points=int(trip["MileageCost"]),
        taxes=_parse_taxes(trip.get("TotalTaxes"), _parse_currency(trip, row)),
        taxes_currency=_parse_currency(trip, row),
        seats=trip.get("RemainingSeats") or None,
        stops=trip.get("Stops"),
        flight_numbers=tuple(_split_list(trip.get("FlightNumbers"))),
        departs_at=_parse_local_time(trip.get("DepartsAt")),
        arrives_at=_parse_local_time(trip.get("ArrivesAt")),
        checked_at=_parse_time(trip.get("UpdatedAt") or row["UpdatedAt"]),
    )


def _seat_from_summary(row: dict[str, Any], program: str, letter: str) -> Iterator[AwardSeat]:
    """A seat of a programme that publishes no flights. A price of several airlines is the direct one's, if
    it has that price, else the first named one's."""
    points = int(row[f"{letter}MileageCost"] or 0)
    airlines, direct = _split_list(row.get(f"{letter}Airlines")), _split_list(row.get(f"{letter}DirectAirlines"))
    nonstop = bool(row.get(f"{letter}Direct")) and int(row.get(f"{letter}DirectMileageCost") or 0) == points
    if not points or not airlines:
        return
    currency = _parse_currency(row, row)
    yield AwardSeat(
        ref=_build_ref(row, None, letter),
        airline=direct[0] if nonstop and direct else airlines[0],
        program=program,
        origin=row["Route"]["OriginAirport"],
        destination=row["Route"]["DestinationAirport"],
        date=date.fromisoformat(row["Date"][:10]),
        cabin=LETTERS[letter],
        points=points,
        taxes=_parse_taxes(row.get(f"{letter}TotalTaxes"), currency),
        taxes_currency=currency,
        seats=row.get(f"{letter}RemainingSeats") or None,
        stops=0 if nonstop else None,
        checked_at=_parse_time(row["UpdatedAt"]),
    )


def parse_trips(body: bytes, ref: str, trip_or_cabin: str) -> tuple[AwardTrip, ...]:
    """The ways to fly: the exact trip if the reference names one, else all of its cabin, cheapest first."""
    answer = json.loads(body)
    rows = answer["data"] or []
    passed: Counter[str] = Counter()
    usable = list(_usable_trips(rows, passed))
    cabin = LETTERS.get(trip_or_cabin) or CABINS.get(trip_or_cabin)
    mine = [t for t in usable if (CABINS[t["Cabin"]] == cabin if cabin else t.get("ID") == trip_or_cabin)]
    _require_understood(passed, bool(usable))
    if rows and not mine:
        raise Unanswered("no_data", "gone")
    links = answer.get("booking_links") or []
    return tuple(sorted((_parse_trip(t, ref, links) for t in mine), key=lambda t: (t.points, t.stops)))


def _parse_trip(trip: dict[str, Any], ref: str, links: Iterable[dict[str, Any]]) -> AwardTrip:
    currency = _parse_currency(trip, trip)
    program = slug_of(trip["Source"]) or ""
    segments = _sort_segments(trip)
    return AwardTrip(
        ref=ref,
        cabin=CABINS[trip["Cabin"]],
        points=int(trip["MileageCost"]),
        taxes=_parse_taxes(trip.get("TotalTaxes"), currency),
        taxes_currency=currency,
        stops=int(trip["Stops"]),
        duration_minutes=trip.get("TotalDuration") or None,
        seats=trip.get("RemainingSeats") or None,
        segments=tuple(_parse_segment(s, _split_list(trip["Carriers"])) for s in segments),
        links=tuple(_parse_links(links, program)),
        checked_at=_parse_time(trip["UpdatedAt"]),
    )


def _parse_segment(segment: dict[str, Any], carriers: list[str]) -> Segment:
    number = str(segment["FlightNumber"])
    marketed = [c for c in carriers if number.startswith(c)]
    return Segment(
        flight_number=number,
        operating_carrier=carriers[0] if len(carriers) == 1 else next(iter(marketed), None),
        aircraft=_clean_text(segment.get("AircraftName")),
        origin=segment["OriginAirport"],
        destination=segment["DestinationAirport"],
        departs_at=_parse_local_time(segment.get("DepartsAt")),
        arrives_at=_parse_local_time(segment.get("ArrivesAt")),
        cabin=CABINS.get(segment.get("Cabin") or ""),
        fare_class=_clean_text(segment.get("FareClass")),
    )


def _parse_links(links: Iterable[dict[str, Any]], program: str) -> Iterator[BookingLink]:
    for link in links:
        url = str(link.get("link") or "")
        if url.startswith("https://") and len(url) < 2000:
            yield BookingLink(program, _clean_text(link.get("label")) or "Book", url)


def _sort_segments(trip: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(trip.get("AvailabilitySegments") or [], key=lambda s: s.get("Order") or 0)


def _leading_airline(trip: dict[str, Any], segments: list[dict[str, Any]]) -> str:
    """The airline with the longest distance; for trips without segments the first one."""
    carriers = _split_list(trip["Carriers"])
    longest = max(segments, key=lambda s: s.get("Distance") or 0, default={})
    number = str(longest.get("FlightNumber") or "")
    return next((c for c in carriers if number.startswith(c)), carriers[0])


def _split_list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _clean_text(value: Any) -> str | None:
    """Puts their text on one short line."""
    return "".join(c for c in " ".join(str(value).split()) if c.isprintable())[:MAX_LABEL_CHARACTERS] if value else None


def _parse_currency(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    code = first.get("TaxesCurrency") or second.get("TaxesCurrency")
    return code if isinstance(code, str) and len(code) == 3 and code.isalpha() and code.isupper() else None


def _parse_taxes(amount: int | None, currency: str | None) -> Decimal | None:
    """Reads taxes; programmes that do not publish them show 0."""
    return from_minor_units(int(amount), currency) if amount and currency else None


def _parse_local_time(text: str | None) -> str | None:
    return text.removesuffix("Z")[:16] if text else None


def _parse_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# The rows of a search for several questions: divided among them, and counted by route.

Row = dict[str, Any]
Route = tuple[str, str]
TOO_MANY_ROWS = Unanswered("not_covered", "too_many_rows")


def read_rows(
    rows: Sequence[Row],
    questions: Sequence[SeatsQuestion],
    brief: Collection[SeatsQuestion],
    *,
    is_whole: bool,
    is_filtered: bool,
) -> SeatsTogether:
    """Reads the rows; an incomplete search answers nothing, but shows its routes' cost."""
    rates = {} if is_filtered else count_rows_a_day(rows, questions, is_whole=is_whole)
    if not is_whole:
        return SeatsTogether((), rates, TOO_MANY_ROWS)
    return SeatsTogether(split_rows(rows, questions, brief), rates)


def split_rows(
    rows: Iterable[Row], questions: Sequence[SeatsQuestion], brief: Collection[SeatsQuestion]
) -> tuple[SeatsPart, ...]:
    """Each question gets the rows of its route and days, and those without a stated route or day.

    A brief one reads trips without their segments, as if asked by itself: by the segments another airline may
    lead, and a watch would take that for a new seat.
    """
    of_route: dict[Route | None, list[Row]] = defaultdict(list)
    for row in rows:
        of_route[_find_route(row)].append(row)
    stripped = {route: [_strip_segments(row) for row in its] for route, its in of_route.items()} if brief else {}
    return tuple(_build_part(stripped if q in brief else of_route, q) for q in questions)


def count_rows_a_day(
    rows: Iterable[Row], questions: Sequence[SeatsQuestion], *, is_whole: bool
) -> Mapping[Route, float]:
    """The rows a day of every route between their airports, including routes no one asked about.

    Of a search that was not read to its end no route has fewer than they have on average: the unread rows are
    somewhere.
    """
    days = (max(q.latest for q in questions) - min(q.earliest for q in questions)).days + 1
    ends = product({q.origin for q in questions}, {q.destination for q in questions})
    routes = [(origin, destination) for origin, destination in ends if origin != destination]
    counts = Counter(_find_route(row) for row in rows)
    least = 0 if is_whole else counts.total() / max(1, len(routes))
    return {route: max(counts[route], least) / days for route in routes}


def _build_part(of_route: dict[Route | None, list[Row]], question: SeatsQuestion) -> SeatsPart:
    mine = [row for row in of_route.get((question.origin, question.destination), ()) if _is_within(row, question)]
    try:
        seats = parse_seats([*mine, *of_route.get(None, ())], question)
    except Unanswered as failure:
        return SeatsPart(question, None, failure)
    return SeatsPart(question, seats)


def _find_route(row: Row) -> Route | None:
    route, day = row.get("Route"), row.get("Date")
    if not isinstance(route, dict) or not isinstance(day, str):
        return None
    ends = route.get("OriginAirport"), route.get("DestinationAirport")
    return (str(ends[0]), str(ends[1])) if all(ends) else None


def _is_within(row: Row, question: SeatsQuestion) -> bool:
    return question.earliest.isoformat() <= str(row["Date"])[:10] <= question.latest.isoformat()


def _strip_segments(row: Row) -> Row:
    trips = row.get("AvailabilityTrips")
    if not isinstance(trips, list):
        return row
    bare = [trip | {"AvailabilitySegments": None} if isinstance(trip, dict) else trip for trip in trips]
    return row | {"AvailabilityTrips": bare}


TAKE = 300  # a page with trips is then a megabyte or two, read at once
TAKE_TOGETHER = 1000  # the most they allow: each page costs a call of the day
MAX_BYTES_TOGETHER = 16 * 1024 * 1024  # of a page, at up to ten kilobytes a row
PAGES = 10
MANY_DAYS = 7  # longer windows ask for trips without their segments


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    """The credential is a bare key, or `Bearer ...` of an account's own connection; one header takes both."""
    headers = {"Partner-Authorization": credential or ""}
    async with http.client(settings().seats_aero_base_url, headers=headers) as client:
        yield Client(client)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client
        self.calls = 0  # each page is one call of the day

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        rows, is_whole = await self._read_pages(_build_search([question]) | {"take": str(TAKE)}, http.MAX_BYTES)
        if not is_whole:
            raise TOO_MANY_ROWS
        return await anyio.to_thread.run_sync(parse_seats, rows, question, abandon_on_cancel=True)

    async def award_seats_together(self, questions: Sequence[SeatsQuestion]) -> SeatsTogether:
        """One search over all their airports and days; each gets the answer it would have had by itself."""
        search = _build_search(questions)
        rows, is_whole = await self._read_pages(search | {"take": str(TAKE_TOGETHER)}, MAX_BYTES_TOGETHER)
        brief = [q for q in questions if _is_brief(q)]
        read = partial(read_rows, rows, questions, brief, is_whole=is_whole, is_filtered="carriers" in search)
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)

    async def _read_pages(self, params: dict[str, str], limit: int) -> tuple[list[dict[str, Any]], bool]:
        """The rows of a search, and whether these are all: the pages read are limited.

        The first cursor stays while `skip` grows, so that a crawl in between changes nothing.
        """
        rows: dict[str, dict[str, Any]] = {}
        received = 0
        for _ in range(PAGES):
            body = await self._get("/search", params | ({"skip": str(received)} if received else {}), limit)
            page = await anyio.to_thread.run_sync(parse_page, body, abandon_on_cancel=True)
            rows |= {str(row["ID"]): row for row in page.rows}
            received += len(page.rows)
            if not page.more or not page.rows:
                return list(rows.values()), True
            params = {"cursor": str(page.cursor)} | params
        return list(rows.values()), False

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        row, _, trip_id = question.ref.partition(":")
        if not ID_PATTERN.fullmatch(row):
            raise Unanswered("no_data", "gone")
        try:
            body = await self._get(f"/trips/{row}", {})
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                raise Unanswered("no_data", "gone") from None
            raise
        return await anyio.to_thread.run_sync(parse_trips, body, question.ref, trip_id, abandon_on_cancel=True)

    async def _get(self, path: str, params: dict[str, str], limit: int = http.MAX_BYTES) -> bytes:
        self.calls += 1
        try:
            return await http.get(self._client, path, params=params, limit=limit)
        except httpx.HTTPStatusError as error:
            refusal = classify_refusal(error.response)
            if refusal:
                raise refusal from None
            raise


def _is_brief(question: SeatsQuestion) -> bool:
    return (question.latest - question.earliest).days > MANY_DAYS


def _build_search(questions: Sequence[SeatsQuestion]) -> dict[str, str]:
    """A search for all these questions. It names airlines if every question does."""
    airlines = {code for q in questions for code in q.airlines} if all(q.airlines for q in questions) else set()
    return {
        "origin_airport": ",".join(dict.fromkeys(q.origin for q in questions)),
        "destination_airport": ",".join(dict.fromkeys(q.destination for q in questions)),
        "start_date": min(q.earliest for q in questions).isoformat(),
        "end_date": max(q.latest for q in questions).isoformat(),
        "include_trips": "true",
        "minify_trips": str(all(map(_is_brief, questions))).lower(),
    } | ({"carriers": ",".join(sorted(airlines))} if airlines else {})


def classify_refusal(response: httpx.Response) -> Unanswered | None:
    """Distinguishes a wrong key, one without rights, and a firewall's page by their text."""
    if response.status_code not in (401, 403):
        return None
    body = response.extensions.get("said", b"").lower()
    if b"<html" in body:
        return Unanswered("down", "blocked")
    if b"live" in body or b"commercial" in body or b"pro_" in body:
        return Unanswered("not_permitted", "plan")
    return Unanswered("broken", "bad_key") if response.status_code == 401 else None
