"""Whatever hangs (a source, a process, Redis, a request's head) is waited for only as long as its timeout says."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
import respx

import shared.redis
from shared import limits
from shared.providers import cache
from tests.auth_server.test_uvicorn_protocol import HEAD, line, listening, read_until_closed  # noqa: F401 - fixtures
from tests.performance.stopwatch import wall_seconds
from tests.shared.providers.conftest import QUESTION, Asking, acme, ask, wire  # noqa: F401 - fixtures
from tests.shared.providers.test_door import ask_twenty_times, every, hang, in_processes, no_redis, nothing  # noqa: F401 - a fixture
from tests.shared.test_limits import silent  # noqa: F401 - a fixture
from tests.support.fake_seats import WithSources, live, source, with_sources  # noqa: F401 - fixtures


def test_a_source_that_hangs_costs_the_budget_of_the_question(with_sources: WithSources) -> None:
    with_sources(source("fast", nothing), source("hung", hang))
    assert wall_seconds(lambda: every(budget=0.5)) < 5


def test_all_questions_of_a_call_cost_one_budget_together(with_sources: WithSources) -> None:
    with_sources(source("hung", hang))
    assert wall_seconds(lambda: anyio.run(ask_twenty_times, 0.3)) < 3


def test_without_redis_a_question_is_answered_at_once(wire: respx.Route, ask: Asking, no_redis: None) -> None:
    assert wall_seconds(lambda: (ask(), ask())) < 5


def test_a_cache_that_hangs_costs_its_timeout_and_not_the_call(
    wire: respx.Route, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_late(*_: Any) -> Any:
        threading.Event().wait(1.5)
        return [None]

    monkeypatch.setattr(cache, "get_many", read_late)
    monkeypatch.setattr("shared.providers.ask.MEMORY_SECONDS", 0.2)
    assert wall_seconds(ask) < 5


def test_a_process_that_was_lost_while_it_asked_is_waited_for_as_long_as_a_call_may_take(
    with_sources: WithSources,
) -> None:
    card = source("slow", nothing, timeout=0.5)
    with_sources(card)
    assert cache.acquire_fetch([(cache.build_key(card, "anyone", "award_seats", QUESTION), "lost", None)]) == [
        (True, None, "lost")
    ]
    assert 0.3 < wall_seconds(lambda: in_processes(1)) < 5


def test_a_redis_that_hangs_is_waited_for_by_one_caller_at_a_time(
    silent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 1 < wall_seconds(lambda: limits.hit("a", 2, 3600)) < 4
    assert wall_seconds(lambda: [limits.hit("a", 2, 3600), *(shared.redis.publish(family="f") for _ in range(30))]) < 1
    monkeypatch.setattr(shared.redis, "_away_until", time.monotonic() - 0.001)  # the pause is over
    with ThreadPoolExecutor(6) as pool:
        seconds = sorted(pool.map(lambda _: wall_seconds(lambda: limits.hit("b", 9, 3600)), range(6)))
    assert seconds[4] < 1 < seconds[5] < 4


@pytest.mark.parametrize("start", [b"", b"PO", HEAD, HEAD + b"X: " + b"a" * 60_000])
def test_a_head_that_does_not_end_is_waited_for_only_so_long(line: socket.socket, start: bytes) -> None:
    line.sendall(start)
    assert 0.3 < wall_seconds(lambda: read_until_closed(line)) < 5
