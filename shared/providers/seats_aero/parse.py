"""Parsers of seats.aero's award seats and trips; rows with unknown words are counted and left out.

Their quirks: prices of a summary are text, those of a trip numbers; taxes are in the smallest coin; 0 seats left of a
seat that is open means that no one says how many; local times end in Z; partners' flights stand next to the programme's
own.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from shared.domain.minor_units import from_minor_units
from shared.providers.contract import (
    AwardSeat,
    AwardTrip,
    BookingLink,
    SeatsQuestion,
    Segment,
    Unanswered,
)
from shared.providers.seats_aero.programs import slug_of

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
    """A word of theirs we have no word for."""


def parse_page(body: bytes) -> Page:
    answer = json.loads(body)
    rows = answer["data"] or []
    if not all(isinstance(row, dict) and row["ID"] for row in rows):
        raise ValueError
    return Page(rows, bool(answer.get("hasMore")), answer.get("cursor"))


def parse_seats(rows: Iterable[dict[str, Any]], question: SeatsQuestion) -> tuple[AwardSeat, ...]:
    """Of each programme, day, cabin and airline the cheapest seat, and those that are dearer and better."""
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
    """Nothing understood is not the same as nothing open."""
    if passed:
        log.warning("seats_aero: passed over %s", ", ".join(f"{n} of unknown {what}" for what, n in passed.items()))
    if passed and not any_read:
        raise Unanswered("down", "wrong_shape") if passed["shape"] else Unanswered("not_covered", "unknown_words")


def _matches_question(seat: AwardSeat, question: SeatsQuestion) -> bool:
    """The filters of the source, once more: not every one of them is promised."""
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
    """The row, and the trip in it or else the cabin. Empty where the row's id is none that can be asked for."""
    if not ID_PATTERN.fullmatch(str(row["ID"])):
        return ""
    return f"{row['ID']}:{trip if trip and ID_PATTERN.fullmatch(str(trip)) else cabin}"


def _drop_worse_offers(offers: Iterable[AwardSeat]) -> list[AwardSeat]:
    """Without those for which the same airline has one that is as cheap, as direct and with as many seats."""
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
        aircraft=_clean_text(segments[0].get("AircraftName")) if len(segments) == 1 else None,
        booking_url=None,
        checked_at=_parse_time(trip.get("UpdatedAt") or row["UpdatedAt"]),
    )


def _seat_from_summary(row: dict[str, Any], program: str, letter: str) -> Iterator[AwardSeat]:
    """Of a programme that publishes no flights. A price of several airlines is whose it says: the direct one's, if
    that is the price, else the first named."""
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
        flight_numbers=(),
        departs_at=None,
        arrives_at=None,
        aircraft=None,
        booking_url=None,
        checked_at=_parse_time(row["UpdatedAt"]),
    )


def parse_trips(body: bytes, ref: str, trip_or_cabin: str) -> tuple[AwardTrip, ...]:
    """The ways to fly: the very trip when the reference names one, else all of its cabin, cheapest first."""
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
    """Of several airlines the one that flies farthest; of trips without segments the first."""
    carriers = _split_list(trip["Carriers"])
    longest = max(segments, key=lambda s: s.get("Distance") or 0, default={})
    number = str(longest.get("FlightNumber") or "")
    return next((c for c in carriers if number.startswith(c)), carriers[0])


def _split_list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _clean_text(value: Any) -> str | None:
    """Their words are shown as one short line."""
    return "".join(c for c in " ".join(str(value).split()) if c.isprintable())[:MAX_LABEL_CHARACTERS] if value else None


def _parse_currency(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    code = first.get("TaxesCurrency") or second.get("TaxesCurrency")
    return code if isinstance(code, str) and len(code) == 3 and code.isalpha() and code.isupper() else None


def _parse_taxes(amount: int | None, currency: str | None) -> Decimal | None:
    """0 is what programmes that do not publish them show."""
    return from_minor_units(int(amount), currency) if amount and currency else None


def _parse_local_time(text: str | None) -> str | None:
    return text.removesuffix("Z")[:16] if text else None


def _parse_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
