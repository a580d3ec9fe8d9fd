"""What the FAA publishes: an XML document or a JSON list goes in, the delays of the whole country come out.

A number of minutes is the average of a ground delay and the upper bound of an arrival or departure delay. Ground stops
and closures carry none: none is published, and none is guessed. Closures for private or unscheduled flights are left
out, and so are those not yet begun or over.
"""

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring
from pydantic import TypeAdapter

from shared.providers.contract import AirportDelay, Unanswered

log = logging.getLogger(__name__)
STALE = timedelta(minutes=30)
REASON = 200  # characters
_NOT_FOR_ALL = re.compile(r"\b(GA|TRANSIENT|NON[- ]?SKED|NON[- ]?SCHEDULED|EXC|EXCEPT|PPR)\b", re.IGNORECASE)
_AIRPORT_CLOSED = re.compile(r"\b(AD|AP|ARPT|AIRPORT) CLSD\b")
_DIRECTIONS: dict[str, Literal["arrival", "departure"]] = {"Arrival": "arrival", "Departure": "departure"}
_KNOWN = {"Name", "Ground_Stop_List", "Ground_Delay_List", "Arrival_Departure_Delay_List", "Airport_Closure_List"}
_EVENTS = TypeAdapter(list[dict[str, Any]])


def minutes(said: Any) -> int | None:
    """`1 hour and 28 minutes`, `16` or 88; what cannot be read is no number, never 0."""
    text = str(said if said is not None else "").strip()
    if text.isascii() and text.isdigit():
        return int(text)
    hours, rest = re.search(r"(\d+) hour", text), re.search(r"(\d+) min", text)
    if not hours and not rest:
        return None
    return (int(hours[1]) * 60 if hours else 0) + (int(rest[1]) if rest else 0)


def document(body: bytes, now: datetime) -> tuple[AirportDelay, ...]:
    """The published XML; older than half an hour, it is no answer."""
    root = fromstring(body, forbid_dtd=True)
    if root.tag != "AIRPORT_STATUS_INFORMATION":
        raise ValueError("another document")
    said = " ".join(root.findtext("Update_Time", "").split())
    updated = datetime.strptime(said, "%a %b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC)
    if now - updated > STALE:
        raise Unanswered("down", "stale")
    if strange := [part.tag for kind in root.iter("Delay_type") for part in kind if part.tag not in _KNOWN]:
        log.info("faa_nas: %d sections of an unknown kind left out", len(strange))
    return tuple(_rows(root, updated, now))


def _rows(root: Element, updated: datetime, now: datetime) -> Iterator[AirportDelay]:
    for program in root.iterfind(".//Ground_Stop_List/Program"):
        yield _row(program, "ground_stop", None, program.findtext("End_Time"), updated)
    for delay in root.iterfind(".//Ground_Delay_List/Ground_Delay"):
        yield _row(delay, "ground_delay", minutes(delay.findtext("Avg")), None, updated)
    for delay in root.iterfind(".//Arrival_Departure_Delay_List/Delay"):
        for way in delay.iterfind("Arrival_Departure"):
            if direction := _DIRECTIONS.get(way.get("Type", "")):
                yield _row(delay, direction, minutes(way.findtext("Max")), None, updated)
    for airport in root.iterfind(".//Airport_Closure_List/Airport"):
        begins, ends = (_moment(airport.findtext(name), now) for name in ("Start", "Reopen"))
        if _closed(airport.findtext("Reason", ""), begins, ends, now):
            yield _row(airport, "closure", None, airport.findtext("Reopen"), updated)


def _row(part: Element, kind: Any, number: int | None, ends: str | None, updated: datetime | None) -> AirportDelay:
    return _delay(part.findtext("ARPT", ""), kind, number, part.findtext("Reason"), ends, updated)


def _delay(
    airport: str, kind: Any, number: int | None, reason: Any, ends: Any, updated: datetime | None
) -> AirportDelay:
    said = " ".join(str(reason or "").split())[:REASON]
    until = " ".join(str(ends or "").split()).rstrip(".")[:40] or None
    return AirportDelay(airport.strip(), kind, number, number, said, until, updated)


def _moment(said: str | None, now: datetime) -> datetime | None:
    """`May 27 at 18:26 UTC.` bears no year: the one nearest to now is meant."""
    text = " ".join((said or "").split()).rstrip(".")
    found = []
    for year in (now.year - 1, now.year, now.year + 1):
        try:
            found.append(datetime.strptime(f"{year} {text}", "%Y %b %d at %H:%M UTC").replace(tzinfo=UTC))
        except ValueError:  # also the 29th of February in most years
            continue
    return min(found, key=lambda moment: abs(moment - now), default=None)


def _closed(text: str, begins: datetime | None, ends: datetime | None, now: datetime) -> bool:
    if _NOT_FOR_ALL.search(text):
        return False
    return not (begins and begins > now) and not (ends and ends < now)


def events(body: bytes, now: datetime) -> tuple[AirportDelay, ...]:
    """The JSON behind the FAA's own page, one entry for each airport with something to say.

    It is as of now: its times of change tell when a programme was last revised, not when anybody last looked.
    """
    return tuple(row for entry in _EVENTS.validate_json(body) for row in _entry(entry, now))


def _entry(entry: dict[str, Any], now: datetime) -> Iterator[AirportDelay]:
    airport = entry["airportId"]
    if stop := entry.get("groundStop"):
        ends, reason = stop.get("endTime"), stop.get("impactingCondition")
        yield _delay(airport, "ground_stop", None, reason, ends, None)
    if held := entry.get("groundDelay"):
        number, reason = minutes(held.get("avgDelay")), held.get("impactingCondition")
        yield _delay(airport, "ground_delay", number, reason, held.get("endTime"), None)
    for name, kind in (("arrivalDelay", "arrival"), ("departureDelay", "departure")):
        if late := entry.get(name):
            number = minutes((late.get("arrivalDeparture") or {}).get("max"))
            yield _delay(airport, kind, number, late.get("reason"), None, None)
    for name in ("airportClosure", "freeForm"):
        told = entry.get(name) or {}
        text = str(told.get("simpleText") or told.get("text") or "")
        if not told or (name == "freeForm" and not _AIRPORT_CLOSED.search(text)):
            continue
        if _closed(text, _iso(told.get("startTime")), _iso(told.get("endTime")), now):
            yield _delay(airport, "closure", None, text, told.get("endTime"), None)
            return


def _iso(said: Any) -> datetime | None:
    moment = datetime.fromisoformat(said) if said else None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
