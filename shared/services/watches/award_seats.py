"""Checks of watched award seats, shared by route monitors and flight alerts.

One question per route and window, no matter who watches it: answers of the last half hour serve all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain, product
from typing import Any, Protocol

from sqlalchemy.orm import Session

from shared import clock
from shared.db.mailed_seats import SeatFind, list_earlier_watches, note_mailed_seats
from shared.db.profile import Addressee
from shared.db.runs import RunResult
from shared.db.seat_filters import SeatFilters
from shared.domain.award_matches import MatchKey, MonitorTerms, find_best, find_crossings, rank_value
from shared.domain.watch_answers import is_overtaken
from shared.limits.concurrency import gather_limited
from shared.outbox.enqueue import is_wanted_by_channel, reachable
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat
from shared.reference.city_airports import list_airports
from shared.reference.exchange_rates import convert_amount
from shared.reference.load import reference
from shared.services.connections.credentials import Credentials
from shared.services.search.ask_each import MAX_PARALLEL
from shared.services.search.availability import VERB, Window, search_window
from shared.services.search.award_options import AwardOption
from shared.settings import settings

PUT_OFF_FOR = timedelta(minutes=30)  # as long as answers serve: 10,000 watches put off are six looks a second
PARTLY_PUT_OFF_FOR = timedelta(minutes=5)  # while what was answered is still fresh


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
    origin: str  # an airport or a city with several, and so the destination
    destination: str
    terms: MonitorTerms
    looked_at: datetime | None = field(default=None, compare=False)  # no term: the watch is the same after a look

    @property
    def routes(self) -> list[tuple[str, str]]:
        """Each airport of the origin with each of the destination."""
        facts = reference()
        ends = [list_airports(facts, code) for code in (self.origin, self.destination)]
        return list(product(ends[0], ends[1]))

    @property
    def question(self) -> tuple[str, str, date, date, frozenset[str] | None]:
        """Watches of which it is the same are served by one answer."""
        return self.origin, self.destination, self.terms.earliest, self.terms.latest, self.terms.airlines


@dataclass(frozen=True)
class CheckResult:
    """What the providers answered to a plan."""

    plan: WatchQuery
    asked_at: datetime
    window: Window

    @property
    def outcome(self) -> str:
        """No one answered: an outage can be tried again, a missing connection or setting cannot."""
        coverage = self.window.coverage
        if self.window.any_answered:
            return "partial" if coverage.failed else "ok"
        if coverage.failed:
            return "backend_unavailable"
        return coverage.skipped[0].reason if coverage.skipped else "not_configured"

    @property
    def put_off(self) -> RunResult | None:
        """Set when a source has no call left for checks now: the run comes again, and nothing is told or written."""
        if not self.window.put_off:
            return None
        return RunResult(put_off=PARTLY_PUT_OFF_FOR if self.window.any_answered else PUT_OFF_FOR)

    @property
    def retry_reason(self) -> str | None:
        """Set when no one answered and a later attempt at the run may go better."""
        silent = ", ".join(self.window.failed)
        return f"no source answered: {silent}" if self.outcome == "backend_unavailable" else None


async def query_sources(plan: WatchQuery) -> CheckResult:
    """Asks the providers; holds no connection to the database in the meantime."""
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


async def query_together(plans: Sequence[WatchQuery], in_time: Callable[[], bool]) -> list[CheckResult]:
    """What the providers answer to those plans that are begun in time.

    Answers that come at once are stored together: for a question of its own a check took 5.6 ms of a worker instead of
    6.9, and 1.7 of the database instead of 1.9.
    """

    async def query_in_turn(its_plans: Sequence[WatchQuery]) -> list[CheckResult]:
        return [await query_sources(plan) for plan in its_plans if in_time()]

    turns = [partial(query_in_turn, its_plans) for its_plans in _group_by_answer(plans)]
    return list(chain.from_iterable(await gather_limited(turns, MAX_PARALLEL)))


def _group_by_answer(plans: Sequence[WatchQuery]) -> list[list[WatchQuery]]:
    """Those that one answer may serve, so that they are asked one after the other: all of them where a source takes
    lists of airports."""
    is_shared = any(source.page_rows for source in registry.providers_of(VERB))
    groups: dict[Any, list[WatchQuery]] = defaultdict(list)
    for plan in plans:
        groups[None if is_shared else plan.question].append(plan)
    return list(groups.values())


def find_new_matches(
    sight: CheckResult, key_states: Sequence[KeyState], answered_at: datetime | None
) -> tuple[list[AwardOption], dict[str, bool]]:
    """The fresh matches, the best value first, and the states that changed.

    Where a later question was answered already (`answered_at` of the watch), nothing of this one counts. Thirty keys of
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
    """Whether the taxes are at most those of the terms; unknown ones, or without a rate, prove nothing."""
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
    """Whether a message about found seats goes out, and if not, for which other watches it went: kind and number.

    Without `by_mail` it goes out by other channels alone.
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
    """What one watch, of a kind and number, has found for a person, the best value first."""

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


def plan_mails(session: Session, event: str, news: Sequence[SeatNews]) -> list[MailPlan]:
    """For each, in their order: a message goes out if it tells the person anything another of their watches has not
    just told."""
    now = clock.now()
    since = now - timedelta(seconds=settings().route_monitor_interval_seconds)
    by_mail = [reachable(session, one.addressee, event) for one in news]
    is_wanted = [mail or is_wanted_by_channel(one.addressee, event) for one, mail in zip(news, by_mail, strict=True)]
    finds = [one.list_finds() if wants else [] for one, wants in zip(news, is_wanted, strict=True)]
    fresh = note_mailed_seats(session, chain.from_iterable(finds), now, since)
    tells = [not fresh.isdisjoint(its) for its in finds]
    return [
        MailPlan(is_news, () if is_news or not its else _list_earlier(session, one, its, since), mail)
        for one, is_news, its, mail in zip(news, tells, finds, by_mail, strict=True)
    ]


def _list_earlier(
    session: Session, news: SeatNews, finds: Iterable[SeatFind], since: datetime
) -> tuple[tuple[str, int], ...]:
    keys: dict[str, list[str]] = defaultdict(list)
    for find in finds:
        keys[find.route].append(find.key)
    names = list_earlier_watches(session, news.addressee.id, news.name, keys, since)
    return tuple((kind, int(number)) for kind, _, number in (n.partition(":") for n in names))
