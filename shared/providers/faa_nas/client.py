"""Client of the FAA's status document, which has the whole country."""

import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from xml.etree.ElementTree import Element

import anyio
import anyio.to_thread
import httpx
from defusedxml.ElementTree import fromstring
from pydantic import TypeAdapter
from redis.exceptions import RedisError

from shared import clock, http
from shared.providers.contract import AirportDelay, DelaysQuestion, Unanswered
from shared.redis import connect as redis
from shared.redis import key
from shared.reference.load import reference
from shared.settings import settings

# Parsers of the FAA's status: the XML document, and the JSON behind the FAA's own page.
#
# A number of minutes is the average of a ground delay and the upper bound of an arrival or departure delay. Ground
# stops and closures have none: none is published, and none is guessed. Closures for private or unscheduled flights are
# left out, and so are those not yet begun or over.

log = logging.getLogger(__name__)
STALE = timedelta(minutes=30)
MAX_REASON_CHARACTERS = 200  # characters
_NOT_FOR_ALL = re.compile(r"\b(GA|TRANSIENT|NON[- ]?SKED|NON[- ]?SCHEDULED|EXC|EXCEPT|PPR)\b", re.IGNORECASE)
_AIRPORT_CLOSED = re.compile(r"\b(AD|AP|ARPT|AIRPORT) CLSD\b")
_DIRECTIONS: dict[str, Literal["arrival", "departure"]] = {"Arrival": "arrival", "Departure": "departure"}
_KNOWN = {"Name", "Ground_Stop_List", "Ground_Delay_List", "Arrival_Departure_Delay_List", "Airport_Closure_List"}
_EVENTS = TypeAdapter(list[dict[str, Any]])


def parse_minutes(raw: Any) -> int | None:
    """`1 hour and 28 minutes`, `16` or 88; unreadable text gives None, never 0."""
    text = str(raw if raw is not None else "").strip()
    if text.isascii() and text.isdigit():
        return int(text)
    hours, rest = re.search(r"(\d+) hour", text), re.search(r"(\d+) min", text)
    if not hours and not rest:
        return None
    return (int(hours[1]) * 60 if hours else 0) + (int(rest[1]) if rest else 0)


def parse_document(body: bytes, now: datetime) -> tuple[AirportDelay, ...]:
    """Parses the published XML; if older than half an hour, it is no answer."""
    root = fromstring(body, forbid_dtd=True)
    if root.tag != "AIRPORT_STATUS_INFORMATION":
        raise ValueError("another document")
    text = " ".join(root.findtext("Update_Time", "").split())
    updated = datetime.strptime(text, "%a %b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC)
    if now - updated > STALE:
        raise Unanswered("down", "stale")
    if strange := [part.tag for kind in root.iter("Delay_type") for part in kind if part.tag not in _KNOWN]:
        log.info("faa_nas: %d sections of an unknown kind left out", len(strange))
    return tuple(_rows(root, updated, now))


def _rows(root: Element, updated: datetime, now: datetime) -> Iterator[AirportDelay]:
    for program in root.iterfind(".//Ground_Stop_List/Program"):
        yield _parse_row(program, "ground_stop", None, program.findtext("End_Time"), updated)
    for delay in root.iterfind(".//Ground_Delay_List/Ground_Delay"):
        yield _parse_row(delay, "ground_delay", parse_minutes(delay.findtext("Avg")), None, updated)
    for delay in root.iterfind(".//Arrival_Departure_Delay_List/Delay"):
        for way in delay.iterfind("Arrival_Departure"):
            if direction := _DIRECTIONS.get(way.get("Type", "")):
                yield _parse_row(delay, direction, parse_minutes(way.findtext("Max")), None, updated)
    for airport in root.iterfind(".//Airport_Closure_List/Airport"):
        begins, ends = (_parse_time(airport.findtext(name), now) for name in ("Start", "Reopen"))
        if _is_closed_now(airport.findtext("Reason", ""), begins, ends, now):
            yield _parse_row(airport, "closure", None, airport.findtext("Reopen"), updated)


def _parse_row(
    part: Element, kind: Any, number: int | None, ends: str | None, updated: datetime | None
) -> AirportDelay:
    return _build_delay(part.findtext("ARPT", ""), kind, number, part.findtext("Reason"), ends, updated)


def _build_delay(
    airport: str, kind: Any, number: int | None, reason: Any, ends: Any, updated: datetime | None
) -> AirportDelay:
    words = " ".join(str(reason or "").split())[:MAX_REASON_CHARACTERS]
    until = " ".join(str(ends or "").split()).rstrip(".")[:40] or None
    return AirportDelay(airport.strip(), kind, number, number, words, until, updated)


def _parse_time(raw: str | None, now: datetime) -> datetime | None:
    """`May 27 at 18:26 UTC.` has no year: the nearest one is meant."""
    text = " ".join((raw or "").split()).rstrip(".")
    moments = []
    for year in (now.year - 1, now.year, now.year + 1):
        try:
            moments.append(datetime.strptime(f"{year} {text}", "%Y %b %d at %H:%M UTC").replace(tzinfo=UTC))
        except ValueError:  # also the 29th of February in most years
            continue
    return min(moments, key=lambda moment: abs(moment - now), default=None)


def _is_closed_now(text: str, begins: datetime | None, ends: datetime | None, now: datetime) -> bool:
    if _NOT_FOR_ALL.search(text):
        return False
    return not (begins and begins > now) and not (ends and ends < now)


def parse_events(body: bytes, now: datetime) -> tuple[AirportDelay, ...]:
    """The JSON behind the FAA's own page, one entry for each airport with something to say.

    It is current: its times of change say when a programme was last revised, not when it was last checked.
    """
    return tuple(row for entry in _EVENTS.validate_json(body) for row in _parse_entry(entry, now))


def _parse_entry(entry: dict[str, Any], now: datetime) -> Iterator[AirportDelay]:
    airport = entry["airportId"]
    if stop := entry.get("groundStop"):
        ends, reason = stop.get("endTime"), stop.get("impactingCondition")
        yield _build_delay(airport, "ground_stop", None, reason, ends, None)
    if delay := entry.get("groundDelay"):
        number, reason = parse_minutes(delay.get("avgDelay")), delay.get("impactingCondition")
        yield _build_delay(airport, "ground_delay", number, reason, delay.get("endTime"), None)
    for name, kind in (("arrivalDelay", "arrival"), ("departureDelay", "departure")):
        if late := entry.get(name):
            number = parse_minutes((late.get("arrivalDeparture") or {}).get("max"))
            yield _build_delay(airport, kind, number, late.get("reason"), None, None)
    for name in ("airportClosure", "freeForm"):
        closure = entry.get(name) or {}
        text = str(closure.get("simpleText") or closure.get("text") or "")
        if not closure or (name == "freeForm" and not _AIRPORT_CLOSED.search(text)):
            continue
        if _is_closed_now(
            text, _parse_iso_time(closure.get("startTime")), _parse_iso_time(closure.get("endTime")), now
        ):
            yield _build_delay(airport, "closure", None, text, closure.get("endTime"), None)
            return


def _parse_iso_time(text: Any) -> datetime | None:
    moment = datetime.fromisoformat(text) if text else None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


COUNTRIES = ("US", "PR", "VI", "GU", "AS", "MP")
MAX_BYTES = 2 * 1024 * 1024
TRY_SECONDS = 6.0  # for each of two documents, within the fifteen seconds of a call
CACHE_SECONDS = 120
REDIS_SECONDS = 1.0
_ROWS = TypeAdapter(tuple[AirportDelay, ...])


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        airport = reference().airports.get(question.airport)
        if airport is None or airport.country not in COUNTRIES:
            raise Unanswered("not_covered", "airport_not_covered")
        return tuple(row for row in await self._fetch_country() if row.airport == question.airport)

    async def _fetch_country(self) -> tuple[AirportDelay, ...]:
        cached: list[tuple[AirportDelay, ...]] = []
        await _run_with_timeout(lambda: cached.extend(_read_cache()))
        if cached:
            return cached[0]
        rows = await self._fetch()
        await _run_with_timeout(lambda: _write_cache(rows))
        return rows

    async def _fetch(self) -> tuple[AirportDelay, ...]:
        """The published document, or if that fails in any way, the data behind the FAA's own page."""
        try:
            with anyio.fail_after(TRY_SECONDS):
                body = await http.get(self._client, "/airport-status-information", limit=MAX_BYTES)
            return parse_document(body, clock.now())
        except Exception as first:
            if isinstance(first, httpx.HTTPStatusError) and first.response.status_code == 429:
                raise
            return await self._fetch_from_page(first)

    async def _fetch_from_page(self, first: Exception) -> tuple[AirportDelay, ...]:
        try:
            with anyio.fail_after(TRY_SECONDS):
                body = await http.get(self._client, "/airport-events", limit=MAX_BYTES)
            return parse_events(body, clock.now())
        except Exception:
            raise first from None


async def _run_with_timeout(work: Callable[[], None]) -> None:
    """Redis is only a help here and never waited for."""
    with anyio.move_on_after(REDIS_SECONDS):
        await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _read_cache() -> list[tuple[AirportDelay, ...]]:
    try:
        raw = redis().get(key("faa_nas", "country"))
        return [_ROWS.validate_json(raw)] if isinstance(raw, bytes) else []
    except (RedisError, OSError, ValueError):
        return []


def _write_cache(rows: tuple[AirportDelay, ...]) -> None:
    try:
        redis().set(key("faa_nas", "country"), _ROWS.dump_json(rows), ex=CACHE_SECONDS)
    except (RedisError, OSError):
        return


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().faa_nas_base_url) as client:
        yield Client(client)
