"""The facts that notices and mails about found award seats are worded from."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from shared.domain.award_matches import pick_best_days
from shared.outbox.wording.award_seats import LISTED
from shared.reference.airports import load_metro_names
from shared.reference.load import reference
from shared.services.search.award_options import AwardOption
from shared.services.watches.award_seats import WatchQuery
from shared.services.watches.seat_funding import MAX_PROGRAMS, describe_funding, name_program


def describe_seats(session: Session, query: WatchQuery, options: Sequence[AwardOption]) -> dict[str, Any]:
    """`options` are in the order of their value. The best of each day is spelled out, the best days of a long list."""
    days = pick_best_days(options)
    that_day = Counter(option.date for option in options)
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
        "days": len(days),
        "options": [_describe_option(option, that_day[option.date] - 1) for option in days[:LISTED]],
        "book": _list_booking_pages(days[:LISTED]),
        "funding": describe_funding(session, query, options),
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
    """In words a mail can use: names instead of codes. `others` are further options of that day."""
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
        "flight_numbers": list(option.flight_numbers),
        "others": others,
        "checked_at": option.provider_checked_at.isoformat(timespec="minutes") if option.provider_checked_at else None,
    }
