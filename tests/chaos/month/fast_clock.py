"""One clock for all programs of a run and for its database: it starts at a moment and runs so many times as fast.

`shared.clock` is the product's only source of the present moment, and `now()` that of its statements. Both are replaced
from outside, so that the product has no switch for it. What a program measures in seconds of the machine, time-outs and
pauses, stays as it is: settings that compare it with the clock are multiplied by the speed.
"""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

VARIABLE, TOKENS = "FAST_CLOCK", "FAST_CLOCK_RUN_TOKENS"
_SQL = "pg_catalog.to_timestamp({start} + (extract(epoch from pg_catalog.{{name}}()) - {began}) * {speed})"


@dataclass(frozen=True)
class FastClock:
    """`began` by the machine's clock and `start` by this one are the same moment, in seconds since 1970."""

    began: float
    start: float
    speed: float

    @classmethod
    def begin(cls, start: datetime, speed: float) -> "FastClock":
        return cls(time.time(), start.timestamp(), speed)

    @classmethod
    def parse(cls, text: str) -> "FastClock":
        return cls(*map(float, text.split()))

    def __str__(self) -> str:
        return f"{self.began!r} {self.start!r} {self.speed!r}"

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.start + (time.time() - self.began) * self.speed, UTC)

    def count_seconds(self, by_the_clock: timedelta) -> float:
        """How long that is by the machine's clock."""
        return by_the_clock.total_seconds() / self.speed

    @property
    def sql(self) -> str:
        """The same moment in the database; `name` is that of PostgreSQL's function."""
        return _SQL.format(start=repr(self.start), began=repr(self.began), speed=repr(self.speed))

    @property
    def environment(self) -> dict[str, str]:
        """Of programs that obey it."""
        here = Path(__file__).parent
        return {VARIABLE: str(self), "PYTHONPATH": f"{here / 'every_program'}{os.pathsep}{here.parents[2]}"}


def obey() -> None:
    """A program takes the clock of the environment. Where that says so, the tokens that the runs of standing orders
    get live as long by the machine's clock as they do by a usual one.
    """
    from shared import clock

    fast = FastClock.parse(os.environ[VARIABLE])
    clock.now = fast.now
    if os.environ.get(TOKENS):
        from auth_server.oauth import internal_api

        internal_api.RUN_LIFE *= fast.speed
