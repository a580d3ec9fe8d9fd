"""Two of each program survive the loss of the database's primary and of all that the queue's server held."""

import itertools
import random
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from deploy.local.private_servers import Valkey
from shared.db import base
from shared.db.schema import upgrade
from shared.settings.checks import driver_url
from tests.chaos import watched_subjects
from tests.chaos.fault_injection import (
    CHECKS,
    OPEN,
    Fleet,
    Report,
    build_environment,
    count_fates,
    read_number,
    wait_for_quiet,
)
from tests.chaos.postgres_pair import PostgresPair
from tests.chaos.programs import Call, Load, serving, sign_in
from tests.support.mail_server import Mailbox, mail_server
from tests.support.service import wait_for
from tests.support.settings_and_clock import Configure

pytestmark = pytest.mark.slow  # two servers of PostgreSQL
REFUSALS = {"temporarily_unavailable", "HTTP 503"}
MAX_REFUSING_SECONDS = 10  # promotion takes one; the rest is what a busy machine needs
TOOLS = [("create_trip", {"name": "a name"}), ("list_trips", {}), ("list_my_cards", {}), ("get_profile", {})]
NUMBER = 3  # watches of each kind


@pytest.fixture
def pair(tmp_path: Path, configure: Configure) -> Iterator[PostgresPair]:
    """The database of this process."""
    with PostgresPair(tmp_path) as pair:
        base.engine().dispose()
        base.engine.cache_clear()
        configure(DATABASE_URL=pair.url)
        yield pair
        base.engine().dispose()
        base.engine.cache_clear()


def _write_rows(first: int, is_over: threading.Event) -> tuple[list[int], list[float]]:
    """The numbers of the rows that are stored for certain, and when others were refused."""
    stored, refused = [], []
    for number in itertools.count(first):
        try:
            with base.transaction() as session:
                session.execute(text("insert into acknowledged values (:number)"), {"number": number})
            stored.append(number)
        except DBAPIError:
            refused.append(time.monotonic())
        if is_over.wait(0.05):
            return stored, refused
    raise AssertionError


def _is_answered() -> bool:
    try:
        with base.transaction() as session:
            return session.scalar(text("select not pg_is_in_recovery()")) is True
    except DBAPIError:
        return False


def test_connections_follow_the_standby_that_takes_over_and_no_commit_is_lost(pair: PostgresPair) -> None:
    with base.transaction() as session:
        session.execute(text("create table acknowledged (number integer)"))
    is_over, since = threading.Event(), time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(_write_rows, thread * 1_000_000, is_over) for thread in range(4)]
        is_over.wait(0.5)
        pair.fail_over()
        wait_for("a transaction on the new primary", _is_answered)
        is_over.wait(0.5)
        is_over.set()
    stored = {number for writer in writers for number in writer.result()[0]}
    refused = [moment for writer in writers for moment in writer.result()[1]]
    with base.transaction() as session:
        found = set(session.scalars(text("select number from acknowledged")))
    assert len(stored) > 20
    assert stored - found == set()
    assert refused != []
    assert max(refused) - since < MAX_REFUSING_SECONDS
    pair.bring_back()
    pair.standby.stop()  # the new primary; what it had is on the old one
    with psycopg.connect(pair.primary.url()) as connection:
        assert stored <= {row[0] for row in connection.execute("select number from acknowledged").fetchall()}


@dataclass
class Stage:
    """A pair of databases, a queue's server, a mail server, two dispatchers and three workers."""

    folder: Path
    pair: PostgresPair
    valkey: Valkey
    fleet: Fleet
    box: Mailbox
    dice: random.Random = field(default_factory=lambda: random.Random(20261123))

    def make_news(self, rounds: int) -> None:
        """For the watches, about three times a second; programs that ended begin again."""
        for _ in range(rounds):
            self.fleet.keep_up()
            with psycopg.connect(self.pair.url, autocommit=True) as database:
                watched_subjects.renew(database, self.dice)
            threading.Event().wait(0.3)

    def delay_flights(self) -> None:
        with redis.Redis.from_url(self.valkey.url) as queue:
            watched_subjects.delays(queue)

    def count(self) -> Report:
        """When nothing is open any longer."""
        report = Report()
        with psycopg.connect(self.pair.url, autocommit=True) as database:
            database.execute("update schedules set enabled = false")
            is_quiet = partial(read_number, database, OPEN)
            report.quiet_after = wait_for_quiet(lambda: not is_quiet(), self.fleet, threading.Event())
            self.fleet.end()
            count_fates(database, self.box, report)
        return report


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with ExitStack() as stack:
        valkey = Valkey(tmp_path, durable=False).start()
        stack.callback(valkey.stop)
        pair = stack.enter_context(PostgresPair(tmp_path))
        box = stack.enter_context(mail_server())
        log = stack.enter_context((tmp_path / "jobs.log").open("ab"))
        upgrade(driver_url(pair.url))
        with psycopg.connect(pair.url, autocommit=True) as database:
            watched_subjects.plant(database, NUMBER)
        fleet = Fleet(build_environment(pair.url, valkey.url, box), log)
        stack.callback(fleet.end)
        stage = Stage(tmp_path, pair, valkey, fleet, box)
        stage.delay_flights()
        fleet.keep_up()
        yield stage


def _find_refusing_seconds(calls: list[Call]) -> float:
    """From when the first refused call began to the end of the last."""
    refused = [call for call in calls if call.outcome in REFUSALS]
    return max(c.at for c in refused) - min(c.at - c.seconds for c in refused) if refused else 0.0


def _find_lost_trips(stage: Stage, calls: list[Call]) -> set[int]:
    done = [call for call in calls if (call.tool, call.outcome) == ("create_trip", "ok")]
    assert len(done) > 20
    with psycopg.connect(stage.pair.url) as database:
        stored = {int(row[0]) for row in database.execute("select id from trips").fetchall()}
    return {int(call.data["trip"]["trip_id"]) for call in done} - stored


@pytest.mark.failover
def test_a_failover_refuses_calls_for_seconds_and_loses_no_row_and_no_mail(stage: Stage) -> None:
    with serving(stage.folder, stage.pair.url, stage.valkey.url, copies=2) as servers:
        token = sign_in(servers, stage.pair.url)
        with psycopg.connect(stage.pair.url) as database:
            wait_for("first checks", lambda: read_number(database, CHECKS) >= NUMBER)
        urls = [f"{program.url}/mcp" for program in servers.tools]
        with Load(urls, token, TOOLS, host=urlsplit(servers.mcp_url).netloc, clients=10) as load:
            load.settle(40)
            stage.make_news(3)
            stage.pair.fail_over()
            stage.make_news(8)
            load.settle(100)
            refused, refusing = load.outcomes, _find_refusing_seconds(load.calls)
            stage.valkey.stop()
            load.settle(20)
            stage.valkey.start()  # with nothing in it
            stage.delay_flights()
            stage.make_news(4)
            load.settle(40)
            outcomes = load.outcomes
        ready = [program.is_ready() for program in (*servers.web, *servers.tools)]
    report = stage.count()
    longest, first = max(call.seconds for call in load.calls), min(call.at for call in load.calls)
    rate = len(load.calls) / (max(call.at for call in load.calls) - first)
    words = f"{dict(outcomes)} at {rate:.0f} a second, refusing {refusing:.1f} s, longest call {longest:.1f} s"
    sys.stderr.write(f"failover: {words}, {report.lines()}\n")
    assert set(outcomes) <= REFUSALS | {"ok"}
    assert refusing <= MAX_REFUSING_SECONDS
    assert outcomes.total() - outcomes["ok"] == refused.total() - refused["ok"]  # an empty queue refuses nothing
    assert ready == [True] * 4
    assert _find_lost_trips(stage, load.calls) == set()
    assert (report.unfinished, report.failed, report.too_early, report.lost) == (0, 0, 0, 0)
    assert report.checks == report.runs >= NUMBER
    assert report.deliveries >= NUMBER
    assert report.sent + report.uncertain == report.deliveries
    assert report.uncertain_shown == report.uncertain
    assert (report.mailed_twice, report.mailed_unknown, report.sent_unseen) == (0, 0, 0)
