"""Checks of watched award seats, shared by route monitors and flight alerts.

One question per route and window, no matter who watches it: answers of the last half hour serve all of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any, Protocol

from sqlalchemy.orm import Session

from shared import clock
from shared.db.mailed_seats import SeatFind, list_earlier_watches, note_mailed_seats
from shared.db.profile import Addressee
from shared.db.runs import RunResult
from shared.db.seat_filters import SeatFilters
from shared.domain.award_matches import MatchKey, MonitorTerms, find_best, find_crossings, rank_value
from shared.domain.watch_answers import is_overtaken
from shared.outbox.enqueue import is_wanted_by_channel, reachable
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat
from shared.reference.city_airports import list_airports
from shared.reference.exchange_rates import convert_amount
from shared.reference.load import reference
from shared.services.connections.credentials import Credentials
from shared.services.search.availability import Window, search_window
from shared.services.search.award_options import AwardOption
from shared.settings import settings

PUT_OFF_FOR = timedelta(minutes=30)  # as long as answers are shared: 10,000 postponed watches are six checks a second
PARTLY_PUT_OFF_FOR = timedelta(minutes=5)  # while the answer is still fresh


class KeyState(Protocol):
    """The stored state of one watched key: whether it matched when it was last answered."""

    key: str
    matched: bool


@dataclass(frozen=True)
class WatchQuery:
    """What to ask for one watch, read before asking; `terms` tells later whether the user changed it in the
    meantime.
    """

    watch_id: int
    account_id: int
    origin: str  # an airport or a city with several, like the destination
    destination: str
    terms: MonitorTerms
    looked_at: datetime | None = field(default=None, compare=False)  # not a term: a check does not change the watch

    @property
    def routes(self) -> list[tuple[str, str]]:
        """Each airport of the origin with each of the destination."""
        facts = reference()
        ends = [list_airports(facts, code) for code in (self.origin, self.destination)]
        return list(product(ends[0], ends[1]))

    @property
    def question(self) -> tuple[str, str, date, date, frozenset[str] | None]:
        """One answer serves all watches with the same question."""
        return self.origin, self.destination, self.terms.earliest, self.terms.latest, self.terms.airlines


@dataclass(frozen=True)
class CheckResult:
    """The providers' answers to a plan."""

    plan: WatchQuery
    asked_at: datetime
    window: Window

    @property
    def outcome(self) -> str:
        """How the check went. If none answered: an outage can be retried, a missing connection or setting cannot."""
        coverage = self.window.coverage
        if self.window.any_answered:
            return "partial" if coverage.failed else "ok"
        if coverage.failed:
            return "backend_unavailable"
        return coverage.skipped[0].reason if coverage.skipped else "not_configured"

    @property
    def put_off(self) -> RunResult | None:
        """Set if a source has no calls left for checks now: the run is repeated later, without any effect now."""
        if not self.window.put_off:
            return None
        return RunResult(put_off=PARTLY_PUT_OFF_FOR if self.window.any_answered else PUT_OFF_FOR)

    @property
    def retry_reason(self) -> str | None:
        """Set if none answered and a later attempt may succeed."""
        silent = ", ".join(self.window.failed)
        return f"no source answered: {silent}" if self.outcome == "backend_unavailable" else None


async def query_sources(plan: WatchQuery) -> CheckResult:
    """Asks the providers; holds no connection to the database until they answer."""
    asked_at, terms = clock.now(), plan.terms
    window = await search_window(
        Ask.for_watch(plan.account_id, Credentials(plan.account_id), plan.looked_at),
        plan.routes,
        terms.earliest,
        terms.latest,
        cabin=terms.cabin,
        airlines=sorted(terms.airlines) if terms.airlines else None,
        passengers=terms.passengers,
    )
    return CheckResult(plan, asked_at, window)


def find_new_matches(
    sight: CheckResult, key_states: Sequence[KeyState], answered_at: datetime | None
) -> tuple[list[AwardOption], dict[str, bool]]:
    """The fresh matches, the best value first, and the states that changed.

    If a later question was already answered (`answered_at` of the watch), this one does not count. Thirty keys of
    a watch stayed as they were at almost every check, and writing them again took a quarter of the database's time.
    """
    if is_overtaken(sight.asked_at, answered_at):
        return [], {}
    terms = sight.plan.terms
    best = find_best(terms, (seat for seat in sight.window.seats if _fits_taxes(terms, seat)))
    before = {MatchKey.parse(row.key): row.matched for row in key_states}
    fresh, states = find_crossings(before, best, sight.window.knows_state)
    matches = sorted(sight.window.build_options(best[key] for key in fresh), key=rank_value)
    return matches, {str(key): matched for key, matched in states.items() if before.get(key) is not matched}


def _fits_taxes(terms: MonitorTerms, seat: AwardSeat) -> bool:
    """Whether the taxes are at most those of the terms; unknown ones, or without a rate, do not fit."""
    if terms.max_taxes is None or terms.max_taxes_currency is None:
        return True
    if seat.taxes is None or seat.taxes_currency is None:
        return False
    taxes = convert_amount(seat.taxes, seat.taxes_currency, terms.max_taxes_currency)
    return taxes is not None and taxes <= terms.max_taxes


def filters_of(watch: SeatFilters) -> dict[str, Any]:
    """The filters of a stored watch as terms."""
    return {
        "nonstop_only": watch.nonstop_only,
        "weekdays": frozenset(watch.weekdays) if watch.weekdays else None,
        "max_taxes": watch.max_taxes,
        "max_taxes_currency": watch.max_taxes_currency,
    }


@dataclass(frozen=True)
class MailPlan:
    """Whether a message about found seats goes out, and if not, the other watches it was sent for: kind and number.

    Without `by_mail` it goes out only by other channels.
    """

    tells: bool
    earlier: tuple[tuple[str, int], ...] = ()
    by_mail: bool = True

    @property
    def facts(self) -> dict[str, Any]:
        """For the words of the notice."""
        earlier = self.earlier if self.by_mail else ()
        return {"mailed": self.tells and self.by_mail, "mailed_for": [list(watch) for watch in earlier]}


@dataclass(frozen=True)
class SeatNews:
    """The finds of one watch, by kind and number, for a person, the best value first."""

    addressee: Addressee
    watch: tuple[str, int]
    options: Sequence[AwardOption]

    @property
    def name(self) -> str:
        return f"{self.watch[0]}:{self.watch[1]}"

    def list_finds(self) -> list[SeatFind]:
        return [
            SeatFind(self.addressee.id, f"{o.origin}-{o.destination}", str(MatchKey.of(o)), o.date, o.points, self.name)
            for o in self.options
        ]


def plan_mail(session: Session, event: str, news: SeatNews) -> MailPlan:
    """Plans a message if it has news that another of the person's watches has not just sent."""
    now = clock.now()
    since = now - timedelta(seconds=settings().route_monitor_interval_seconds)
    by_mail = reachable(session, news.addressee, event)
    if not by_mail and not is_wanted_by_channel(news.addressee, event):
        return MailPlan(tells=False, by_mail=by_mail)
    finds = news.list_finds()
    tells = bool(note_mailed_seats(session, finds, now, since))
    return MailPlan(tells, () if tells else _list_earlier(session, news, finds, since), by_mail)


def _list_earlier(
    session: Session, news: SeatNews, finds: Iterable[SeatFind], since: datetime
) -> tuple[tuple[str, int], ...]:
    keys: dict[str, list[str]] = defaultdict(list)
    for find in finds:
        keys[find.route].append(find.key)
    names = list_earlier_watches(session, news.addressee.id, news.name, keys, since)
    return tuple((kind, int(number)) for kind, _, number in (n.partition(":") for n in names))
