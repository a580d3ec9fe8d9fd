"""Limits count on where Redis is down for a moment, or for longer."""

import socket
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import TimeoutError as TookTooLong

import shared.redis
from shared import limits
from shared.settings import settings

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


def test_a_look_at_a_limit_makes_no_counter() -> None:
    assert limits.peek("looked at", 1, HOUR).allowed
    assert list(shared.redis.connect().scan_iter(shared.redis.key("limit", "looked at", "*"))) == []
    limits.hit("looked at", 1, HOUR)
    assert limits.peek("looked at", 1, HOUR).allowed is False


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


def test_without_redis_limits_are_counted_in_memory_which_is_bounded(
    clean: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone() -> None:
        raise ConnectionError

    monkeypatch.setattr(limits, "connect", gone)
    monkeypatch.setattr(shared.redis, "_away_until", 0.0)
    monkeypatch.setattr(limits, "_memory", OrderedDict())
    monkeypatch.setattr(limits, "_MAX_MEMORY_KEYS", 5)
    assert [limits.hit("a", 2, 3600).allowed for _ in range(3)] == [True, True, False]
    assert limits.peek("a", 3, 3600).allowed is False
    for n in range(10):
        limits.hit(f"other {n}", 2, 3600)
    assert len(limits._memory) == 5
    assert caplog.text.count("Redis is down") == 1


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In Redis's place something that takes connections and never says a word.

    No server may live in this process in the meantime: a thread of it that asks would take Redis for away after the
    test too.
    """
    monkeypatch.setattr(shared.redis, "_away_until", 0.0)
    monkeypatch.setattr(limits, "_memory", OrderedDict())
    with socket.create_server(("127.0.0.1", 0)) as listening, monkeypatch.context() as patch:
        patch.setenv("REDIS_URL", f"redis://127.0.0.1:{listening.getsockname()[1]}/0")
        settings.cache_clear()
        shared.redis.connect.cache_clear()
        yield
    settings.cache_clear()
    shared.redis.connect.cache_clear()


def test_a_redis_that_hangs_leaves_the_limits_to_this_process(silent: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [limits.hit("a", 2, 3600).allowed for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(shared.redis, "_away_until", 0.0)  # the pause is over
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: limits.hit("b", 4, 3600).allowed, range(6)))
    assert sorted(answers) == [False, False, True, True, True, True]
