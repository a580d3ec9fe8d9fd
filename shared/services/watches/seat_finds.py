"""What checks of watched award seats found: the key states that changed, and one message for each watch with news."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from shared.db.base import Base
from shared.db.flight_alerts import FlightAlert
from shared.db.profile import find_addressees
from shared.db.route_monitors import RouteMonitor
from shared.db.watched_keys import list_key_rows, list_known_keys, store_key_rows
from shared.domain.award_matches import group_flight_days
from shared.domain.flight_times import count_flight_minutes
from shared.outbox.enqueue import News, tell_all
from shared.outbox.wording.award_seats import LISTED
from shared.reference.airports import load_metro_names
from shared.reference.load import reference
from shared.services.search.award_options import AwardOption
from shared.services.watches.award_seats import CheckResult, SeatNews, WatchQuery, find_new_matches, plan_mails
from shared.services.watches.seat_funding import MAX_PROGRAMS, Purses, describe_funding, load_purses, name_program

# The facts that notices and mails about found award seats are written from.


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


SeatWatch = RouteMonitor | FlightAlert
W = TypeVar("W", RouteMonitor, FlightAlert)


@dataclass(frozen=True)
class Find:
    """The fresh matches of one check, the best value first."""

    run_id: int
    sight: CheckResult
    options: Sequence[AwardOption]

    @property
    def plan(self) -> WatchQuery:
        return self.sight.plan


def list_settled(
    sights: Mapping[int, CheckResult], watches: Mapping[int, W], query_of: Callable[[W], WatchQuery]
) -> list[tuple[int, CheckResult, W]]:
    """Of several checks by run those that someone answered, of watches that are as they were when they were asked."""
    checks = [(run_id, sight, watches.get(sight.plan.watch_id)) for run_id, sight in sights.items()]
    return [
        (run_id, sight, watch)
        for run_id, sight, watch in checks
        if watch is not None and sight.window.any_answered and query_of(watch) == sight.plan
    ]


def store_finds(session: Session, keys: type[Base], checks: Sequence[tuple[int, CheckResult, SeatWatch]]) -> list[Find]:
    """Run by run what was seen of a watch that the caller holds: writes the states of keys that changed."""
    known_keys = list_known_keys(session, keys, [watch.id for _, _, watch in checks])
    finds: list[Find] = []
    changes: list[dict[str, Any]] = []
    for run_id, sight, watch in checks:
        new_matches, states = find_new_matches(sight, known_keys.get(watch.id, ()), watch.last_checked_at)
        finds.append(Find(run_id, sight, new_matches))
        changes += list_key_rows(keys, watch.id, states, sight.asked_at)
    store_key_rows(session, keys, changes)
    return finds


@dataclass(frozen=True)
class Wording:
    """How watches of one kind are told of: by which event, and which facts are theirs alone."""

    kind: str
    event: str
    describe: Callable[[Session, Find], dict[str, Any]]


def tell_finds(session: Session, wording: Wording, finds: Sequence[Find]) -> None:
    """All fresh matches of one check make one notice and one mail."""
    accounts = {find.plan.account_id for find in finds}
    addressees, purses = find_addressees(session, accounts), load_purses(session, accounts)
    seats = [
        SeatNews(addressees[find.plan.account_id], (wording.kind, find.plan.watch_id), find.options) for find in finds
    ]
    mails = plan_mails(session, wording.event, seats)
    news = [
        News(
            one.addressee,
            wording.event,
            describe_seats(session, find.plan, find.options, purses) | wording.describe(session, find) | mail.facts,
            dedupe_key=f"{one.name}:{find.run_id}",
            subject=one.watch,
            mail=mail.tells,
            by_channels=mail.tells,
        )
        for find, one, mail in zip(finds, seats, mails, strict=True)
    ]
    tell_all(session, news)
