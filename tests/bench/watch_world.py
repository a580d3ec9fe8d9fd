"""A world of watches in virtual time: who watches what, a source that pages and counts, and checks as they fall due."""

import heapq
import random
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import ceil
from unittest.mock import patch

from shared import clock, limits
from shared.db.due_watches import MOST, DueWatch
from shared.providers import ask as recording
from shared.providers import quota, registry
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, Reading, SeatsQuestion, build_seats_questions
from shared.providers.request import PUT_OFF
from shared.providers.seats_aero.client import TAKE
from shared.providers.seats_batching import DueQuestions
from shared.services.watches.award_seats import PUT_OFF_FOR
from tests.support.paging_source import PagingSource, find_rows

EVERY, FRESH = timedelta(hours=6), timedelta(minutes=30)
HEALTH = "seats_aero:operator"
START = datetime(2027, 1, 4, tzinfo=UTC)
HUBS = ["LHR", "JFK", "CDG", "LAX", "FRA", "SIN", "NRT", "DXB", "ORD", "SFO", "AMS", "HKG", "SYD", "MAD", "BOS", "DOH"]
HOMES = ["EWR", "SEA", "DEN", "ATL", "MIA", "YYZ", "MAN", "DUB", "MUC", "ZRH", "CPH", "ARN", "VIE", "BRU", "MEL", "YVR"]
BEACHES = [
    "HNL",
    "MLE",
    "CUN",
    "DPS",
    "HKT",
    "BKK",
    "PPT",
    "NAN",
    "PUJ",
    "TFS",
    "PMI",
    "ATH",
    "OGG",
    "SJO",
    "AUA",
    "MRU",
]
# Of school holidays the first day and the number of days.
HOLIDAYS = [(date(2027, 2, 13), 9), (date(2027, 3, 26), 16), (date(2027, 5, 29), 9), (date(2027, 7, 17), 44)]
HOLIDAYS += [(date(2027, 10, 23), 9), (date(2027, 12, 18), 16)]
AIRLINES = ["BA", "VS", "AF", "UA", "EY", "JL"]


def _pick(draw: random.Random, places: Sequence[str]) -> str:
    """The first are watched most: the n-th a n-th as often."""
    return draw.choices(places, [1 / (n + 1) for n in range(len(places))])[0]


def _draw_route(draw: random.Random, kind: str, airports: int) -> tuple[str, str]:
    hubs, homes, beaches = HUBS[:airports], HOMES[:airports], BEACHES[:airports]
    while True:
        origin = _pick(draw, hubs) if kind == "hubs" or draw.random() < 0.5 else _pick(draw, homes)
        end = _pick(draw, {"leisure": beaches, "school": hubs + beaches}.get(kind, hubs))
        if origin != end:
            return origin, end


def _draw_window(draw: random.Random, kind: str) -> tuple[date, date]:
    if kind == "school":
        first, days = draw.choice(HOLIDAYS)
        return first + timedelta(days=draw.randint(-2, 2)), first + timedelta(days=days + draw.randint(-2, 2))
    ahead = draw.randint(14, 320)
    days = draw.choice((1, 3, 3, 5, 7, 14)) if kind == "hubs" else draw.choice((7, 10, 14, 21, 30))
    first = START.date() + timedelta(days=ahead)
    return first, first + timedelta(days=days - 1)


def draw_watches(number: int, airports: int = 16) -> list[DueWatch]:
    """45 of 100 between hubs, 35 to leisure places, 20 in school holidays; a quarter names an airline.

    `airports` are those of each sort: few for few watches, so that they meet as often as many do.
    """
    draw = random.Random(20)
    watches = []
    for id in range(number):
        (kind,) = draw.choices(("hubs", "leisure", "school"), (45, 35, 20))
        airlines = [draw.choice(AIRLINES)] if draw.random() < 0.25 else None
        ends, days = _draw_route(draw, kind, airports), _draw_window(draw, kind)
        watches.append(DueWatch("route_monitor", id, 1, *ends, *days, airlines, None))
    return watches


@dataclass
class World:
    """`looks` are the moments at which each watch was answered; `seen` what it was told last."""

    watches: list[DueWatch]
    source: PagingSource = field(default_factory=PagingSource)
    calls_a_day: int = 1_000_000
    now: datetime = START
    due: list[datetime] = field(default_factory=list)
    looks: dict[int, list[datetime]] = field(default_factory=dict)
    seen: dict[int, tuple[AwardSeat, ...]] = field(default_factory=dict)
    answered: dict[SeatsQuestion, datetime] = field(default_factory=dict)
    put_off: int = 0

    def __post_init__(self) -> None:
        """Watches were set at any moment of an interval."""
        draw = random.Random(1)
        self.due = [START + timedelta(seconds=draw.uniform(0, EVERY.total_seconds())) for _ in self.watches]
        self.agenda = [(moment, id) for id, moment in enumerate(self.due)]
        heapq.heapify(self.agenda)
        self.looks = {watch.id: [] for watch in self.watches}

    def question(self, watch: DueWatch) -> SeatsQuestion:
        route = [(watch.origin, watch.destination)]
        return build_seats_questions(route, watch.earliest, watch.latest, watch.airlines)[0]

    def set_due(self, id: int, moment: datetime) -> None:
        self.due[id] = moment
        heapq.heappush(self.agenda, (moment, id))

    def list_soonest(self) -> list[DueWatch]:
        """As the statement does: those due within half of an interval, at most so many."""
        until = self.now + EVERY / 2
        soon = sorted((moment, id) for id, moment in enumerate(self.due) if moment <= until)[:MOST]
        return [self.watches[id]._replace(looked_at=(self.looks[id] or [None])[-1]) for _, id in soon]

    async def run_until(self, end: datetime) -> None:
        """Every check that falls due, in the order of time; a moment that was changed in the meantime is passed
        over.
        """
        while self.agenda and self.agenda[0][0] < end:
            moment, id = heapq.heappop(self.agenda)
            if moment == self.due[id]:
                self.now = max(self.now, moment)
                await self._check(self.watches[id])
        self.now = end

    async def _check(self, watch: DueWatch) -> None:
        self.due[watch.id] = self.now + EVERY
        if self._has_no_call() and self.now - self.answered.get(self.question(watch), START - EVERY) > FRESH:
            limits.hit(f"short:{HEALTH}", 1, quota.SHORTAGE_SECONDS)  # as the door does, at a tenth of its time
            self._put_off(watch)
            return
        others = _WorldQuestions(self, watch)
        ask = Ask(1, background=True, can_wait=True, others=others)
        (reading,) = await ask.all("award_seats", [self.question(watch)], FRESH)
        self._note(watch, reading)

    def _has_no_call(self) -> bool:
        allowed = quota.count_allowed(self.calls_a_day, 0, quota._seconds_of_day())
        return not limits.peek(f"calls:{HEALTH}", allowed, quota.DAY).allowed

    def _put_off(self, watch: DueWatch) -> None:
        self.put_off += 1
        self.set_due(watch.id, self.now + PUT_OFF_FOR)

    def _note(self, watch: DueWatch, reading: Reading[tuple[AwardSeat, ...]]) -> None:
        if reading.reason == PUT_OFF:
            self._put_off(watch)
            return
        assert reading.has_answer, (reading.status, reading.reason)
        self.looks[watch.id].append(self.now)
        self.seen[watch.id] = reading.value or ()
        self.set_due(watch.id, self.now + EVERY)


class _WorldQuestions(DueQuestions):
    """The product's own choice, over watches in memory in place of the database."""

    def __init__(self, world: World, watch: DueWatch) -> None:
        super().__init__(1, (world.looks[watch.id] or [None])[-1])
        self._world = world

    def _read(self, _scope: str) -> list[tuple[DueWatch, list[SeatsQuestion]]]:
        if self._watches is None:
            self._watches = [(watch, [self._world.question(watch)]) for watch in self._world.list_soonest()]
        return self._watches

    def bring_forward(self, questions: Collection[SeatsQuestion]) -> None:
        self._world.answered |= dict.fromkeys(questions, self._world.now)
        for ids in self.list_answered(questions).values():
            for id in ids:
                if self._world.now < self._world.due[id] <= self._world.now + EVERY / 2:
                    self._world.set_due(id, self._world.now)


@contextmanager
def standing_in(world: World) -> Iterator[World]:
    """The clock and the source of this process are the world's; prices are not stored."""
    card = replace(world.source.card, calls_a_day=world.calls_a_day)
    with (
        patch.object(clock, "now", lambda: world.now),
        patch.object(registry, "providers", lambda: {card.name: card}),
        patch.object(recording, "record_observations", lambda *_answer: None),
    ):
        yield world


@dataclass(frozen=True)
class Tally:
    """A day of one question a watch, where equal ones of half an hour are one."""

    questions: int
    calls: int


def count_apart(world: World, first: datetime, days: int = 1) -> Tally:
    """The same watches as they would be asked one by one, in pages as single questions have them."""
    answered: dict[SeatsQuestion, datetime] = {}
    pages: Counter[str] = Counter()
    sizes: dict[SeatsQuestion, int] = {}
    draw = random.Random(1)
    phases = [timedelta(seconds=draw.uniform(0, EVERY.total_seconds())) for _ in world.watches]
    looks = sorted(
        (first + phase + n * EVERY, w.id)
        for w, phase in zip(world.watches, phases, strict=True)
        for n in range(4 * days)
    )
    for moment, id in looks:
        question = world.question(world.watches[id])
        if moment - answered.get(question, START - EVERY) <= FRESH:
            continue
        answered[question] = moment
        if question not in sizes:
            sizes[question] = count_rows(question)
        pages.update(questions=1, calls=max(1, ceil(sizes[question] / TAKE)))
    return Tally(pages["questions"], pages["calls"])


def count_rows(question: SeatsQuestion) -> int:
    days = {"start_date": question.earliest.isoformat(), "end_date": question.latest.isoformat()}
    ends = {"origin_airport": question.origin, "destination_airport": question.destination}
    return len(find_rows(ends | days | {"carriers": ",".join(question.airlines)}))


def list_gaps(world: World, since: datetime) -> list[timedelta]:
    """The longest time each watch went without a look, from this moment on."""
    return [
        max((b - a for a, b in pairwise(moments)), default=world.now - since)
        for moments in ([since, *(m for m in of if m >= since), world.now] for of in world.looks.values())
    ]


def count_looks(world: World, since: datetime) -> list[int]:
    return [sum(moment >= since for moment in of) for of in world.looks.values()]


def describe(world: World, since: datetime) -> str:
    looks, gaps = count_looks(world, since), list_gaps(world, since)
    longest = max(gaps).total_seconds() / 3600
    return (
        f"looks a watch: least {min(looks)}, median {statistics.median(looks):g}; seen at least once:"
        f" {sum(n > 0 for n in looks)} of {len(looks)}; longest without a look {longest:.1f} h;"
        f" put off {world.put_off} times"
    )
