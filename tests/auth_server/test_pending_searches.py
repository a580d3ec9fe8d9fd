"""Answers of long calls: each question runs once, a refusal is not kept, and an account runs only a few at once."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from redis.exceptions import ConnectionError as Lost

from auth_server.web import tool_server
from auth_server.web.tool_server import MAX_OF_ONE, PendingSearches
from shared import redis as connections
from shared.redis import connect

pytestmark = pytest.mark.usefixtures("clean")
SEATS = {"status": "ok", "days": [1]}
LONG, SHORT = 8.0, 0.01
Scene = Callable[[PendingSearches], Awaitable[None]]


class Source:
    """Counts how often it is asked, and answers when it may."""

    def __init__(self, answer: dict[str, Any] = SEATS, *, waits: bool = False) -> None:
        self.answer, self.asked, self.may = answer, 0, anyio.Event()
        if not waits:
            self.may.set()

    async def send(self) -> dict[str, Any]:
        self.asked += 1
        await self.may.wait()
        return self.answer


def play(scene: Scene) -> None:
    async def run() -> None:
        answers = PendingSearches()
        try:
            await scene(answers)
        finally:
            await answers.close()

    anyio.run(run)


def test_a_question_is_asked_once_and_its_answer_kept_for_minutes() -> None:
    async def scene(answers: PendingSearches) -> None:
        source = Source()
        for _ in range(3):
            assert await answers.take("ann", "seats", source.send, LONG) == SEATS
        assert source.asked == 1
        assert await PendingSearches().take("ann", "seats", source.send, LONG) == SEATS, "another process reads it"
        assert source.asked == 1
        (name,) = connect().keys("award:*page-answer*")
        assert 590 < connect().ttl(name) <= 600

    play(scene)


def test_who_asks_meanwhile_waits_and_asks_nothing() -> None:
    async def scene(answers: PendingSearches) -> None:
        source, other = Source(waits=True), PendingSearches()
        for process in (answers, answers, other):
            assert await process.take("ann", "seats", source.send, SHORT) == {"status": "waiting"}
        assert source.asked == 1
        source.may.set()
        assert await answers.take("ann", "seats", source.send, LONG) == SEATS
        assert await other.take("ann", "seats", source.send, LONG) == SEATS
        assert source.asked == 1

    play(scene)


def test_two_who_ask_at_the_same_moment_share_one_call() -> None:
    async def scene(answers: PendingSearches) -> None:
        source, results = Source(), []

        async def ask() -> None:
            results.append(await answers.take("ann", "seats", source.send, LONG))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
        assert source.asked == 1
        assert results.count(SEATS) + results.count({"status": "waiting"}) == 2
        assert SEATS in results

    play(scene)


@pytest.mark.parametrize("refusal", [{"status": "invalid"}, {"status": "paywall"}, {}])
def test_a_refusal_is_shown_once(refusal: dict[str, Any]) -> None:
    async def scene(answers: PendingSearches) -> None:
        source = Source(refusal)
        for count in (1, 2):
            assert await answers.take("ann", "seats", source.send, LONG) == refusal
            assert source.asked == count
        late = Source(refusal, waits=True)
        assert await answers.take("ann", "later", late.send, SHORT) == {"status": "waiting"}
        late.may.set()
        with anyio.fail_after(8):
            while answers._tasks:
                await anyio.lowlevel.checkpoint()
        assert await answers.take("ann", "later", late.send, LONG) == refusal, "the page that waited reads it"
        assert late.asked == 1
        await answers.take("ann", "later", late.send, LONG)
        assert late.asked == 2

    play(scene)


def test_accounts_share_nothing() -> None:
    async def scene(answers: PendingSearches) -> None:
        source = Source()
        for owner in ("ann", "bob"):
            await answers.take(owner, "seats", source.send, LONG)
        assert source.asked == 2

    play(scene)


def test_one_account_runs_a_few_at_once_and_others_are_not_kept_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(answers: PendingSearches) -> None:
        source = Source(waits=True)
        for number in range(MAX_OF_ONE):
            await answers.take("ann", str(number), source.send, SHORT)
        refused = await answers.take("ann", "more", source.send, SHORT)
        assert (refused["status"], source.asked) == ("limit_reached", MAX_OF_ONE)
        await answers.take("bob", "his", source.send, SHORT)
        assert source.asked == MAX_OF_ONE + 1
        source.may.set()
        assert await answers.take("ann", "0", source.send, LONG) == SEATS
        assert await answers.take("ann", "more", source.send, LONG) == SEATS, "the place is free again"
        assert not answers.running
        monkeypatch.setattr(tool_server, "MAX_OF_ALL", 0)
        assert (await answers.take("cleo", "x", source.send, LONG))["status"] == "limit_reached"

    play(scene)


def test_an_answer_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_server, "MAX_BYTES", 100)

    async def scene(answers: PendingSearches) -> None:
        source = Source(SEATS | {"words": "x" * 200})
        await answers.take("ann", "seats", source.send, LONG)
        assert (await answers.take("ann", "seats", source.send, LONG))["status"] == "internal_error"

    play(scene)


def test_without_redis_it_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise Lost

    monkeypatch.setattr(tool_server, "connect", refuse)
    monkeypatch.setattr(connections, "_away_until", 0.0)

    async def scene(answers: PendingSearches) -> None:
        source = Source()
        for count in (1, 2):
            assert await answers.take("ann", "seats", source.send, LONG) == SEATS
            assert source.asked == count
        monkeypatch.undo()
        connections._away_until = 0.0

    play(scene)
