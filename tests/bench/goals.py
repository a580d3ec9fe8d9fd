"""What has to be reached, each goal in one line."""

from dataclasses import dataclass

from tests.bench.results import Result, ratio, spread

BARE, NAIVE, ECHO = "bare SDK tool", "naive tools/list", "echo"


@dataclass(frozen=True)
class Goal:
    """At least so much of `theirs`: by processor time of a request, or by requests a second."""

    ours: str
    bound: float
    theirs: str = BARE
    by: str = "cpu_us"
    at: int = 16

    @property
    def words(self) -> str:
        unit = "CPU" if self.by == "cpu_us" else "req/s"
        return f"{self.ours} against the {self.theirs} at {self.at} ({unit})"

    def measured(self, result: Result) -> float | None:
        ours, theirs = (result.figures.get((name, self.at)) for name in (self.ours, self.theirs))
        return ratio(ours, theirs, self.by) if ours and theirs else None


@dataclass(frozen=True)
class Spread:
    """p99 of a scenario at most so many times its p50."""

    ours: str
    bound: float
    at: int = 64

    @property
    def words(self) -> str:
        return f"{self.ours}: p99 to p50 at {self.at}"

    def measured(self, result: Result) -> float | None:
        ours = result.figures.get((self.ours, self.at))
        return spread(ours) if ours else None


READS = ("list_my_cards", "list_points_balances", "list_trips", "list_notifications", "get_profile", "get_usage")
WIDE_READS = ("get_portfolio", "list_flight_bookings", "list_upcoming_deadlines")  # several tables each
WRITES = ("add_card", "update_points_balance")
FACTS = (
    "get_pricing",
    "list_transfer_partners",
    "get_program_rates",
    "find_transfer_paths",
    "affordable_destinations",
)
GOALS = (
    Goal("get_award_release_window", 2.0),
    *(Goal(name, 0.7) for name in READS),
    *(Goal(name, 0.25) for name in WIDE_READS),
    *(Goal(name, 0.45) for name in WRITES),
    *(Goal(name, 1.0) for name in FACTS),
    Goal("tools/list", 10, NAIVE),
    Goal("introspection", 0.18, ECHO, "per_second"),
    Goal("refresh", 0.04, ECHO, "per_second"),
)
SPREADS = (Spread("get_award_release_window", 5), Spread("list_my_cards", 5))
START, START_CPU = "start of the tool server, seconds", "start of the tool server, seconds of processor"
MEMORY, OWN_MEMORY = "memory of a worker, MB", "memory of a worker that no other process shares, MB"
WHOLE_MEMORY = "memory of a server of two workers, MB"
BEARER = "bearer check answered from memory, us"
COSTS = {START_CPU: 3.0, MEMORY: 150.0, BEARER: 10.0}  # a busy machine starts late by the clock
