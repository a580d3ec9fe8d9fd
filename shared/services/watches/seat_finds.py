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
from shared.outbox.enqueue import News, tell_all
from shared.services.search.award_options import AwardOption
from shared.services.watches.award_seats import CheckResult, SeatNews, WatchQuery, find_new_matches, plan_mails
from shared.services.watches.seat_funding import load_purses
from shared.services.watches.seat_messages import describe_seats

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
