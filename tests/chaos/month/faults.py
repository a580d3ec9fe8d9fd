"""What befalls the month: large faults and an operator's work at set parts of it, and small blows in between."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import psycopg
import redis

from tests.chaos.fault_injection import list_blows
from tests.chaos.month.oracle import Outage
from tests.chaos.month.stage import LEASE_SECONDS, WAKE_SECONDS, Stage, raise_database, strike

RECOVERY_SECONDS = LEASE_SECONDS + 2 * WAKE_SECONDS  # until what a program held is taken up by another
SMALL_BLOWS = 60  # in a whole month
CALM_FROM = 0.94  # of it


@dataclass
class Fate:
    """Runs the faults in their turn. An outage is told with the time the service may take to be as before."""

    stage: Stage
    dice: random.Random
    say: Callable[[str], None]
    outages: list[Outage] = field(default_factory=list)
    blows: Counter[str] = field(default_factory=Counter)

    def hours(self, number: float) -> float:
        return self.stage.clock.count_seconds(timedelta(hours=number))

    def list_faults(self) -> list[tuple[float, Callable[[], None]]]:
        """By the part of the month that is over when each begins."""
        return [
            (0.06, self.crash_database),
            (0.12, self.silence_provider),
            (0.20, self.kill_servers),
            (0.27, self.rehearse_restore),
            (0.35, self.move_to_restored_database),
            (0.50, self.refuse_mail),
            (0.57, self.kill_queue),
            (0.64, self.roll_servers),
            (0.74, self.fail_over),
            (0.85, self.cut_mail),
        ]

    def befall(self, fault: Callable[[], None]) -> None:
        name, began, since = fault.__name__, self.stage.clock.now(), time.monotonic()  # type: ignore[attr-defined]
        self.say(f"{name} ...")
        fault()
        self.stage.check_clock()
        self.say(f"{name}: {time.monotonic() - since:.1f} s")
        self.note_outage(name, began)

    def note_outage(self, name: str, began: datetime) -> None:
        recovery = timedelta(seconds=RECOVERY_SECONDS * self.stage.clock.speed)
        self.outages.append(Outage(name, began, self.stage.clock.now() + recovery))
        self.blows[name] += 1

    def crash_database(self) -> None:
        """The primary is killed with all its sessions, and recovers from its log."""
        primary = self.stage.pair.primary
        assert primary.process
        strike(primary.process)
        self.stage.pass_time(1.0)
        primary.start()

    def silence_provider(self) -> None:
        """For two hours, which is within what retries of a check last."""
        stage = self.stage
        stage.fleet.end()
        stage.environment["SANDBOX_FAULT"] = "down"
        stage.pass_time(self.hours(2))
        stage.fleet.end()
        del stage.environment["SANDBOX_FAULT"]

    def kill_servers(self) -> None:
        for program in list(self.stage.servers.values()):
            strike(program.process)
        self.stage.tick()
        self._await_servers()

    def _await_servers(self) -> None:
        for program in self.stage.servers.values():
            self.stage.wait_until(program.log.stem, program.is_ready, 120)

    def rehearse_restore(self) -> None:
        """A backup of the service that runs, restored next to it, compared and dropped."""
        file = self.stage.folder / "rehearsed.backup"
        self.stage.run("backup", str(file))
        self.stage.run("restore", str(file), "--rehearse")

    def move_to_restored_database(self) -> None:
        """All programs end; a backup goes to servers that are new, and the programs begin again with those."""
        stage, file = self.stage, self.stage.folder / "moved.backup"
        stage.end_programs()
        stage.run("backup", str(file))
        new = raise_database(stage.folder / "two", stage.clock)
        stage.run("restore", str(file), DATABASE_URL=new.url)
        stage.take_database(new)
        stage.raise_programs()

    def refuse_mail(self) -> None:
        self.stage.box.replies["rcpt"] = "451 4.3.0 later"
        self.stage.pass_time(self.hours(2))
        del self.stage.box.replies["rcpt"]

    def cut_mail(self) -> None:
        """The server takes a mail and is cut off before it says so: whether it came is not known, and is told."""
        self.stage.box.cut = "data"
        self.stage.pass_time(self.hours(3))
        self.stage.box.cut = None

    def kill_queue(self) -> None:
        """It comes back with what it had written down."""
        valkey = self.stage.valkey
        assert valkey.process
        strike(valkey.process)
        self.stage.pass_time(1.5)
        valkey.start()

    def roll_servers(self) -> None:
        for program in self.stage.servers.values():
            self.stage.run("roll", str(program.process.pid), "--wait")

    def fail_over(self) -> None:
        """The primary is lost, the standby promoted, and the old one becomes its standby."""
        self.stage.pair.fail_over()
        self.stage.pass_time(2.0)
        self.stage.pair.bring_back()

    def strike_small(self) -> None:
        """One of many small blows, chosen by the dice; the programs named in SPARED are never struck."""
        with redis.Redis.from_url(self.stage.valkey.url) as queue:
            blows = list_blows(self.stage.fleet, self.dice, partial(self._flush, queue))
            blows |= {"connections": self._end_connections, "server_worker": self._kill_server_worker}
            name = self.dice.choice(sorted(blows))
            self.blows[name] += blows[name]()

    @staticmethod
    def _flush(queue: "redis.Redis") -> None:
        with suppress(redis.RedisError):
            queue.flushdb()

    def _end_connections(self) -> bool:
        with suppress(psycopg.Error), self.stage.connect() as database:
            database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'award'"
                " and application_name = 'award-travel' order by random() limit 2"
            )
        return True

    def _kill_server_worker(self) -> bool:
        """Of the web host, so that the memory of the tool server is seen over a long time."""
        workers = self.stage.servers["auth_server"].workers()
        if workers:
            with suppress(ProcessLookupError):
                os.kill(self.dice.choice(sorted(workers)), signal.SIGKILL)
        return bool(workers)
