"""A route as people give it: two airports and a window of days go in; Invalid names each that cannot be watched."""

from collections.abc import Mapping
from datetime import date

from mcp_server.toolkit.context import CallBase
from shared.errors import Fault, Invalid


def _fault(call: CallBase, name: str, code: str) -> Fault:
    members = [member for member in call.reference.metros.get(code, ()) if member in call.reference.airports]
    if members:
        return Fault(name, "is a city with several airports", f"one of them: {', '.join(members)}")
    return Fault(name, "is not an airport this service knows", "an airport's code, such as LHR")


def airport_faults(call: CallBase, airports: Mapping[str, str]) -> list[Fault]:
    """One for each parameter that does not name an airport."""
    return [_fault(call, name, code) for name, code in airports.items() if code not in call.reference.airports]


def check_route(call: CallBase, airports: Mapping[str, str], window: Mapping[str, date]) -> None:
    """Both by parameter name: origin before destination, first day before last. Raises Invalid."""
    faults = airport_faults(call, airports)
    (origin, destination), (first, last) = airports, window
    if airports[origin] == airports[destination]:
        faults.append(Fault(destination, f"is the {origin} too", "another airport"))
    if window[last] < window[first]:
        faults.append(Fault(last, f"is before {first}", f"{window[first]} or later"))
    elif window[last] < call.today:
        faults.append(Fault(last, "is in the past", f"{call.today} or later"))
    if faults:
        raise Invalid(*faults)
