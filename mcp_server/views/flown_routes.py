"""Sentences on whether an airline flies a route non-stop, because a chart has prices for any pair."""

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.wording import airline_name
from shared.domain.flown_routes import RouteFinding
from shared.services.search.price_memory import carriers_seen_nonstop

APART = "The chart's price stands under if_flown; a journey with a connection is priced otherwise."
_REASONS = {
    "away_from_home": "neither end is in its home country, and no flight of it between them is listed",
    "not_in_its_list": "the list of its flights does not have it",
}


def find_route(call: Call, airline: str, start: str, end: str) -> RouteFinding:
    """What route lists and fares of past searches say about a non-stop flight."""
    finding = call.reference.find_flight(airline, start, end)
    if finding.route != "known" and airline in carriers_seen_nonstop(call.db, call.account_id, [start], [end]):
        return call.reference.find_flight(airline, start, end, seen=True)
    return finding


def describe_route(call: Call, airline: str, start: str, end: str, finding: RouteFinding) -> str:
    """A sentence if the flight is not known, else empty."""
    name = airline_name(call.reference, airline)
    if finding.route == "known":
        return ""
    if finding.route == "unknown":
        return f"It is not known whether {name} flies from {start} to {end} without a stop."
    why = _REASONS[finding.reason]
    return f"No non-stop flight of {name} from {start} to {end} is known: {why}."
