"""What has to be reached, each goal in one line."""

from dataclasses import dataclass

from tests.bench.results import Result, ratio

BARE, ECHO = "bare SDK tool", "echo"  # limits to look at: both know no one and read nothing


def name_peer(ours: str) -> str:
    """The scenario that does the same on FastMCP."""
    return f"{ours}, FastMCP"


@dataclass(frozen=True)
class Goal:
    """The processor time of a request on FastMCP is at least so many times that of ours."""

    ours: str
    bound: float
    at: int = 16

    @property
    def theirs(self) -> str:
        return name_peer(self.ours)

    @property
    def words(self) -> str:
        return f"{self.ours} against FastMCP at {self.at}"

    def measured(self, result: Result) -> float | None:
        ours, theirs = (result.figures.get((name, self.at)) for name in (self.ours, self.theirs))
        return ratio(ours, theirs) if ours and theirs else None


OWN_ROWS = ("list_my_cards", "list_points_balances", "list_trips", "list_notifications", "get_profile")
WRITES = ("add_card", "update_points_balance")
FACTS = ("get_award_release_window", "get_pricing")
GOALS = (
    *(Goal(name, 2.5) for name in OWN_ROWS),
    *(Goal(name, 2.0) for name in WRITES),
    *(Goal(name, 3.0) for name in FACTS),
    Goal("tools/list", 20),
)
START, START_CPU = "start of the tool server, seconds", "start of the tool server, seconds of processor"
MEMORY, OWN_MEMORY = "memory of a worker, MB", "memory of a worker that no other process shares, MB"
WHOLE_MEMORY = "memory of a server of two workers, MB"
COSTS = {START_CPU: 3.0, MEMORY: 150.0}  # a busy machine starts late by the clock
