"""Calls while the database goes away: reads are run once more, writes never, and the answer says what is certain."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import anyio
import psycopg
import pytest
from sqlalchemy import event, func, select, text
from sqlalchemy.orm import Session

from mcp_server.calls.dispatch import Answer, dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller, LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.toolkit.results import Result
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db import base, outages
from shared.db.accounts import Account
from shared.db.base import engine, transaction
from shared.db.trips import Trip
from shared.db.usage import SEARCHES, count_used
from tests.support.database import end_connections
from tests.support.people import People, everybody


class Count(Result):
    number: int


def _count_trips(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Trip)) or 0


def _add_trip(session: Session) -> None:
    session.add(Trip(name="Rome"))
    session.flush()


def look(call: Call) -> Count:
    """Look. Free."""
    return Count(message="Looked.", number=_count_trips(call.db))


async def seek(call: LiveCall) -> Count:
    """Seek. Free."""
    return Count(message="Sought.", number=await call.in_session(_count_trips))


def keep(call: Call) -> Count:
    """Keep. Free."""
    _add_trip(call.db)
    return Count(message="Kept.", number=1)


async def order(call: LiveCall) -> Count:
    """Order. Free."""
    await call.in_session(_add_trip)
    return Count(message="Ordered.", number=1)


@pytest.fixture
def people(clean: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[People]:
    USAGE_LOG.today.clear()
    USAGE_LOG.pending.clear()
    monkeypatch.setattr(base, "ALIVE_SECONDS", 3600)  # no connection is asked whether it lives
    for name, value in vars(outages.Outages()).items():
        monkeypatch.setattr(outages.OUTAGES, name, value)
    with patch.dict(TOOLS, clear=True):
        tool(area="trips", tier=Tier.FREE, effect=Effect.READS)(look)
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, meter="search")(seek)
        tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)(keep)
        tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)(order)
        yield everybody()
    engine().dispose()


def _call(caller: Caller, name: str) -> Answer:
    limiter.cache_clear()
    return anyio.run(partial(dispatch, name, {}, caller, "mcp"))


def _count_stored() -> int:
    with transaction() as session:
        return _count_trips(session)


@pytest.mark.parametrize("name", ["look", "seek"])
def test_a_read_over_a_restart_of_the_database_is_answered(people: People, name: str) -> None:
    assert _call(people.bob, name).status == "ok"
    end_connections()
    assert _call(people.bob, name).status == "ok"


@pytest.mark.parametrize(("name", "saved"), [("keep", False), ("order", None)])
def test_a_write_over_a_restart_is_refused_once_and_stored_nowhere(
    people: People, name: str, saved: bool | None
) -> None:
    assert _call(people.bob, "look").status == "ok"
    end_connections()
    answer = _call(people.bob, name)
    assert (answer.status, answer.is_error) == ("temporarily_unavailable", True)
    assert (answer.data["retry_after"], answer.data["saved"]) == (2, saved)
    assert ("Nothing was stored" in answer.message) == (saved is False)
    assert _count_stored() == 0
    assert _call(people.bob, name).status == "ok"


def test_a_write_whose_commit_was_lost_does_not_say_that_nothing_was_stored(people: People) -> None:
    def cut(session: Session) -> None:
        if session.info.get("reads") is False:  # that of the tool
            end_connections()

    event.listen(Session, "before_commit", cut)
    try:
        answer = _call(people.bob, "keep")
    finally:
        event.remove(Session, "before_commit", cut)
    assert (answer.status, answer.data["saved"]) == ("temporarily_unavailable", None)
    assert "not certain" in answer.message


def _refuse_connections(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Until the returned function runs, every connection that is asked for is refused."""
    end_connections()
    connect = engine().dialect.connect

    def refuse(*_: Any, **__: Any) -> Any:
        raise psycopg.OperationalError("connection refused to host db.internal")

    monkeypatch.setattr(engine().dialect, "connect", refuse)
    return lambda: monkeypatch.setattr(engine().dialect, "connect", connect)


def test_reads_at_the_begin_of_an_outage_wait_for_its_end(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _call(people.bob, "look").status == "ok"
    restore = _refuse_connections(monkeypatch)
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            restore()

    monkeypatch.setattr(outages, "sleep", pause)
    assert _call(people.bob, "look").status == "ok"
    assert len(pauses) == 3


def test_a_lasting_outage_is_told_at_once_in_one_line_a_second(
    people: People, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert _call(people.bob, "look").status == "ok"
    restore = _refuse_connections(monkeypatch)
    monkeypatch.setattr(outages, "PATIENCE_SECONDS", 0.0)
    moments = iter(range(1000))
    monkeypatch.setattr(outages, "monotonic", lambda: 50 + next(moments) / 20)  # twenty looks at it are a second
    for name in ("look", "seek", "keep", "order") * 3:
        answer = _call(people.bob, name)
        assert (answer.status, answer.data["retry_after"]) == ("temporarily_unavailable", 2)
    restore()
    seconds = next(moments) / 20
    assert 1 <= len(caplog.records) <= 1 + seconds
    assert {record.levelno for record in caplog.records} == {logging.ERROR}
    assert not any(record.exc_info for record in caplog.records)
    assert "db.internal" not in caplog.text
    assert _call(people.bob, "look").status == "ok"


def test_a_search_that_failed_with_the_database_counts_for_nobody(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PATIENCE_SECONDS", 0.0)

    async def fail(call: LiveCall) -> Count:
        """Fail. Free."""
        error = psycopg.errors.AdminShutdown("gone")
        raise outages.OperationalError("select", {}, error)

    tool(area="search", tier=Tier.FREE, effect=Effect.READS, meter="search")(fail)
    assert _call(people.bob, "fail").status == "temporarily_unavailable"
    with transaction(people.bob.account_id) as session:
        assert count_used(session, people.bob.account_id, SEARCHES, clock.today()) == 0


def test_a_row_that_another_call_holds_is_waited_for_and_is_no_crash(
    people: People, caplog: pytest.LogCaptureFixture
) -> None:
    lock = select(Account).where(Account.id == people.bob.account_id).with_for_update()

    def hold(call: Call) -> Count:
        """Hold. Free."""
        call.db.execute(text("set local lock_timeout = '20ms'"))
        call.db.execute(lock)
        return Count(message="Held.", number=1)

    tool(area="search", tier=Tier.FREE, effect=Effect.ADDS)(hold)
    with transaction() as session:
        session.execute(lock)
        answer = _call(people.bob, "hold")
    assert (answer.status, answer.data["retry_after"]) == ("busy", 2)
    assert "failed" not in caplog.text
    assert _call(people.bob, "hold").status == "ok"


def test_an_answer_is_kept_where_only_its_count_could_not_be_written(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise outages.OperationalError("insert", {}, psycopg.OperationalError("gone"))

    monkeypatch.setattr("mcp_server.calls.quota.Quota._write", away)
    assert _call(people.bob, "seek").status == "ok"
