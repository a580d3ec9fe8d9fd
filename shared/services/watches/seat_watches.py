"""Checks of watched award seats of either kind: what to ask, what the answers change, and what is reported."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy.orm import Session

from shared.db.accounts import is_suspended
from shared.db.base import Base
from shared.db.flight_alerts import FlightAlert
from shared.db.profile import find_addressee, read_avoided_airlines
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import COMPLETE, Claim, RunResult, unschedule
from shared.db.watched_keys import list_known_keys, store_states
from shared.domain.award_matches import group_flight_days
from shared.domain.flight_times import count_flight_minutes
from shared.outbox.enqueue import tell
from shared.outbox.wording.award_seats import LISTED
from shared.reference.airports import load_metro_names
from shared.reference.booking_links import list_booking_links
from shared.reference.exchange_rates import convert_amount
from shared.reference.load import reference
from shared.services.search.award_options import AwardOption
from shared.services.watches.award_seats import CheckResult, SeatNews, WatchQuery, find_new_matches, plan_mail
from shared.services.watches.seat_funding import MAX_PROGRAMS, describe_funding, name_program

W = TypeVar("W", RouteMonitor, FlightAlert)


@dataclass(frozen=True)
class Find(Generic[W]):
    """The new matches of one check, the best value first."""

    claim: Claim
    watch: W
    sight: CheckResult
    options: Sequence[AwardOption]


class SeatWatches(ABC, Generic[W]):
    """The watches of one kind; subclasses have the differences between kinds."""

    model: type[W]
    keys: ClassVar[type[Base]]

    @abstractmethod
    def build_query(self, watch: W) -> WatchQuery: ...

    @abstractmethod
    def refresh(self, session: Session, watch: W) -> None:
        """Ends a watch that is over, before asking any source."""

    @abstractmethod
    def note(self, session: Session, find: Find[W]) -> None:
        """Writes how the check went, and what only this kind stores or reports."""

    def describe(self, _session: Session, _watch: W) -> dict[str, Any]:
        """The facts that only messages of this kind have."""
        return {}

    def prepare(self, session: Session, watch_id: int) -> WatchQuery | None:
        """What to ask; None, with the schedule switched off, if there is nothing left to watch."""
        watch = session.get(self.model, watch_id, with_for_update=True)
        if watch is not None:
            self.refresh(session, watch)
        if watch is None or not watch.is_on:
            unschedule(session, self.model.KIND.run, [watch_id])
            return None
        return None if is_suspended(session, watch.account_id) else self.build_query(watch)

    def settle(self, session: Session, claim: Claim, sight: CheckResult) -> RunResult:
        """Writes a check's result, and reports it.

        The watch is read again under its lock: one that was ended, paused or changed since then is not touched.
        """
        watch = session.get(self.model, sight.plan.watch_id, with_for_update=True)
        if watch is None or not watch.is_on or self.build_query(watch) != sight.plan:
            return COMPLETE
        known_keys = list_known_keys(session, self.keys, watch.id)
        options, states = find_new_matches(sight, known_keys, watch.last_checked_at)
        store_states(session, self.keys, watch.id, states, sight.asked_at)
        if options and not sight.plan.terms.airlines:
            avoided = read_avoided_airlines(session, watch.account_id)
            options = [option for option in options if option.airline not in avoided]
        find = Find(claim, watch, sight, options)
        self.note(session, find)
        if options:
            self._tell(session, find)
        return RunResult(sight.retry_reason)

    def _tell(self, session: Session, find: Find[W]) -> None:
        """Reports all new matches of one check in one notice and one mail."""
        kind, watch = self.model.KIND, find.watch
        (event,) = kind.events
        addressee = find_addressee(session, watch.account_id)
        news = SeatNews(addressee, (kind.name, watch.id), find.options)
        mail = plan_mail(session, event, news)
        facts = describe_seats(session, find.sight.plan, find.options, addressee.currency)
        tell(
            session,
            addressee,
            event,
            facts | {kind.number: watch.id} | self.describe(session, watch) | mail.facts,
            dedupe_key=f"{news.name}:{find.claim.id}",
            subject=news.watch,
            mail=mail.tells,
            by_channels=mail.tells,
        )


# The facts that notices and mails about found award seats are written from.


def describe_seats(
    session: Session, query: WatchQuery, options: Sequence[AwardOption], currency: str | None
) -> dict[str, Any]:
    """`options` are in the order of their value. The best offer of each flight and day is described, up to a limit.

    Taxes are in the person's `currency`; None, or without a rate: unconverted.
    """
    groups = group_flight_days(options)
    best = groups[:LISTED]
    pages = list_booking_links(reference(), [offers[0] for offers in best], query.terms.passengers)
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
        "options": [_describe_option(offers[0], len(offers) - 1, currency) for offers in best],
        "week": _list_week(query, options),
        "book": [{"name": name_program(reference(), slug), "url": url} for slug, url in pages.items()][:MAX_PROGRAMS],
        "funding": describe_funding(session, query, options),
    }


def _list_week(query: WatchQuery, options: Sequence[AwardOption]) -> list[dict[str, Any]]:
    """Seven days of the window with the best offer among them, each with its lowest price, or None."""
    last_start = max(query.terms.earliest, query.terms.latest - timedelta(days=6))
    first = min(max(query.terms.earliest, options[0].date - timedelta(days=3)), last_start)
    days = [first + timedelta(days=n) for n in range(7) if first + timedelta(days=n) <= query.terms.latest]
    points = {day: min((o.points for o in options if o.date == day), default=None) for day in days}
    return [{"date": day.isoformat(), "points": points[day]} for day in days] if len(days) > 1 else []


def _name_place(code: str) -> str:
    """`London (LHR)`."""
    airport = reference().airports.get(code)
    name = load_metro_names().get(code) or (airport and (airport.city or airport.name))
    return f"{name} ({code})" if name else code


def _describe_option(option: AwardOption, others: int, currency: str | None) -> dict[str, Any]:
    """In words a mail can use: names instead of codes. `others` are further prices of that flight on that day."""
    airlines = reference().airlines
    taxes, taxes_currency = _convert_taxes(option, currency)
    return {
        "date": option.date.isoformat(),
        "airline": option.airline,
        "airline_name": airlines[option.airline].name if option.airline in airlines else option.airline,
        "program": option.program,
        "program_name": name_program(reference(), option.program),
        "cabin": option.cabin,
        "points": option.points,
        "taxes": None if taxes is None else f"{taxes:.2f}",
        "taxes_currency": taxes_currency,
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


def _convert_taxes(option: AwardOption, currency: str | None) -> tuple[Decimal | None, str | None]:
    if option.taxes is not None and option.taxes_currency and currency:
        taxes = convert_amount(option.taxes, option.taxes_currency, currency)
        if taxes is not None:
            return taxes, currency
    return option.taxes, option.taxes_currency


def _count_minutes(option: AwardOption) -> int | None:
    """Minutes of the journey; None if a local time or a time zone is unknown."""
    airports = reference().airports
    ends = airports.get(option.origin), airports.get(option.destination)
    if ends[0] is None or ends[1] is None:
        return None
    return count_flight_minutes(option.departs_at, ends[0].tz, option.arrives_at, ends[1].tz)
