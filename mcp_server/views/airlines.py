"""An airline by name, and the kinds of search that exist for it, each named after its tool."""

from typing import Literal

from mcp_server.toolkit import TOOLS, Part
from shared.reference.airlines import Airline

Endpoint = Literal["availability", "monthly", "all_airlines", "flight_alert", "pricing"]
_TOOL_OF: dict[Endpoint, str] = {
    "availability": "search_availability",
    "monthly": "search_monthly_availability",
    "all_airlines": "search_all_airlines",
    "flight_alert": "create_flight_alert",
    "pricing": "get_pricing",
}


class AirlineName(Part):
    code: str
    name: str


def list_endpoints(airline: Airline) -> list[Endpoint]:
    """An endpoint is listed once its tool exists."""
    return [e for e, tool in _TOOL_OF.items() if tool in TOOLS and (e != "flight_alert" or airline.in_alert_list)]
