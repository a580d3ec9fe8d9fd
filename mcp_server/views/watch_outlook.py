"""The outlook of a new watch of award seats: where the airline flies, and when its days go on sale."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import product

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import airline_name
from mcp_server.views.flown_routes import find_route
from shared.domain.dates import format_weekday
from shared.domain.plurals import pluralize
from shared.reference.city_airports import list_airports, list_neighbours
from shared.reference.rows.award_charts import ReleaseWindow

USUAL_DAYS = 360  # ahead, without a known release window: the longest are 355 to 362 days
MAX_AIRLINES = 3  # whose routes are named


class Release(Verified):
    """When the airline opens the days of the window."""

    airline: str
    days_ahead: int


def describe_routes(call: Call, airlines: Sequence[str], origin: str, destination: str) -> str:
    """Sentences on named airlines not known to fly the route non-stop."""
    sentences = (_describe_airline_route(call, airline, origin, destination) for airline in airlines[:MAX_AIRLINES])
    return "".join(f" {sentence}" for sentence in sentences if sentence)


def _describe_airline_route(call: Call, airline: str, origin: str, destination: str) -> str:
    starts, ends = (list_airports(call.reference, code) for code in (origin, destination))
    findings = {pair: find_route(call, airline, *pair).route for pair in product(starts, ends)}
    if "known" in findings.values():
        return ""
    name = airline_name(call.reference, airline)
    near = [[*airports, *_list_neighbours(call, airports)] for airports in (starts, ends)]
    others = [pair for pair in product(near[0], near[1]) if pair not in findings and _is_flown(call, airline, pair)]
    if others:
        flown = " and ".join(f"{start} to {end}" for start, end in others[:MAX_AIRLINES])
        return (
            f"{name} is known to fly {flown} only, and you watch {origin} to {destination}:"
            " watch that route too, or instead."
        )
    if set(findings.values()) == {"none_known"}:
        return f"No non-stop flight of {name} from {origin} to {destination} is known; seats can have connections."
    return ""


def _list_neighbours(call: Call, airports: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(n for airport in airports for n in list_neighbours(call.reference, airport)))


def _is_flown(call: Call, airline: str, pair: tuple[str, str]) -> bool:
    return call.reference.find_flight(airline, *pair).route == "known"


def find_release(call: Call, airlines: Sequence[str]) -> ReleaseWindow | None:
    """The first of the named airlines to open its days, if all their windows are known."""
    windows = [call.reference.release_window(airline) for airline in airlines]
    releases = [window for window in windows if window]
    return max(releases, key=lambda w: w.days_before_departure) if releases and len(releases) == len(windows) else None


def to_release(call: Call, window: ReleaseWindow | None, last: date) -> Release | None:
    """The release; None if it is unknown, or the airline has already opened all days up to `last`."""
    if window is None or last <= call.today + timedelta(days=window.days_before_departure):
        return None
    return Release(airline=window.airline[0], days_ahead=window.days_before_departure, **describe_verified(window))


def find_opening(call: Call, window: ReleaseWindow | None, first: date) -> date | None:
    """The day on which the first day of travel goes on sale; None when it is on sale already."""
    opens_on = first - timedelta(days=window.days_before_departure if window else USUAL_DAYS)
    return opens_on if opens_on > call.today else None


def describe_opening(call: Call, window: ReleaseWindow | None, first: date, last: date) -> str:
    """A sentence if the days of travel, or the last of them, are not on sale yet; else empty."""
    days = window.days_before_departure if window else USUAL_DAYS
    on_sale_until = call.today + timedelta(days=days)
    if last <= on_sale_until:
        return ""
    rule = (
        f"{airline_name(call.reference, window.airline[0])} opens award seats {pluralize(days, 'day')} ahead"
        if window
        else f"Airlines open award seats about {pluralize(USUAL_DAYS, 'day')} ahead"
    )
    opens_on = find_opening(call, window, first)
    if opens_on:
        return f" {rule}, so {format_weekday(first)} opens on {format_weekday(opens_on)}. Nothing can be found before."
    last_opens_on = last - timedelta(days=days)
    return (
        f" {rule}: today until {format_weekday(on_sale_until)}."
        f" The end of the window, {format_weekday(last)}, opens on {format_weekday(last_opens_on)}."
    )
