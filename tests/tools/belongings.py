"""What a person of the tests keeps: a row of each kind a tool parameter can name, all bearing one secret word."""

from typing import Any

from mcp_server.fields import ProgramSlug
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.cards import Card
from shared.db.messages import Notification
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import SearchRecord, Trip
from shared.db.watches import RouteMonitor

SECRET = "hers-alone"
POINTS = 987654321
PROGRAMS: tuple[str, ...] = ProgramSlug.__args__  # type: ignore[attr-defined]


def belongings(number: int = 0) -> dict[str, Any]:
    """Parameter name -> a new row such a parameter can name; another number makes another set."""
    day = clock.today()
    return {
        "trip_id": Trip(name=SECRET, destination=SECRET),
        "card_id": Card(slug=None, name=SECRET, custom=True, currency="USD", notes=SECRET),
        "monitor_id": RouteMonitor(
            origin="LHR", destination="JFK", earliest_date=day, latest_date=day, airlines=[SECRET]
        ),
        "notification_id": Notification(dedupe_key=f"one-{SECRET}{number}", kind="account", title=SECRET, body=SECRET),
        "notification_ids": Notification(dedupe_key=f"{SECRET}{number}", kind="account", title=SECRET, body=SECRET),
        "search_id": SearchRecord(tool="search_availability", arguments={"x": SECRET}, summary=SECRET, outcome="ok"),
        "loyalty_status": LoyaltyStatus(program=PROGRAMS[number], tier=SECRET, notes=SECRET),
        "program": PointsBalance(program=PROGRAMS[number], balance=POINTS, as_of=day, notes=SECRET),
    }
