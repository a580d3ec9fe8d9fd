"""Settings changed for one test, and the clock, which stands still at noon UTC of one day, whichever day it is.

The database's clock starts at the same moment and runs on from there, so that rows keep their order.
"""

import contextlib
import time as machine
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, Pool

from shared import clock
from shared.settings import SettingsError, settings

Configure = Callable[..., None]
NOON = time(12)
DAY = date(2026, 11, 24)  # seats of the sandbox open and close, facts grow old and months end as days pass
OWN_PROGRAMS = ("e2e", "conformance")  # folders whose tests talk to programs that keep the machine's clock


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Configure]:
    """configure(WEB_URL=..., ...) for this test alone."""

    def change(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        read_again()

    def read_again() -> None:
        """A thread that was reading them at this moment would keep what it read, if nothing had been kept before."""
        settings.cache_clear()
        with contextlib.suppress(SettingsError):  # a test of wrong settings reads them itself
            settings()

    yield change
    monkeypatch.undo()
    read_again()


# PostgreSQL looks in `public` and `standing` before its own functions. The offset belongs to a connection; a program
# started by a test sets none. Column defaults are bound to these functions when the migrations run.
_NOW = "create function standing.{name}() returns timestamptz {kind} parallel safe language sql return {moment}"
_AHEAD = "pg_catalog.{name}() + coalesce(nullif(current_setting('standing.ahead', true), ''), '0')::interval"


def install_database_clock(url: str, moment: str = _AHEAD) -> None:
    """Before any database is created from `template1`, whose address this is, or in one that has no tables yet."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create schema standing")
        connection.execute("grant usage on schema standing to public")
        for name, kind in (("now", "stable"), ("clock_timestamp", "volatile")):
            connection.execute(_NOW.format(name=name, kind=kind, moment=moment.format(name=name)))
        connection.execute("alter system set search_path = public, standing, pg_catalog")
        connection.execute("select pg_reload_conf()")


class StandingClock:
    """A clock that moves only when a test moves it; the database's, which runs, is `ahead` of the machine's."""

    of_test: "StandingClock | None" = None

    def __init__(self, moment: datetime) -> None:
        self.set(moment)

    def now(self) -> datetime:
        return self._moment

    def set(self, moment: datetime) -> None:
        self._moment = moment
        self.ahead = moment - datetime.now(UTC)

    def advance(self, by: timedelta) -> None:
        self._moment += by
        self.ahead += by


@event.listens_for(Pool, "checkout")
def _set_database_clock(connection: psycopg.Connection, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Past psycopg, which would begin a transaction, whose end undoes it. The pool replaces a lost connection."""
    ahead = StandingClock.of_test.ahead if StandingClock.of_test else timedelta()
    if record.info.get("ahead", timedelta()) != ahead:
        with contextlib.suppress(psycopg.Error):
            connection.pgconn.exec_(f"set standing.ahead = '{ahead.total_seconds()} s'".encode())
        if connection.closed:
            raise DisconnectionError
        record.info["ahead"] = ahead


@contextlib.contextmanager
def stand_at_noon() -> Iterator[StandingClock]:
    standing = StandingClock(datetime.combine(DAY, NOON, UTC))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", standing.now)
        patch.setattr(StandingClock, "of_test", standing)
        yield standing


LONGEST = timedelta(minutes=3)  # of a test that keeps the machine's clock, beside other work


def until_the_day_is_new(now: datetime) -> timedelta:
    """How long a test that begins now has to wait, so that no day ends while it runs."""
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
    return midnight - now if midnight - now < LONGEST else timedelta()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before its fixtures, which send days too: what a test sends and what it expects are counted from one day."""
    if _keeps_running(item):
        machine.sleep(until_the_day_is_new(datetime.now(UTC)).total_seconds())


def _keeps_running(test: pytest.Item) -> bool:
    return _has_own_programs(test.path) or test.get_closest_marker("running_clock") is not None


@cache  # asked twice for each case
def _has_own_programs(path: Path) -> bool:
    return any(path.is_relative_to(Path(__file__).parents[1] / folder) for folder in OWN_PROGRAMS)


@pytest.fixture(autouse=True)
def standing_clock(request: pytest.FixtureRequest) -> Iterator[StandingClock]:
    """Noon of DAY in `shared.clock`: no day turns and no limit by the minute starts again within a test.

    A test marked `running_clock`, and each test of OWN_PROGRAMS, keeps the machine's clock.
    """
    if _keeps_running(request.node):
        assert StandingClock.of_test is None, "a fixture that outlives its test left the clock standing"
        yield StandingClock(datetime.combine(DAY, NOON, UTC))
        return
    with stand_at_noon() as standing:
        yield standing
