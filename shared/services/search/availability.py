"""Searches for award seats: one airline and day, or a window of days for a watch."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from shared import clock
from shared.domain.award_matches import MatchKey
from shared.domain.plans import CABINS
from shared.errors import NoData
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, Reading, SeatsQuestion, build_seats_questions
from shared.providers.request import PUT_OFF
from shared.services.search.ask_each import ask_each
from shared.services.search.award_ids import award_id
from shared.services.search.award_options import AwardOption, build_option
from shared.services.search.provenance import (
    Coverage,
    Freshness,
    coverage,
    freshness,
    mode_of,
    require_answer,
)
from shared.settings import settings

VERB = "award_seats"
Readings = Sequence[Reading[tuple[AwardSeat, ...]]]
Offers = Sequence[tuple[Reading[tuple[AwardSeat, ...]], AwardSeat]]


@dataclass(frozen=True)
class Found:
    """The result of one search. Empty options mean that a source answered and nothing is open."""

    options: list[AwardOption]
    coverage: Coverage
    freshness: Freshness
    parts: Sequence[AwardSeat] = ()  # where nothing is open for all of the party


@dataclass(frozen=True)
class Window:
    """The result for a window: options with enough seats, and the keys with any answer.

    Options are made only of those that are reported: making them of all was a seventh of a check with no news.
    """

    offers: Offers
    build: Callable[[Offers], list[AwardOption]]
    any_answered: bool
    failed: tuple[str, ...]  # sources that did not answer, or could not be asked
    coverage: Coverage
    question: SeatsQuestion  # of the first route; those of the others differ only in the airports
    seen_keys: frozenset[MatchKey]
    put_off: bool = False  # a source reserves its calls for people, or for later in the day

    @property
    def options(self) -> list[AwardOption]:
        return self.build(self.offers)

    @property
    def seats(self) -> list[AwardSeat]:
        return [seat for _, seat in self.offers]

    def build_options(self, seats: Iterable[AwardSeat]) -> list[AwardOption]:
        """Options of the seats of this window."""
        numbers = {id(seat) for seat in seats}
        return self.build([(reading, seat) for reading, seat in self.offers if id(seat) in numbers])

    def knows_state(self, key: MatchKey) -> bool:
        """Whether the state of this key is known now.

        An option seen is known. That a key is gone is known only if every source asked answered, since the
        one that failed may be the one that had it; one that could not be asked never had anything for this account.
        """
        in_window = self.question.earliest <= key.date <= self.question.latest
        if not in_window or (self.question.airlines and key.airline not in self.question.airlines):
            return False
        return (self.any_answered and not self.coverage.failed) or key in self.seen_keys


def _option(
    reading: Reading[tuple[AwardSeat, ...]], seat: AwardSeat, account_id: int | None, passengers: int
) -> AwardOption:
    return build_option(
        seat,
        trip_id=award_id(account_id, reading.source, seat),
        source=reading.source,
        mode=mode_of(reading),
        checked_at=seat.checked_at,
        seen_at=reading.taken_at,
        now=clock.now(),
        passengers=passengers,
    )


def list_offers(
    readings: Readings, account_id: int | None, cabins: Sequence[str], passengers: int
) -> list[AwardOption]:
    """Cheapest first. An unstated number of seats counts as enough, and is shown as unknown."""
    return _build_options(_choose(readings, cabins, passengers), account_id, cabins, passengers)


def _choose(readings: Readings, cabins: Sequence[str], passengers: int) -> Offers:
    return [
        (reading, seat)
        for reading in readings
        for seat in reading.value or ()
        if seat.cabin in cabins and (seat.seats is None or seat.seats >= passengers)
    ]


def _build_options(offers: Offers, account_id: int | None, cabins: Sequence[str], passengers: int) -> list[AwardOption]:
    options = [_option(reading, seat, account_id, passengers) for reading, seat in offers]
    return sorted(options, key=lambda o: (o.date, cabins.index(o.cabin), o.points, o.program))


async def read(ask: Ask, questions: Sequence[SeatsQuestion]) -> Readings:
    """Reads every source. Raises BackendUnavailable or ConnectionRequired if none answered, and NoData if
    those who answered know nothing of these airlines on these routes, which are of the same days and airlines."""
    readings = [reading for answer in await ask_each(ask, VERB, questions) for reading in answer]
    require_answer(readings, VERB, "The search for award seats")
    if all(r.reason == "not_served" for r in readings if r.has_answer):
        who = ", ".join(questions[0].airlines) or "any airline"
        ends = ({q.origin: None for q in questions}, {q.destination: None for q in questions})
        origin, destination = (" or ".join(codes) for codes in ends)
        raise NoData(
            f"No source has award seats or a chart price of {who} from {origin} to {destination}.",
            missing=[f"{who} {q.origin}-{q.destination}" for q in questions],
        )
    return readings


async def find(ask: Ask, questions: Sequence[SeatsQuestion], cabins: Sequence[str], passengers: int = 1) -> Found:
    """Everything open, by day and cabin, cheapest first. Raises as `read` does."""
    readings = await read(ask, questions)
    options = list_offers(readings, ask.account_id, cabins, passengers)
    parts = () if options else find_parts(readings, cabins, passengers)
    return Found(options, coverage(readings), freshness(readings), parts)


def find_parts(readings: Readings, cabins: Sequence[str], passengers: int) -> list[AwardSeat]:
    """The flights of one day that seat a party in parts, where none seats all; else the one with the most seats.

    Offers of one airline on one day may be the same seats, so the largest of them counts.
    """
    largest: dict[date, dict[str, AwardSeat]] = {}
    for _, seat in _choose(readings, cabins, 1):
        if seat.seats and seat.seats < passengers:
            of_day = largest.setdefault(seat.date, {})
            if seat.airline not in of_day or seat.seats > (of_day[seat.airline].seats or 0):
                of_day[seat.airline] = seat
    choices: list[list[AwardSeat]] = []
    for day in sorted(largest):
        parts: list[AwardSeat] = []
        for seat in sorted(largest[day].values(), key=lambda s: (-(s.seats or 0), s.points)):
            if sum(s.seats or 0 for s in parts) < passengers:
                parts.append(seat)
        choices.append(parts if sum(s.seats or 0 for s in parts) >= passengers else parts[:1])
    return min(choices, key=lambda parts: (len(parts) == 1, len(parts), -(parts[0].seats or 0)), default=[])


async def search(
    ask: Ask,
    airline: str,
    routes: Iterable[tuple[str, str]],
    day: date,
    cabins: Sequence[str],
    passengers: int = 1,
) -> Found:
    """One airline (its two letters), one day, one route or all between two cities. Raises as `read` does."""
    questions = [SeatsQuestion(*route, day, day, (airline,)) for route in routes]
    return await find(ask, questions, cabins, passengers)


async def search_window(
    ask: Ask,
    routes: Sequence[tuple[str, str]],
    earliest: date,
    latest: date,
    cabin: str | None = None,
    airlines: Sequence[str] | None = None,
    passengers: int = 1,
    max_age: timedelta | None = None,
) -> Window:
    """Everything open on one or several routes in a window of days, for a watch. Never raises because a source failed.

    `ask` is made again for each check: its time budget starts with the first question. `airlines` are two-letter codes,
    None means all. Days before today are left out. Ask `window.knows_state(key)` before believing that a key is gone.
    Answers older than `max_age` are not used from the cache; by default a twelfth of the check interval, at most half
    an hour, so that watches of one route share an answer but every check looks again.
    """
    pace = timedelta(seconds=settings().route_monitor_interval_seconds / 12)
    fresh = max_age if max_age is not None else min(pace, timedelta(minutes=30))
    questions = build_seats_questions(routes, earliest, latest, airlines)
    has_days = questions[0].earliest <= latest
    readings = await ask.all(VERB, questions, fresh) if has_days else []
    sources = coverage(readings)
    silent = [f.name for f in (*sources.failed, *sources.skipped) if f.reason != "not_configured"]
    if has_days and not silent and not sources.answered:
        silent = [VERB]  # no one is configured to answer
    cabins = (cabin,) if cabin else CABINS
    offers = _choose(readings, cabins, passengers)
    return Window(
        offers=offers,
        build=partial(_build_options, account_id=ask.account_id, cabins=cabins, passengers=passengers),
        any_answered=any(r.has_answer for r in readings),
        failed=tuple(silent),
        coverage=sources,
        question=questions[0],
        seen_keys=frozenset(MatchKey.of(seat) for _, seat in offers),
        put_off=any(r.reason == PUT_OFF for r in readings),
    )
