"""Limits count on where Redis is away for a moment, or for longer."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import TimeoutError as TookTooLong

import shared.redis
from shared import limits

HOUR = 3600
pytestmark = pytest.mark.usefixtures("clean")


def lose_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    def take_too_long() -> None:
        raise TookTooLong

    monkeypatch.setattr(shared.redis, "_away_until", 0.0)  # and so it is again after the test
    monkeypatch.setattr(limits, "connect", take_too_long)


def regain_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "connect", shared.redis.connect)
    monkeypatch.setattr(shared.redis, "_away_until", 0.0)


def test_one_answer_of_redis_that_is_late_begins_no_limit_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [limits.hit("sent", 3, HOUR).allowed for _ in range(4)] == [True, True, True, False]
    lose_redis(monkeypatch)
    assert limits.hit("sent", 3, HOUR).allowed is False
    assert limits.peek("sent", 3, HOUR).allowed is False
    regain_redis(monkeypatch)
    assert limits.hit("sent", 3, HOUR).count == 6


def test_redis_hears_afterwards_what_was_counted_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    limits.hit("sent", 9, HOUR)
    lose_redis(monkeypatch)
    limits.count_more("sent", 4, HOUR)
    limits.take_back("sent", HOUR)
    regain_redis(monkeypatch)
    assert [limits.hit("sent", 9, HOUR).count for _ in range(2)] == [5, 6]
    limits._memory.clear()  # as in another process
    assert limits.hit("sent", 9, HOUR).count == 7


@pytest.mark.slow  # a hundred thousand hits
def test_threads_lose_no_count_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_redis(monkeypatch)

    def count_often(_number: int) -> None:
        for _ in range(20_000):
            limits.hit("sent", 9, HOUR)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count_often, range(8)))
    assert limits.peek("sent", 9, HOUR).count == 160_000
    regain_redis(monkeypatch)
    assert limits.hit("sent", 9, HOUR).count == 160_001
