"""A source is asked by no more callers at once than its cap, over all processes; without Redis each keeps its part."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import anyio
import pytest

from shared.limits import question_progress, slots
from shared.limits.question_progress import QuestionProgress, Standing
from shared.limits.slots import Leaving, Ticket, View, look
from shared.providers import places
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Reading, SeatsQuestion
from shared.providers.places import estimate_answer, estimate_wait, hold_place, share
from shared.redis import connect, key
from tests.shared.providers.conftest import DAY, QUESTION
from tests.support.fake_seats import WithSources, source
from tests.support.service import wait_for

Act = Callable[[SeatsQuestion], object]
QUESTIONS = [dataclasses.replace(QUESTION, earliest=DAY + timedelta(days=n)) for n in range(12)]


class Counter:
    """How many callers are inside at the same moment, over all threads."""

    def __init__(self) -> None:
        self.most, self._running, self._lock = 0, 0, threading.Lock()

    async def act(self, _question: SeatsQuestion) -> tuple[()]:
        self._change(1)
        await anyio.sleep(0.05)
        self._change(-1)
        return ()

    def _change(self, by: int) -> None:
        with self._lock:
            self._running += by
            self.most = max(self.most, self._running)


def ask_all(questions: list[SeatsQuestion]) -> list[str | None]:
    """The reasons of the answers, on its own event loop, whose limiters are those of one process."""

    async def go() -> list[Reading[object]]:
        return await Ask().all("award_seats", questions)

    return [reading.reason for reading in anyio.run(go)]


def count_held(name: str) -> int:
    return int(connect().zcard(key("slots", name)))


@pytest.fixture
def sharing() -> Iterator[None]:
    """Two processes divide what there is."""
    share(2)
    yield
    share(1)


def test_two_processes_together_keep_to_the_cap(with_sources: WithSources) -> None:
    counter = Counter()
    with_sources(source("slow", counter.act, concurrency=3))
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(ask_all, (QUESTIONS[:6], QUESTIONS[6:])))
    assert answers == [["empty"] * 6] * 2
    assert counter.most == 3
    assert count_held("slow") == 0


def test_one_busy_process_may_use_the_whole_cap(with_sources: WithSources, sharing: None) -> None:
    counter = Counter()
    with_sources(source("slow", counter.act, concurrency=4))
    assert ask_all(QUESTIONS) == ["empty"] * 12
    assert counter.most == 4


def test_without_redis_each_process_keeps_to_its_part(
    with_sources: WithSources, sharing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter()
    monkeypatch.setattr(places, "look", lambda *_: None)
    with_sources(source("slow", counter.act, concurrency=4))
    assert ask_all(QUESTIONS) == ["empty"] * 12
    assert counter.most == 2


def test_a_request_that_fails_gives_its_place_back(with_sources: WithSources) -> None:
    async def act(_question: SeatsQuestion) -> None:
        raise ValueError("not what was promised")

    with_sources(source("broken", act, concurrency=1))
    assert "busy" not in ask_all(QUESTIONS[:2])
    assert count_held("broken") == 0


def test_a_cancelled_request_gives_its_place_back(with_sources: WithSources) -> None:
    async def act(_question: SeatsQuestion) -> None:
        await anyio.sleep_forever()

    card = source("stuck", act)

    async def go() -> int:
        with anyio.move_on_after(0.2):
            await _hold_for_ever(card)
        return await anyio.to_thread.run_sync(count_held, "stuck")

    with_sources(card)
    assert anyio.run(go) == 0


async def _hold_for_ever(card: Provider) -> None:
    async with hold_place(card, ticket("holder")):
        assert await anyio.to_thread.run_sync(count_held, card.name) == 1
        await anyio.sleep_forever()


def ticket(name: str, ago: float = 0, *, has_time: bool = False) -> Ticket:
    """Of one who came so many seconds ago."""
    now = Ticket(name, has_time=has_time)
    return dataclasses.replace(now, since=now.since - ago)


def ahead_of(wanted: Ticket, *, slots: int = 1, seconds: float = 60) -> int | None:
    """How many are ahead of one that waits for the source; None when it has its place."""
    view = look("source", slots, seconds, [wanted], [])
    assert view
    return view.ahead[0]


def leave(name: str, held: float | None = None) -> None:
    assert look("source", 1, 60, [], [Leaving(name, held)])


def test_a_place_of_a_killed_process_is_free_again_when_its_time_is_over(clean: None) -> None:
    assert ahead_of(ticket("killed"), seconds=0.2) is None
    following, another = ticket("next"), ticket("another")
    assert ahead_of(following) == 0
    wait_for("the end of the lease", lambda: ahead_of(following) is None)
    assert ahead_of(another) == 0
    leave("next")
    assert ahead_of(another) is None


def test_the_line_is_served_in_the_order_of_coming_whoever_looks_first(clean: None) -> None:
    assert ahead_of(ticket("holder")) is None
    first, second, third = ticket("first", 3), ticket("second", 2), ticket("third", 1)
    assert [ahead_of(one) for one in (third, second, first)] == [0, 0, 0]
    assert [ahead_of(one) for one in (first, second, third)] == [0, 1, 2]
    leave("holder")
    assert [ahead_of(one) for one in (third, second, first, second, third)] == [2, 1, None, 0, 1]


def test_people_go_before_checks_that_came_earlier(clean: None) -> None:
    assert ahead_of(ticket("holder")) is None
    check, person = ticket("check", has_time=True), ticket("person")
    assert (ahead_of(check), ahead_of(person), ahead_of(check)) == (0, 0, 1)
    leave("holder")
    assert (ahead_of(check), ahead_of(person)) == (1, None)


def test_a_check_is_hastened_by_a_person_who_waits_for_its_answer(clean: None) -> None:
    assert ahead_of(ticket("holder")) is None
    earlier, check, later = ticket("earlier", 3), ticket("check", 9, has_time=True), ticket("later", 1)
    assert (ahead_of(check), ahead_of(later), ahead_of(earlier), ahead_of(check)) == (0, 0, 0, 2)
    assert ahead_of(dataclasses.replace(ticket("check", 2), own=False)) == 1
    assert (ahead_of(earlier), ahead_of(check), ahead_of(later)) == (0, 1, 2)


def test_who_waits_for_another_takes_no_place_for_it(clean: None) -> None:
    assert ahead_of(dataclasses.replace(ticket("fetcher"), own=False)) is None
    assert count_held("source") == 0
    assert ahead_of(ticket("somebody")) is None


def test_one_who_left_the_line_without_a_word_blocks_it_no_longer_than_its_lease(
    clean: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "LINE_SECONDS", 0.2)
    assert ahead_of(ticket("holder")) is None
    assert ahead_of(ticket("lost")) == 0
    waiting = ticket("waiting")
    assert ahead_of(waiting) == 1
    wait_for("the end of the place in the line", lambda: ahead_of(waiting) == 0)


def test_a_line_that_redis_forgot_stands_again_in_its_order(clean: None) -> None:
    assert ahead_of(ticket("holder")) is None
    first, second = ticket("first", 2), ticket("second", 1)
    assert (ahead_of(first), ahead_of(second)) == (0, 1)
    connect().flushdb()
    assert ahead_of(ticket("new holder")) is None
    assert (ahead_of(second), ahead_of(first), ahead_of(second)) == (0, 0, 1)


def test_how_long_answers_took_lately_is_known_to_all(clean: None) -> None:
    leave("one", 3.0)
    leave("cancelled")
    leave("two", 2.0)
    view = look("source", 1, 60, [], [])
    assert view
    assert view.usual == 2.8


@pytest.mark.parametrize(
    ("ahead", "ages", "wait"),
    [(0, [], 0), (0, [1, 2], 1), (1, [1, 2], 2), (2, [1, 2], 4), (5, [1, 2], 8), (0, [9, 9], 0), (1, [9], 0)],
)
def test_the_wait_follows_from_who_is_ahead(ahead: int, ages: list[float], wait: float) -> None:
    assert estimate_wait(ahead, ages, 2, 3) == wait


def test_a_source_of_which_nothing_is_known_takes_at_least_what_all_its_callers_waited() -> None:
    assert estimate_answer(View(0, [4, 5], []), 2) == 4
    assert estimate_answer(View(0, [5], []), 2) == 0
    assert estimate_answer(View(3, [1, 9], []), 2) == 3


def test_who_cannot_be_answered_in_time_is_told_at_once_and_the_others_are_answered(with_sources: WithSources) -> None:
    """Twelve questions, two at a time, of 3 s by what was known before: in 10.5 s there are three rounds."""
    answers: list[tuple[str | None, int | None]] = []

    async def act(_question: SeatsQuestion) -> tuple[()]:
        while len(answers) < 6:
            await anyio.sleep(0.01)
        return ()

    async def ask(question: SeatsQuestion) -> None:
        reading = await Ask(budget=10.5).one("slow", "award_seats", question)
        answers.append((reading.reason, reading.retry_after))

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            for question in QUESTIONS:
                tasks.start_soon(ask, question)

    with_sources(source("slow", act, concurrency=2))
    assert look("slow", 2, 60, [], [Leaving("earlier", 3)])
    anyio.run(go)
    assert [reason for reason, _ in answers] == ["busy"] * 6 + ["empty"] * 6
    assert {retry_after for _, retry_after in answers[:6]} <= set(range(6, 16))
    assert connect().zcard(key("slots", "slow", "line")) == 0


def test_the_place_in_the_line_is_shown_while_it_lasts(with_sources: WithSources) -> None:
    progress = QuestionProgress()
    shown: list[Standing | None] = []
    places_shown: list[int | None] = [0, 0, None]  # to the second, to the third, and when no one waits any longer

    async def act(_question: SeatsQuestion) -> tuple[()]:
        wanted = places_shown[len(shown)]
        while (progress.standing.ahead if progress.standing else None) != wanted or len(progress.in_line) > 2 - len(
            shown
        ):
            await anyio.sleep(0.01)
        shown.append(progress.standing)
        return ()

    with_sources(source("slow", act, concurrency=1))
    assert look("slow", 1, 60, [], [Leaving("earlier", 2.0)])
    before = question_progress.current.set(progress)
    try:
        assert ask_all(QUESTIONS[:3]) == ["empty"] * 3
    finally:
        question_progress.current.reset(before)
    assert len(shown) == 3
    assert shown[0]
    assert 0 < shown[0].seconds <= 4
    assert progress.in_line == {}
