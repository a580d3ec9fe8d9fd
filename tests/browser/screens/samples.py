"""One call for each tool that has a screen, with what must stand in the database before it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.browser.screens.stage import Stage
from tests.browser.screens.stored_rows import days_ahead, hold_much, hold_points, record_prices, watch_route
from tests.support.sandbox_seats import set_seat
from tests.support.settings_and_clock import DAY


@dataclass(frozen=True)
class Sample:
    """`opens` is a selector to click and `opened` a condition that holds after it; `ages`: an old result says so."""

    name: str
    tool: str
    arguments: dict[str, Any]
    opens: str = ""
    opened: str = "true"
    ages: bool = True
    prepare: Callable[[Stage], None] = lambda _stage: None


def month_ahead(months: int) -> str:
    """YYYY-MM of the month this many after the present one."""
    number = DAY.year * 12 + DAY.month - 1 + months
    return f"{number // 12}-{number % 12 + 1:02}"


ROUTE = {"airline": "BA", "origin": "LHR", "destination": "JFK"}
PATHS = {"from_program": "chase-ultimate-rewards", "target_program": "finnair-plus"}
TARGET = {"target_program": "flying-blue", "points_needed": 120_000}
WINDOW = {"earliest_date": days_ahead(45).isoformat(), "latest_date": days_ahead(54).isoformat()}
TRIP = {"origin": "LHR", "destination": "JFK", **WINDOW, "nights": 7, "passengers": 2}
MONTH = {**ROUTE, "month": month_ahead(2), "passengers": 2}
SEARCH = {**ROUTE, "date": days_ahead(60).isoformat(), "passengers": 2}
EVERY = {name: SEARCH[name] for name in ("origin", "destination", "date", "passengers")}


def open_seats(_stage: Stage, cabin: str = "economy", days: int = 1) -> None:
    """Opens seats of one airline, because many days are drawn without any."""
    for day in range(days):
        set_seat("open:4", ROUTE["origin"], ROUTE["destination"], days_ahead(60 + day), cabin, ROUTE["airline"])


def search_first(stage: Stage, days: int = 1) -> None:
    """What list_flights lists has been seen in a search."""
    open_seats(stage, days=days)
    for day in range(days):
        stage.use("search_availability", **SEARCH | {"date": days_ahead(60 + day).isoformat()})


SAMPLES = [
    Sample(
        "month-of-seats",
        "search_monthly_availability",
        MONTH,
        opens=".day[data-state=available]",
        opened="document.querySelector('.offers li')",
    ),
    Sample("portfolio", "get_portfolio", {}, prepare=hold_much),
    Sample("deadlines", "list_upcoming_deadlines", {"within_days": 365}, ages=False, prepare=hold_much),
    Sample("trip-plan", "plan_trip", TRIP, prepare=hold_points),
    Sample("transfer-paths", "find_transfer_paths", PATHS, ages=False),
    Sample("transfer-options", "compare_transfer_options", TARGET, ages=False, prepare=hold_points),
    Sample("hotel-prices", "get_hotel_price_history", {"booking_id": 1}, prepare=record_prices),
    Sample("watch", "get_route_monitor", {"monitor_id": 1}, prepare=watch_route),
    Sample("award-results-day", "search_availability", SEARCH, prepare=open_seats),
    Sample("award-results", "search_all_airlines", EVERY),
    Sample("award-results-seen", "list_flights", {"origin": "LHR", "destination": "JFK"}, prepare=search_first),
]
