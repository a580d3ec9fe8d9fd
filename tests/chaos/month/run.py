"""`python -m tests.chaos month`: a month of the service in about an hour, with everything that may befall it.

Two hundred people sign up and set up watches; prices and seats of the invented world change; programs, servers and
databases are killed, rolled, backed up, restored and taken over. At the end the rows, the mails and the answers are
compared with what was owed. Ctrl-C, or SIGTERM, ends it sooner: what was owed until then is judged, and everything is
ended; a second one ends it at once.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from shared import clock as product_clock
from tests.chaos.fault_injection import OPEN, read_number
from tests.chaos.month.fast_clock import FastClock
from tests.chaos.month.faults import CALM_FROM, SMALL_BLOWS, Fate
from tests.chaos.month.ledger import Findings, judge
from tests.chaos.month.memory import Growth, find_longest_lives
from tests.chaos.month.people import Crowd, Person, draw_people, find_lost_writes, store_accounts
from tests.chaos.month.stage import Stage, raise_stage

START = datetime(2027, 1, 4, 6, tzinfo=UTC)
QUIET_SECONDS = 120
SHOWN = 12  # faults of one kind that are spelled out


@dataclass(frozen=True)
class Plan:
    people: int
    days: float
    speed: float
    seed: int
    small_blows: int
    only: Sequence[str] = ()  # names of large faults; all where it is empty

    @property
    def seconds(self) -> float:
        return self.days * 86400 / self.speed


def read_plan(words: Sequence[str]) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos month", description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--days", type=float, default=30.0, help="of the fast clock")
    parser.add_argument("--speed", type=float, default=700.0, help="how many times as fast it runs")
    parser.add_argument("--minutes", type=float, help="by the machine's clock, in place of --days")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="one of the large faults alone")
    options = parser.parse_args(words)
    days = options.minutes * options.speed / 1440 if options.minutes else options.days
    blows = round(SMALL_BLOWS * min(1.0, days * 86400 / options.speed / 3600))
    return Plan(options.people, days, options.speed, options.seed, blows, options.only)


@dataclass
class Run:
    """One month, and how far it has come."""

    plan: Plan
    stage: Stage
    fate: Fate
    began: float = field(default_factory=time.monotonic)

    @property
    def part(self) -> float:
        return (time.monotonic() - self.began) / self.plan.seconds

    def live(self) -> None:
        faults = [
            fault for fault in self.fate.list_faults() if not self.plan.only or fault[1].__name__ in self.plan.only
        ]  # type: ignore[attr-defined]
        blows = [CALM_FROM * (n + 1) / (self.plan.small_blows + 1) for n in range(self.plan.small_blows)]
        told = 0
        while self.part < 1 or faults:  # on a slow machine faults take longer than their part of the month
            self.stage.tick()
            if faults and self.part >= faults[0][0]:
                self.fate.befall(faults.pop(0)[1])
            elif blows and self.part >= blows[0]:
                del blows[0]
                self.fate.strike_small()
            if int(self.part * 10) > told:
                told = int(self.part * 10)
                say(f"{self.part:.0%}, {self.stage.clock.now():%d %B %H:%M}, {len(self.stage.box.taken)} mails")

    def become_quiet(self, seconds: float) -> float:
        """No check falls due any longer, and what is open is worked on to its end, if that comes so soon."""
        since = time.monotonic()
        with self.stage.connect() as database:
            database.execute("update schedules set enabled = false")
            while read_number(database, OPEN) and time.monotonic() - since < seconds:
                self.stage.tick()
        return time.monotonic() - since


def say(words: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {words}\n")


@contextmanager
def _folder() -> Iterator[Path]:
    """In memory where there is room: what is measured is no disk."""
    roomy = os.access("/dev/shm", os.W_OK)
    with tempfile.TemporaryDirectory(prefix="award_month_", dir="/dev/shm" if roomy else None) as home:
        Path(home).chmod(0o755)
        yield Path(home)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(words: Sequence[str]) -> int:
    """0 where nothing was lost, doubled or missed and nothing grew; 1 otherwise; 130 where nothing could be judged."""
    plan = read_plan(words)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _folder() as folder:
            clock = FastClock.begin(START, plan.speed)
            product_clock.now = clock.now  # in this process too
            with raise_stage(folder, clock) as stage:
                dice = random.Random(plan.seed)
                people = draw_people(plan.people, START.date(), dice)
                store_accounts(stage.pair.url, people)
                stage.raise_programs()
                return _run(plan, stage, people, dice)
    except KeyboardInterrupt:
        say("everything is ended")
        return 130


def _run(plan: Plan, stage: Stage, people: list[Person], dice: random.Random) -> int:
    fate = Fate(stage, dice, say)
    run = Run(plan, stage, fate)
    is_whole = True
    with Crowd(people, stage.web_url, lambda: run.part, 86400 / plan.speed, plan.seed) as crowd:
        try:
            run.live()
        except KeyboardInterrupt:
            is_whole = False
            say("interrupted: what was owed until now is judged")
            stage.forgive()
    end = stage.clock.now()
    quiet_after = run.become_quiet(QUIET_SECONDS)
    stage.end_programs()
    with stage.connect() as database:
        findings = judge(database, [_read_id(id) for id in stage.box.ids], fate.outages, end)
        findings.faults["stored and gone"] += find_lost_writes(database, people)
    findings.faults["refused"] += crowd.refused
    lives = stage.diary.judge()
    findings.faults["growing"] += [str(life) for life in lives if not life.is_flat]
    lines = [
        f"{'whole' if is_whole else 'interrupted'} after {run.part * plan.days:.1f} of {plan.days:g} days,"
        f" {plan.people} people, {plan.speed:g} times as fast, seed {plan.seed}; quiet after {quiet_after:.1f} s"
    ]
    lines += describe(findings, fate, crowd, lives)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if findings.is_sound else 1


def _read_id(message_id: str) -> str:
    return message_id.removeprefix("<").partition("@")[0]


def describe(findings: Findings, fate: Fate, crowd: Crowd, lives: Sequence[Growth]) -> Iterator[str]:
    """The figures, then what is wrong."""
    yield "befell: " + _list_counts(fate.blows)
    yield "calls of people: " + _list_counts(crowd.outcomes)
    yield "counted: " + _list_counts(findings.counts)
    if late := sorted(findings.lateness):
        minutes = [late[min(len(late) - 1, int(len(late) * share))].total_seconds() / 60 for share in (0.5, 0.99, 1)]
        yield "from due to done, minutes of the fast clock: half {:.0f}, 99 of 100 {:.0f}, all {:.0f}".format(*minutes)
    yield from (f"memory of the longest life: {life}" for life in find_longest_lives(lives))
    for name, faults in sorted(findings.faults.items()):
        yield f"{name}: {len(faults)}"
        yield from (f"  {fault}" for fault in faults[:SHOWN])


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
