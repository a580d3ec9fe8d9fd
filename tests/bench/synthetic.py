"""A tool as most of ours are: five parameters with patterns, an enum and a range, and a description."""

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AirportCapitals, Cabin, Day, Passengers
from mcp_server.toolkit.results import Result


def look_somewhere(
    call: Call,
    origin: AirportCapitals,
    destination: AirportCapitals,
    date: Day,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
) -> Result:
    """Look for award seats from one airport to another on one day, cheapest first, with the age of every row.

    Cached rows are marked. Ask for another cabin with cabin. Free.
    """
    return Result(message="Looked.")
