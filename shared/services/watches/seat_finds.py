"""The facts that notices and mails about found award seats are written from."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from shared.domain.award_matches import group_flight_days
from shared.domain.flight_times import count_flight_minutes
from shared.outbox.wording.award_seats import LISTED
from shared.reference.airports import load_metro_names
from shared.reference.load import reference
from shared.services.search.award_options import AwardOption
from shared.services.watches.award_seats import WatchQuery
from shared.services.watches.seat_funding import MAX_PROGRAMS, Purses, describe_funding, name_program


def describe_seats(
    session: Session, query: WatchQuery, options: Sequence[AwardOption], purses: Purses
) -> dict[str, Any]:
    """`options` are in the order of their value. Of each flight on a day the best is spelled out, of many the best."""
    groups = group_flight_days(options)
    best = groups[:LISTED]
    return {
        "origin": query.origin,
        "destination": query.destination,
        "origin_name": _name_place(query.origin),
        "destination_name": _name_place(query.destination),
        "earliest": query.terms.earliest.isoformat(),
        "latest": query.terms.latest.isoformat(),
        "cabin": query.terms.cabin,
        "passengers": query.terms.passengers,
        "total": len(options),
        "flight_days": len(groups),
        "options": [_describe_option(offers[0], len(offers) - 1) for offers in best],
        "book": _list_booking_pages([offers[0] for offers in best]),
        "funding": describe_funding(session, query, options, purses),
    }


def _list_booking_pages(options: Sequence[AwardOption]) -> list[dict[str, str]]:
    """Where the programmes of these options sell awards, those of the best options first."""
    pages = reference().find_booking_pages(option.program for option in options)
    return [{"name": name_program(slug), "url": url} for slug, url in pages.items()][:MAX_PROGRAMS]


def _name_place(code: str) -> str:
    """`London (LHR)`."""
    airport = reference().airports.get(code)
    name = load_metro_names().get(code) or (airport and (airport.city or airport.name))
    return f"{name} ({code})" if name else code


def _describe_option(option: AwardOption, others: int) -> dict[str, Any]:
    """In words a mail can use: names instead of codes. `others` are further prices of that flight on that day."""
    airlines = reference().airlines
    return {
        "date": option.date.isoformat(),
        "airline": option.airline,
        "airline_name": airlines[option.airline].name if option.airline in airlines else option.airline,
        "program": option.program,
        "program_name": name_program(option.program),
        "cabin": option.cabin,
        "points": option.points,
        "taxes": None if option.taxes is None else f"{option.taxes:.2f}",
        "taxes_currency": option.taxes_currency,
        "seats": option.seats,
        "origin": option.origin,
        "destination": option.destination,
        "departs_at": option.departs_at,
        "arrives_at": option.arrives_at,
        "stops": option.stops,
        "minutes": _count_minutes(option),
        "flight_numbers": list(option.flight_numbers),
        "others": others,
        "checked_at": option.provider_checked_at.isoformat(timespec="minutes") if option.provider_checked_at else None,
    }


def _count_minutes(option: AwardOption) -> int | None:
    """How long the journey takes; None where a local time or a time zone is not known."""
    airports = reference().airports
    ends = airports.get(option.origin), airports.get(option.destination)
    if ends[0] is None or ends[1] is None:
        return None
    return count_flight_minutes(option.departs_at, ends[0].tz, option.arrives_at, ends[1].tz)
